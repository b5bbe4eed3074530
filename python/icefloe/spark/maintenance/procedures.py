"""The maintenance procedures of the Java runtime: the same names, parameters and columns, over the plans of `Table.maintenance`."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.groups.options import RewriteOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from icefloe.table import Table

STRATEGIES = ("binpack", "sort")
_DEFAULTS = {field.name: field.default for field in fields(RewriteOptions) if field.default is not MISSING}
_RATIO = "delete_ratio_threshold"
_TEXT = "rewrite_job_order"


@dataclass(frozen=True, kw_only=True)
class TableProcedure:
    """A procedure that maintains one table.

    Attributes:
        parameters: Spark type of each parameter after the table, in order.
        returns: DDL of the row that the procedure returns.
        run: Makes the change and returns the row.
    """

    parameters: dict[str, str]
    returns: str
    run: Callable[[Table, Mapping[str, Any]], tuple[Any, ...]]

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the procedure returns."""
        return [column.split()[0] for column in self.returns.split(",")]


def rewrite_options(procedure: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Return options of the Java runtime, such as `partial-progress.enabled`, by the names and types of `RewriteOptions`.

    Raises:
        ValidationError: An option does not exist, or its text is not of its type.
    """
    found: dict[str, Any] = {}
    for key, text in options.items():
        name = key.lower().replace("-", "_").replace(".", "_")
        default = _DEFAULTS.get(name, MISSING)
        if default is MISSING:
            known = ", ".join(sorted(known.replace("_", "-") for known in _DEFAULTS))
            raise ValidationError(f"{procedure}: no option {key!r}; expected {known}")
        found[name] = _value(procedure, key, name, text)
    return found


def _value(procedure: str, key: str, name: str, text: str) -> Any:
    if name == _TEXT:
        return text
    if isinstance(_DEFAULTS[name], bool) or name == "partial_progress_enabled":
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise ValidationError(f"{procedure}: {key}: expected true or false, got {text!r}")
    try:
        return float(text) if name == _RATIO else int(text)
    except ValueError:
        raise ValidationError(f"{procedure}: {key}: expected a number, got {text!r}") from None


def _rewrite_data_files(table: Table, given: Mapping[str, Any]) -> tuple[Any, ...]:
    builder = table.maintenance.rewrite_data_files()
    strategy = given.get("strategy", "sort" if "sort_order" in given else "binpack").lower()
    if strategy not in STRATEGIES:
        raise ValidationError(f"rewrite_data_files: strategy: expected binpack or sort, got {strategy!r}")
    if strategy == "binpack" and "sort_order" in given:
        raise ValidationError("rewrite_data_files: sort_order: expected strategy sort, got binpack")
    if strategy == "sort":
        builder = builder.sort(given.get("sort_order"))
    if "where" in given:
        builder = builder.filter(given["where"])
    builder = builder.branch(given.get("branch", "main"))
    result = builder.options(**rewrite_options("rewrite_data_files", given.get("options", {}))).execute()
    return (
        result.rewritten_data_files_count,
        result.added_data_files_count,
        result.rewritten_bytes_count,
        result.failed_data_files_count,
        result.removed_delete_files_count,
    )


def _rewrite_manifests(table: Table, given: Mapping[str, Any]) -> tuple[Any, ...]:
    builder = table.maintenance.rewrite_manifests()
    # The reference rewrites the manifests of the table's current spec unless another one is named.
    builder = builder.spec_id(given.get("spec_id", table.metadata.default_spec_id))
    if "sort_by" in given:
        builder = builder.sort_by(*given["sort_by"])
    result = builder.execute()
    return (result.rewritten_manifests_count, result.added_manifests_count)


def _rewrite_position_deletes(table: Table, given: Mapping[str, Any]) -> tuple[Any, ...]:
    options = rewrite_options("rewrite_position_delete_files", given.get("options", {}))
    result = table.maintenance.rewrite_position_deletes().options(**options).execute()
    return (
        result.rewritten_delete_files_count,
        result.added_delete_files_count,
        result.rewritten_bytes_count,
        result.added_bytes_count,
    )


TABLE_PROCEDURES = {
    "rewrite_data_files": TableProcedure(
        parameters={
            "strategy": "string",
            "sort_order": "string",
            "options": "map<string,string>",
            "where": "string",
            "branch": "string",
        },
        returns="rewritten_data_files_count int, added_data_files_count int, rewritten_bytes_count bigint, "
        "failed_data_files_count int, removed_delete_files_count int",
        run=_rewrite_data_files,
    ),
    "rewrite_manifests": TableProcedure(
        parameters={"use_caching": "boolean", "spec_id": "int", "sort_by": "array<string>"},
        returns="rewritten_manifests_count int, added_manifests_count int",
        run=_rewrite_manifests,
    ),
    "rewrite_position_delete_files": TableProcedure(
        parameters={"options": "map<string,string>"},
        returns="rewritten_delete_files_count int, added_delete_files_count int, rewritten_bytes_count bigint, "
        "added_bytes_count bigint",
        run=_rewrite_position_deletes,
    ),
}
"""Maintenance procedures by name."""
