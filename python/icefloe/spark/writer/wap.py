"""Write, audit, publish: snapshots that a session stages for an audit instead of committing them to a branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.properties.definitions import WAP_ENABLED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table import Table

ID, BRANCH = "spark.wap.id", "spark.wap.branch"
ID_SUMMARY_KEY = "wap.id"


@dataclass(frozen=True, kw_only=True)
class SnapshotDestination:
    """The destination of a snapshot.

    Args:
        branch: Branch to commit to; None stages the snapshot.
        snapshot_properties: Additional keys of the snapshot's summary.
    """

    branch: str | None
    snapshot_properties: dict[str, str]


def snapshot_destination(
    spark: Any, table: Table, branch: str | None, snapshot_properties: Mapping[str, str]
) -> SnapshotDestination:
    """Return where a session commits its next snapshot of a table.

    The snapshot is staged where the table has ``write.wap.enabled=true`` and the session has ``spark.wap.id``.

    Args:
        spark: Session; None for a process without one.
        table: The table.
        branch: Branch that the caller gave; None for main.
        snapshot_properties: Additional keys of the snapshot's summary.

    Raises:
        ValidationError: The session has both settings, or it has an id and the caller gave a branch.
        FeatureUnsupportedError: The session has a branch for all reads and writes.
    """
    properties = dict(snapshot_properties)
    wap_id = None if spark is None else _wap_id(spark, table, branch)
    if wap_id is not None:
        return SnapshotDestination(branch=None, snapshot_properties={**properties, ID_SUMMARY_KEY: wap_id})
    return SnapshotDestination(branch=MAIN if branch is None else branch, snapshot_properties=properties)


def _wap_id(spark: Any, table: Table, branch: str | None) -> str | None:
    if not WAP_ENABLED.of(table.properties):
        return None
    wap_id: str | None = spark.conf.get(ID, None)
    wap_branch = spark.conf.get(BRANCH, None)
    if wap_id is not None and wap_branch is not None:
        raise ValidationError(
            f"session: both {ID} and {BRANCH} are set; expected at most one, got {ID}={wap_id!r} and {BRANCH}={wap_branch!r}: "
            "unset one of them"
        )
    if wap_branch is not None:
        raise FeatureUnsupportedError(
            f"session: {BRANCH} is not supported; expected branch={wap_branch!r} at each read and write, got "
            f"{BRANCH}={wap_branch!r}: unset {BRANCH}"
        )
    if wap_id is not None and branch is not None:
        raise ValidationError(
            f"session: a staged snapshot belongs to no branch; expected {ID} or a branch, got {ID}={wap_id!r} and "
            f"branch={branch!r}: unset {ID}"
        )
    return wap_id
