"""Procedures on snapshots and files of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.maintenance.procedures import TABLE_PROCEDURES, TableProcedure
from icefloe.spark.reader.changes import changes
from icefloe.spark.statements.parquet_paths import parquet_paths
from icefloe.spark.statements.table_functions import ancestor_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.query import Statement
    from icefloe.table import Table

    Arguments = dict[str, Any]
    Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """One procedure.

    Args:
        parameters: Spark type of each parameter, in order.
        required: Names of the parameters without a default.
        returns: DDL of the rows that the procedure returns.
        run: Makes the change and returns the rows.
    """

    parameters: dict[str, str]
    required: tuple[str, ...]
    returns: str
    run: Callable[[Statement, AttachedCatalog, dict[str, Any]], list[tuple[Any, ...]]]


def _table(lake: AttachedCatalog, arguments: Arguments) -> Table:
    parts = tuple(_parts(arguments["table"]))
    if len(parts) > 2 and parts[0].lower() == lake.name:
        parts = parts[1:]
    return lake.catalog.load_table(parts)


def _parts(name: str) -> tuple[str, ...]:
    from icefloe.spark.lexer import Cursor

    cursor = Cursor(name)
    parts = cursor.names()
    cursor.finish()
    return parts


def _current(table: Table) -> int | None:
    snapshot = table.current_snapshot()
    return None if snapshot is None else snapshot.snapshot_id


def _moved(change: Callable[[Any, Arguments], Any]) -> Callable[[Statement, AttachedCatalog, Arguments], Rows]:
    """Return the procedure that moves the current snapshot and returns the old and the new one."""

    def run(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
        table = _table(lake, arguments)
        before = _current(table)
        change(table.manage_snapshots(), arguments).commit()
        return [(before, _current(table))]

    return run


def _set_current(manage: Any, arguments: Arguments) -> Any:
    given = [key for key in ("snapshot_id", "ref") if key in arguments]
    if len(given) != 1:
        raise ValidationError(
            f"CALL set_current_snapshot: expected snapshot_id or ref, got {' and '.join(given) or 'neither'}"
        )
    return manage.set_current_snapshot(arguments.get("snapshot_id"), arguments.get("ref"))


def _cherry_pick(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
    table = _table(lake, arguments)
    table.manage_snapshots().cherry_pick(arguments["snapshot_id"]).commit()
    return [(arguments["snapshot_id"], _current(table))]


def _publish(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
    table = _table(lake, arguments)
    staged = [
        one.snapshot_id
        for one in table.snapshots()
        if one.summary is not None and one.summary.get("wap.id") == arguments["wap_id"]
    ]
    table.manage_snapshots().publish_changes(arguments["wap_id"]).commit()
    return [(staged[0] if staged else None, _current(table))]


def _fast_forward(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
    table, branch = _table(lake, arguments), arguments["branch"]
    before = table.refs().get(branch)
    table.manage_snapshots().fast_forward(branch, arguments["to"]).commit()
    return [(branch, None if before is None else before.snapshot_id, table.refs()[branch].snapshot_id)]


def _ancestors(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
    return list(ancestor_rows(_table(lake, arguments), arguments.get("snapshot_id")))


def _register(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
    parts = _parts(arguments["table"])
    if len(parts) > 2 and parts[0].lower() == lake.name:
        parts = parts[1:]
    table = lake.catalog.register_table(parts, arguments["metadata_file"])
    lake.refresh()
    snapshot = table.current_snapshot()
    summary = None if snapshot is None else snapshot.summary
    totals = [None if summary is None else summary.get(key) for key in ("total-records", "total-data-files")]
    return [(_current(table), *[None if total is None else int(total) for total in totals])]


def _maintained(procedure: TableProcedure) -> Procedure:
    """Return a maintenance procedure with its table as the first parameter."""

    def run(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
        given = {key: value for key, value in arguments.items() if key != "table"}
        return [procedure.run(_table(lake, arguments), given)]

    parameters = {"table": "string", **procedure.parameters}
    return Procedure(parameters=parameters, required=("table",), returns=procedure.returns, run=run)


def _add_files(_: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
    table = _table(lake, arguments)
    paths = parquet_paths(table.io, arguments["source_table"], arguments.get("partition_filter", {}))
    if not paths:
        return [(0, None)]
    table.add_files(paths, check_duplicate_files=arguments.get("check_duplicate_files", True))
    snapshot = table.current_snapshot()
    partitions = (
        None if snapshot is None or snapshot.summary is None else snapshot.summary.get("changed-partition-count")
    )
    return [(len(paths), None if partitions is None else int(partitions))]


def _changelog_view(statement: Statement, lake: AttachedCatalog, arguments: Arguments) -> Rows:
    table = _table(lake, arguments)
    options = {key.lower(): value for key, value in arguments.get("options", {}).items()}
    known = ("start-snapshot-id", "end-snapshot-id", "start-timestamp", "end-timestamp")
    unknown = [key for key in options if key not in known]
    if unknown:
        raise ValidationError(
            f"CALL create_changelog_view: expected the options {', '.join(known)}, got {unknown[0]!r}"
        )
    identifiers = arguments.get("identifier_columns")
    updates = arguments.get("compute_updates", identifiers is not None)
    snapshots: dict[str, Any] = {key.replace("-", "_"): int(value) for key, value in options.items()}
    frame = changes(
        table,
        spark=statement.spark,
        compute_updates=updates,
        identifier_columns=None if identifiers is None or not updates else tuple(identifiers),
        net_changes=arguments.get("net_changes", False),
        **snapshots,
    )
    name = arguments.get("changelog_view", f"{table.name()[-1]}_changes")
    frame.createOrReplaceTempView(f"`{name}`")
    return [(name,)]


_SNAPSHOTS = "previous_snapshot_id bigint, current_snapshot_id bigint"
_SOURCE = "source_snapshot_id bigint, current_snapshot_id bigint"

PROCEDURES = {
    "add_files": Procedure(
        parameters={
            "table": "string",
            "source_table": "string",
            "partition_filter": "map<string,string>",
            "check_duplicate_files": "boolean",
            "parallelism": "int",
        },
        required=("table", "source_table"),
        returns="added_files_count bigint, changed_partition_count bigint",
        run=_add_files,
    ),
    "ancestors_of": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint"},
        required=("table",),
        returns="snapshot_id bigint, timestamp bigint",
        run=_ancestors,
    ),
    "cherrypick_snapshot": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint"},
        required=("table", "snapshot_id"),
        returns=_SOURCE,
        run=_cherry_pick,
    ),
    "create_changelog_view": Procedure(
        parameters={
            "table": "string",
            "changelog_view": "string",
            "options": "map<string,string>",
            "compute_updates": "boolean",
            "identifier_columns": "array<string>",
            "net_changes": "boolean",
        },
        required=("table",),
        returns="changelog_view string",
        run=_changelog_view,
    ),
    "fast_forward": Procedure(
        parameters={"table": "string", "branch": "string", "to": "string"},
        required=("table", "branch", "to"),
        returns="branch_updated string, previous_ref bigint, updated_ref bigint",
        run=_fast_forward,
    ),
    "publish_changes": Procedure(
        parameters={"table": "string", "wap_id": "string"},
        required=("table", "wap_id"),
        returns=_SOURCE,
        run=_publish,
    ),
    "register_table": Procedure(
        parameters={"table": "string", "metadata_file": "string"},
        required=("table", "metadata_file"),
        returns="current_snapshot_id bigint, total_records_count bigint, total_data_files_count bigint",
        run=_register,
    ),
    "rollback_to_snapshot": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint"},
        required=("table", "snapshot_id"),
        returns=_SNAPSHOTS,
        run=_moved(lambda manage, given: manage.rollback_to_snapshot(given["snapshot_id"])),
    ),
    "rollback_to_timestamp": Procedure(
        parameters={"table": "string", "timestamp": "timestamp"},
        required=("table", "timestamp"),
        returns=_SNAPSHOTS,
        run=_moved(lambda manage, given: manage.rollback_to_timestamp(int(given["timestamp"].timestamp() * 1000))),
    ),
    "set_current_snapshot": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint", "ref": "string"},
        required=("table",),
        returns=_SNAPSHOTS,
        run=_moved(_set_current),
    ),
    **{name: _maintained(procedure) for name, procedure in TABLE_PROCEDURES.items()},
}
"""Procedures by name."""
