"""Right arguments of the calls of a table's handle, and of the scans, metadata tables and verbs that it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile
from icefloe.table.write.equality_deletes import write_equality_deletes

from tests.unit.wrong_arguments.walk import Call, FromSubject, used

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
ROWS = pa.table({"id": [1], "name": ["a"]}, schema=SCHEMA)
MORE_ROWS = pa.table({"id": [2], "name": ["b"]}, schema=SCHEMA)
CHANGES = pa.table({"id": [1], "name": ["b"], "op": ["U"], "at": [1]})


SPEC = PartitionSpec(PartitionField(1, 1000, "bucket[4]", "part"))


def method(
    name: str,
    *args: Any,
    of: Callable[[Any], Any] = lambda subject: subject,
    then: Callable[[Any], object] = used,
    admitted: Mapping[str, tuple[str, ...]] | None = None,
    **kwargs: Any,
) -> Call:
    """Return a call of a method of an object that the subject returns."""
    return Call(lambda subject: getattr(of(subject), name), args, kwargs, admitted or {}, then)


def new_table(catalog: Any, name: str) -> Any:
    """Return a new table with a partition field, two snapshots and statistics files of the current one."""
    table = catalog.create_table(name, SCHEMA, partition_spec=SPEC)
    table.append(ROWS)
    table.append(ROWS)
    with table.update_statistics() as update:
        update.set_statistics(statistics(table)).set_partition_statistics(partition_statistics(table))
    return table


def statistics(table: Any) -> StatisticsFile:
    return StatisticsFile(
        snapshot_id=head(table),
        statistics_path=f"{table.location()}/statistics",
        file_size_in_bytes=1,
        file_footer_size_in_bytes=1,
        blob_metadata=[],
    )


def partition_statistics(table: Any) -> PartitionStatisticsFile:
    return PartitionStatisticsFile(
        snapshot_id=head(table), statistics_path=f"{table.location()}/statistics", file_size_in_bytes=1
    )


def head(table: Any) -> int:
    return int(table.current_snapshot().snapshot_id)


def new_file(table: Any) -> list[str]:
    location = f"{table.location()}/imported.parquet"
    pq.write_table(MORE_ROWS, location)
    return [location]


def delete_file(table: Any) -> Any:
    (file,) = write_equality_deletes(table.io, table.metadata, pa.table({"id": [1]}), [1])
    return file


def data_files(table: Any) -> pa.RecordBatch:
    return table.target().writer.data_files(MORE_ROWS)


HEAD = FromSubject(head)
FILTER = {"row_filter": "id > 0", "selected_fields": ("id",), "case_sensitive": True}
SCAN = {**FILTER, "options": {"batch-size": "10"}, "limit": 5}
SUMMARY = {"snapshot_properties": {"app": "x"}, "branch": "main"}
RANGE = {"from_snapshot_id_exclusive": HEAD, "to_snapshot_id_inclusive": HEAD}
COMMIT = {"branch": "main", "snapshot_properties": {"app": "x"}}

HANDLE = {
    "snapshot_by_id": method("snapshot_by_id", HEAD),
    "snapshot_by_name": method("snapshot_by_name", "main"),
    "snapshot_as_of_timestamp": method("snapshot_as_of_timestamp", 5, inclusive=True),
    "doctor": method("doctor", files="heads", statistics=True),
    "scan": method("scan", snapshot_id=HEAD, **SCAN),
    "incremental_append_scan": method("incremental_append_scan", **RANGE, **SCAN),
    "incremental_changelog_scan": method(
        "incremental_changelog_scan",
        **RANGE,
        **SCAN,
        compute_updates=True,
        identifier_columns=("id",),
        net_changes=False,
    ),
    "update_schema": method("update_schema", allow_incompatible_changes=False, case_sensitive=True),
    "update_spec": method("update_spec", case_sensitive=True),
    "update_sort_order": method("update_sort_order", case_sensitive=True),
}

CHANGES_OF_ROWS = {
    "append": method("append", MORE_ROWS, **SUMMARY),
    "overwrite": method("overwrite", MORE_ROWS, "id = 1", case_sensitive=True, **SUMMARY),
    "dynamic_partition_overwrite": method("dynamic_partition_overwrite", MORE_ROWS, **SUMMARY),
    "delete": method("delete", "id = 1", case_sensitive=True, **SUMMARY),
    "update": method("update", "id = 1", {"name": "'b'"}, case_sensitive=True, **SUMMARY),
    "upsert": method(
        "upsert",
        MORE_ROWS,
        join_cols=["id"],
        when_matched_update_all=True,
        when_not_matched_insert_all=True,
        case_sensitive=True,
        memory_limit=2**20,
        **SUMMARY,
    ),
    "merge": method(
        "merge",
        MORE_ROWS,
        ["id"],
        memory_limit=2**20,
        then=lambda merge: merge.when_not_matched_insert().execute(),
        **SUMMARY,
    ),
    "apply_changes": method("apply_changes", CHANGES, ["id"], "op", "at", batch_id="7", **SUMMARY),
    "add_files": method("add_files", FromSubject(new_file), check_duplicate_files=True, **SUMMARY),
    "target": method("target", then=lambda target: target.transaction, **SUMMARY),
    "Merge.when_matched_delete": method(
        "when_matched_delete", "source.id = 1", of=lambda t: t.merge(ROWS, ["id"]), then=lambda m: m.execute()
    ),
    "Merge.when_matched_update": method(
        "when_matched_update",
        {"name": "source.name"},
        "source.id = 1",
        of=lambda t: t.merge(ROWS, ["id"]),
        then=lambda m: m.execute(),
    ),
    "Merge.when_matched_update_all": method(
        "when_matched_update_all", "source.id = 1", of=lambda t: t.merge(ROWS, ["id"]), then=lambda m: m.execute()
    ),
    "Merge.when_not_matched_insert": method(
        "when_not_matched_insert",
        {"id": "source.id"},
        "source.id = 1",
        of=lambda t: t.merge(MORE_ROWS, ["id"]),
        then=lambda m: m.execute(),
    ),
    "Merge.when_not_matched_insert_all": method(
        "when_not_matched_insert_all",
        "source.id = 1",
        of=lambda t: t.merge(MORE_ROWS, ["id"]),
        then=lambda m: m.execute(),
    ),
    "Merge.when_not_matched_by_source_delete": method(
        "when_not_matched_by_source_delete",
        "target.id = 1",
        of=lambda t: t.merge(MORE_ROWS, ["id"]),
        then=lambda m: m.execute(),
    ),
    "Merge.when_not_matched_by_source_update": method(
        "when_not_matched_by_source_update",
        {"name": "'c'"},
        "target.id = 1",
        of=lambda t: t.merge(MORE_ROWS, ["id"]),
        then=lambda m: m.execute(),
    ),
}

FILES = FromSubject(data_files)


def paths(table: Any) -> list[str]:
    return table.inspect.files().column("file_path").to_pylist()


PATHS = FromSubject(paths)
CHANGES_OF_FILES = {
    name: method(name, then=lambda builder: builder, **COMMIT)
    for name in (
        "new_append",
        "new_fast_append",
        "new_overwrite",
        "new_delete",
        "new_row_delta",
        "new_replace_partitions",
        "new_rewrite",
        "rewrite_manifests",
    )
} | {
    "MergeAppend.append": method("append", FILES, of=lambda t: t.new_append()),
    "MergeAppend.set_summary": method("set_summary", "a", "b", of=lambda t: t.new_append().append(data_files(t))),
    "FastAppend.append": method("append", FILES, of=lambda t: t.new_fast_append()),
    "OverwriteFiles.append": method("append", FILES, of=lambda t: t.new_overwrite()),
    "OverwriteFiles.delete": method("delete", PATHS, of=lambda t: t.new_overwrite().append(data_files(t))),
    "OverwriteFiles.conflict_detection_filter": method(
        "conflict_detection_filter", "id > 0", of=lambda t: t.new_overwrite().append(data_files(t))
    ),
    "OverwriteFiles.validate_from_snapshot": method(
        "validate_from_snapshot", HEAD, of=lambda t: t.new_overwrite().append(data_files(t))
    ),
    "DeleteFiles.delete": method("delete", PATHS, of=lambda t: t.new_delete()),
    "ReplacePartitionFiles.append": method("append", FILES, of=lambda t: t.new_replace_partitions()),
    "RewriteFiles.append": method("append", FILES, of=lambda t: t.new_rewrite().delete(paths(t))),
    "RewriteFiles.delete": method("delete", PATHS, of=lambda t: t.new_rewrite().append(data_files(t))),
    "RewriteFiles.delete_deletes": method(
        "delete_deletes", [], unused_in=HEAD, of=lambda t: t.new_rewrite().append(data_files(t)).delete(paths(t))
    ),
    "RewriteFiles.data_sequence_number": method(
        "data_sequence_number", 1, of=lambda t: t.new_rewrite().append(data_files(t)).delete(paths(t))
    ),
    "RowDelta.add_rows": method("add_rows", FILES, of=lambda t: t.new_row_delta()),
    "RowDelta.add_deletes": method(
        "add_deletes", FromSubject(delete_file), of=lambda t: t.new_row_delta(), then=lambda b: b
    ),
    "RowDelta.remove_rows": method("remove_rows", PATHS, of=lambda t: t.new_row_delta()),
    "RowDelta.remove_deletes": method("remove_deletes", [], of=lambda t: t.new_row_delta().add_rows(data_files(t))),
    "RowDelta.validate_data_files_exist": method(
        "validate_data_files_exist", PATHS, of=lambda t: t.new_row_delta().add_rows(data_files(t))
    ),
    "RowDelta.conflict_detection_filter": method(
        "conflict_detection_filter", "id > 0", of=lambda t: t.new_row_delta().add_rows(data_files(t))
    ),
    "RowDelta.case_sensitive": method(
        "case_sensitive", False, of=lambda t: t.new_row_delta().add_rows(data_files(t)), then=lambda b: b
    ),
    "RewriteManifests.sort_by": method("sort_by", "part", of=lambda t: t.rewrite_manifests(), then=lambda b: b),
    "RewriteManifests.spec_id": method("spec_id", 0, of=lambda t: t.rewrite_manifests()),
    "RewriteManifests.rewrite_if": method("rewrite_if", lambda manifest: True, of=lambda t: t.rewrite_manifests()),
}

SCANS = {
    "DataScan.as_of": method("as_of", 2**50, of=lambda t: t.scan()),
    "DataScan.explain": method("explain", footers=True, of=lambda t: t.scan()),
    "DataScan.filter": method("filter", "id > 0", of=lambda t: t.scan()),
    "DataScan.plan": method("plan", include_stats=True, of=lambda t: t.scan()),
    "DataScan.select": method("select", "id", of=lambda t: t.scan()),
    "DataScan.to_arrow": method("to_arrow", progress=False, of=lambda t: t.scan()),
    "DataScan.to_duckdb": method("to_duckdb", "t", connection=None, of=lambda t: t.scan()),
    "DataScan.to_pandas": method("to_pandas", progress=False, of=lambda t: t.scan()),
    "DataScan.update": method("update", limit=5, of=lambda t: t.scan()),
    "DataScan.use_ref": method("use_ref", "main", of=lambda t: t.scan()),
    "DataScan.with_case_sensitive": method("with_case_sensitive", True, of=lambda t: t.scan()),
    "IncrementalAppendScan.from_snapshot_id_exclusive": method(
        "from_snapshot_id_exclusive", HEAD, of=lambda t: t.incremental_append_scan()
    ),
    "IncrementalAppendScan.from_snapshot_id_inclusive": method(
        "from_snapshot_id_inclusive", HEAD, of=lambda t: t.incremental_append_scan()
    ),
    "IncrementalAppendScan.to_snapshot_id_inclusive": method(
        "to_snapshot_id_inclusive", HEAD, of=lambda t: t.incremental_append_scan()
    ),
    "IncrementalAppendScan.from_timestamp": method("from_timestamp", 5, of=lambda t: t.incremental_append_scan()),
    "IncrementalAppendScan.to_timestamp": method("to_timestamp", 2**50, of=lambda t: t.incremental_append_scan()),
    "IncrementalAppendScan.explain": method("explain", footers=True, of=lambda t: t.incremental_append_scan()),
}

METADATA_TABLES = (
    {
        "inspect.scan": method(
            "scan",
            "files",
            snapshot_id=HEAD,
            where="content = 0",
            of=lambda t: t.inspect,
            row_filter="id > 0",
            selected_fields=("content",),
            case_sensitive=True,
        ),
        "inspect.partitions": method(
            "partitions", snapshot_id=HEAD, row_filter="id > 0", case_sensitive=True, of=lambda t: t.inspect
        ),
    }
    | {
        f"inspect.{name}": method(name, snapshot_id=HEAD, of=lambda t: t.inspect)
        for name in ("entries", "manifests", "position_deletes")
    }
    | {
        f"inspect.{name}": method(
            name, snapshot_id=HEAD, where="content = 0", row_filter="id > 0", of=lambda t: t.inspect
        )
        for name in ("files", "data_files", "delete_files")
    }
)
