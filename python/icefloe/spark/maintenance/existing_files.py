"""Procedures that make files or metadata that exist a part of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.maintenance.file_tables import FileTable
from icefloe.spark.maintenance.procedure import Procedure
from icefloe.spark.maintenance.source_directory import SourceDirectory, is_directory
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.write.add_files import add_existing_files

if TYPE_CHECKING:
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows


def _register(caller: Caller, given: Arguments) -> Rows:
    table = caller.named_catalog().register_table(caller.identifier(given["table"]), given["metadata_file"])
    snapshot = table.current_snapshot()
    summary = None if snapshot is None else snapshot.summary
    totals = [None if summary is None else summary.get(key) for key in ("total-records", "total-data-files")]
    current = None if snapshot is None else snapshot.snapshot_id
    return [(current, *[None if total is None else int(total) for total in totals])]


def _source(caller: Caller, source: str) -> SourceDirectory:
    """Return the directory that a source names, or the directory of a table of Spark's own catalog."""
    if is_directory(source) or caller.spark is None:
        return SourceDirectory.of(source)
    table = FileTable.of(caller.spark, source, "add_files")
    return SourceDirectory(table.file_format, table.location)


def _add_files(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    source = _source(caller, given["source_table"])
    paths = source.files(table.io, given.get("partition_filter", {}))
    if not paths:
        return [(0, None)]
    with table.target(MAIN_BRANCH, None) as target:
        check = given.get("check_duplicate_files", True)
        add_existing_files(target, paths, check_duplicates=check, file_format=source.file_format)
    snapshot = table.current_snapshot()
    partitions = (
        None if snapshot is None or snapshot.summary is None else snapshot.summary.get("changed-partition-count")
    )
    return [(len(paths), None if partitions is None else int(partitions))]


EXISTING_FILES = {
    "add_files": Procedure(
        parameters={
            "table": "string",
            "source_table": "string",
            "partition_filter": "map<string,string>",
            "check_duplicate_files": "boolean",
            "parallelism": "int",
        },
        required=("table", "source_table"),
        returns="added_files_count bigint NOT NULL, changed_partition_count bigint",
        run=_add_files,
    ),
    "register_table": Procedure(
        parameters={"table": "string", "metadata_file": "string"},
        required=("table", "metadata_file"),
        returns="current_snapshot_id bigint, total_records_count bigint, total_data_files_count bigint",
        run=_register,
    ),
}
"""Procedures by name."""
