"""Procedures that make files or metadata that exist a part of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.catalog.partition_directories import files_within
from icefloe.spark.maintenance.file_tables import FileTable
from icefloe.spark.maintenance.procedure import Procedure
from icefloe.spark.maintenance.source_directory import SourceDirectory, is_directory
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.write.add_files import add_existing_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.io import FileIO
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows
    from icefloe.table.write.given_partitions import GivenPartition


def _register(caller: Caller, given: Arguments) -> Rows:
    table = caller.named_catalog().register_table(caller.identifier(given["table"]), given["metadata_file"])
    snapshot = table.current_snapshot()
    summary = None if snapshot is None else snapshot.summary
    totals = [None if summary is None else summary.get(key) for key in ("total-records", "total-data-files")]
    current = None if snapshot is None else snapshot.snapshot_id
    return [(current, *[None if total is None else int(total) for total in totals])]


def _added(
    caller: Caller, source: str, partition_filter: Mapping[str, str], io: FileIO
) -> tuple[str, list[str], tuple[GivenPartition, ...]]:
    """Return the format of a source, the files in its directory, and the partitions in other directories."""
    if is_directory(source) or caller.spark is None:
        directory = SourceDirectory.of(source)
        return directory.file_format, directory.files(io, partition_filter), ()
    table = FileTable.of(caller.spark, source, "add_files", partition_filter)
    directories = table.directories()
    paths: list[str] = []
    if directories is None or directories:
        remaining = partition_filter if directories is None else {}
        paths = SourceDirectory(table.file_format, table.location).files(io, remaining)
    if directories is not None:
        paths = files_within(paths, table.location, directories)
    return table.file_format, paths, table.partitions_elsewhere(io)


def _add_files(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    filtered = given.get("partition_filter", {})
    file_format, paths, elsewhere = _added(caller, given["source_table"], filtered, table.io)
    count = len(paths) + sum(len(one.locations) for one in elsewhere)
    if count == 0:
        return [(0, None)]
    with table.target(MAIN_BRANCH, None) as target:
        check = given.get("check_duplicate_files", True)
        add_existing_files(target, paths, check_duplicates=check, file_format=file_format, partitions=elsewhere)
    snapshot = table.current_snapshot()
    partitions = (
        None if snapshot is None or snapshot.summary is None else snapshot.summary.get("changed-partition-count")
    )
    return [(count, None if partitions is None else int(partitions))]


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
