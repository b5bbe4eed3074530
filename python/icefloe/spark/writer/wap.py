"""Changes that a session asks to stage, for an audit before they are published: write, audit, publish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError

if TYPE_CHECKING:
    from icefloe.table import Table

ENABLED = "write.wap.enabled"
ID, BRANCH = "spark.wap.id", "spark.wap.branch"


def staged_as(spark: Any, table: Table, branch: str | None) -> str | None:
    """Return the id under which a change is staged; None where it is committed to its branch.

    Tables say by `write.wap.enabled` whether they take part, sessions by `spark.wap.id` that they want to.

    Args:
        spark: Session.
        table: The table that is changed.
        branch: Branch that the caller names.

    Raises:
        ValidationError: The session has an id and the caller a branch, or the session both settings.
        FeatureUnsupportedError: The session has a branch for all reads and writes.
    """
    if table.properties.get(ENABLED, "false").lower() != "true":
        return None
    found: str | None = spark.conf.get(ID, None)
    whole_branch = spark.conf.get(BRANCH, None)
    if found is not None and whole_branch is not None:
        raise ValidationError(f"{ID} is {found!r} and {BRANCH} is {whole_branch!r}: unset one of them")
    if whole_branch is not None:
        raise FeatureUnsupportedError(
            f"{BRANCH}={whole_branch}: name the branch where you read and write, branch={whole_branch!r}, and unset {BRANCH}"
        )
    if found is not None and branch is not None:
        raise ValidationError(f"{ID} is {found!r}: what is staged goes to no branch, not to {branch!r}; unset it")
    return found


def staging_arguments(spark: Any, table: Table, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return branch and summary properties of a change, with those of a staged one where the session asks for it."""
    staged = staged_as(spark, table, arguments.get("branch"))
    if staged is None:
        return arguments
    properties = {**arguments.get("snapshot_properties", {}), "wap.id": staged}
    return {**arguments, "branch": None, "snapshot_properties": properties}
