"""The schemas of the metadata tables: columns, types, nullability and order of the Java reference implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.schema import Schema
from icefloe.table.inspect.readable_metrics import readable_metrics_field
from icefloe.table.scan.metadata_columns import PARTITION_ID, partition_column_type, partition_struct
from icefloe.types import (
    BinaryType,
    BooleanType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)
from icefloe.types.arrow import field_to_arrow, storage_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from icefloe.table.metadata import TableMetadata
    from icefloe.types import IcebergType

LIVE_FILE_TABLES = ("files", "data_files", "delete_files", "all_files", "all_data_files", "all_delete_files")
ENTRY_TABLES = ("entries", "all_entries")
OF_ONE_SNAPSHOT = ("files", "data_files", "delete_files", "entries", "manifests", "partitions", "position_deletes")
"""The metadata tables that have the rows of one snapshot, the current one by default."""

# Reserved field ids, by which the core finds the columns of position delete files and of their files.
DELETE_FILE_PATH_ID = 2147483546
DELETE_POSITION_ID = 2147483545
DELETE_ROW_ID = 2147483544
FILE_ID = 2147483646
SPEC_ID_ID = 2147483643


def metadata_table_schema(name: str, metadata: TableMetadata) -> Schema:
    """Return the schema of a metadata table.

    Args:
        name: One of `METADATA_TABLES`.
        metadata: The table, whose partition specs and columns are part of some of the schemas.
    """
    return _SCHEMAS[name](metadata)


def arrow_schema(schema: Schema) -> pa.Schema:
    """Return the Arrow schema of rows of a metadata table: without field ids, uuids as 16 bytes."""
    import pyarrow as pa

    return storage_schema(pa.schema([field_to_arrow(field, ids=False) for field in schema.fields]))


def partition_fields(metadata: TableMetadata) -> StructType:
    """Return the type of the column `partition`: the partition fields of all specs by ascending field id, each optional."""
    return partition_struct(metadata)


def _required(field_id: int, name: str, kind: IcebergType) -> NestedField:
    return NestedField(field_id, name, kind, required=True)


def _optional(field_id: int, name: str, kind: IcebergType) -> NestedField:
    return NestedField(field_id, name, kind)


def _snapshots(_: TableMetadata) -> Schema:
    return Schema(
        _required(1, "committed_at", TimestamptzType()),
        _required(2, "snapshot_id", LongType()),
        _optional(3, "parent_id", LongType()),
        _optional(4, "operation", StringType()),
        _optional(5, "manifest_list", StringType()),
        _optional(6, "summary", MapType(7, StringType(), 8, StringType(), value_required=True)),
    )


def _history(_: TableMetadata) -> Schema:
    return Schema(
        _required(1, "made_current_at", TimestamptzType()),
        _required(2, "snapshot_id", LongType()),
        _optional(3, "parent_id", LongType()),
        _required(4, "is_current_ancestor", BooleanType()),
    )


def _refs(_: TableMetadata) -> Schema:
    return Schema(
        _required(1, "name", StringType()),
        _required(2, "type", StringType()),
        _required(3, "snapshot_id", LongType()),
        _optional(4, "max_reference_age_in_ms", LongType()),
        _optional(5, "min_snapshots_to_keep", IntegerType()),
        _optional(6, "max_snapshot_age_in_ms", LongType()),
    )


def _metadata_log_entries(_: TableMetadata) -> Schema:
    return Schema(
        _required(1, "timestamp", TimestamptzType()),
        _required(2, "file", StringType()),
        _optional(3, "latest_snapshot_id", LongType()),
        _optional(4, "latest_schema_id", IntegerType()),
        _optional(5, "latest_sequence_number", LongType()),
    )


def _summaries(*, nan_required: bool) -> ListType:
    summary = StructType(
        _required(10, "contains_null", BooleanType()),
        NestedField(11, "contains_nan", BooleanType(), required=nan_required),
        _optional(12, "lower_bound", StringType()),
        _optional(13, "upper_bound", StringType()),
    )
    return ListType(9, summary, element_required=True)


def _manifests(_: TableMetadata) -> Schema:
    return Schema(
        _required(14, "content", IntegerType()),
        _required(1, "path", StringType()),
        _required(2, "length", LongType()),
        _required(3, "partition_spec_id", IntegerType()),
        _required(4, "added_snapshot_id", LongType()),
        _required(5, "added_data_files_count", IntegerType()),
        _required(6, "existing_data_files_count", IntegerType()),
        _required(7, "deleted_data_files_count", IntegerType()),
        _required(15, "added_delete_files_count", IntegerType()),
        _required(16, "existing_delete_files_count", IntegerType()),
        _required(17, "deleted_delete_files_count", IntegerType()),
        _required(8, "partition_summaries", _summaries(nan_required=False)),
    )


def _all_manifests(_: TableMetadata) -> Schema:
    return Schema(
        _required(14, "content", IntegerType()),
        _required(1, "path", StringType()),
        _required(2, "length", LongType()),
        _optional(3, "partition_spec_id", IntegerType()),
        _optional(4, "added_snapshot_id", LongType()),
        _optional(5, "added_data_files_count", IntegerType()),
        _optional(6, "existing_data_files_count", IntegerType()),
        _optional(7, "deleted_data_files_count", IntegerType()),
        _required(15, "added_delete_files_count", IntegerType()),
        _required(16, "existing_delete_files_count", IntegerType()),
        _required(17, "deleted_delete_files_count", IntegerType()),
        _optional(8, "partition_summaries", _summaries(nan_required=True)),
        _required(18, "reference_snapshot_id", LongType()),
        _optional(19, "key_metadata", BinaryType()),
    )


def _map(ids: tuple[int, int], value: IcebergType) -> MapType:
    return MapType(ids[0], IntegerType(), ids[1], value, value_required=True)


def _file_fields(metadata: TableMetadata) -> list[NestedField]:
    partition = partition_fields(metadata)
    return [
        _optional(134, "content", IntegerType()),
        _required(100, "file_path", StringType()),
        _required(101, "file_format", StringType()),
        _optional(141, "spec_id", IntegerType()),
        *([_required(102, "partition", partition)] if partition.fields else []),
        _required(103, "record_count", LongType()),
        _required(104, "file_size_in_bytes", LongType()),
        _optional(108, "column_sizes", _map((117, 118), LongType())),
        _optional(109, "value_counts", _map((119, 120), LongType())),
        _optional(110, "null_value_counts", _map((121, 122), LongType())),
        _optional(137, "nan_value_counts", _map((138, 139), LongType())),
        _optional(125, "lower_bounds", _map((126, 127), BinaryType())),
        _optional(128, "upper_bounds", _map((129, 130), BinaryType())),
        _optional(131, "key_metadata", BinaryType()),
        _optional(132, "split_offsets", ListType(133, LongType(), element_required=True)),
        _optional(135, "equality_ids", ListType(136, IntegerType(), element_required=True)),
        _optional(140, "sort_order_id", IntegerType()),
        _optional(142, "first_row_id", LongType()),
        _optional(143, "referenced_data_file", StringType()),
        _optional(144, "content_offset", LongType()),
        _optional(145, "content_size_in_bytes", LongType()),
    ]


def _files(metadata: TableMetadata) -> Schema:
    fields = _file_fields(metadata)
    return Schema(*fields, readable_metrics_field(metadata.schema(), above=Schema(*fields)))


def _entries(metadata: TableMetadata) -> Schema:
    fields = [
        _required(0, "status", IntegerType()),
        _optional(1, "snapshot_id", LongType()),
        _optional(3, "sequence_number", LongType()),
        _optional(4, "file_sequence_number", LongType()),
        _required(2, "data_file", StructType(*_file_fields(metadata))),
    ]
    return Schema(*fields, readable_metrics_field(metadata.schema(), above=Schema(*fields)))


def _position_deletes(metadata: TableMetadata) -> Schema:
    partition = partition_column_type(metadata)
    row = StructType(*metadata.schema().fields)
    return Schema(
        _required(DELETE_FILE_PATH_ID, "file_path", StringType()),
        _required(DELETE_POSITION_ID, "pos", LongType()),
        _optional(DELETE_ROW_ID, "row", row),
        *([_required(PARTITION_ID, "partition", partition)] if partition.fields else []),
        _required(SPEC_ID_ID, "spec_id", IntegerType()),
        _required(FILE_ID, "delete_file_path", StringType()),
    )


def _partitions(metadata: TableMetadata) -> Schema:
    partition = partition_fields(metadata)
    partitioned = [_required(1, "partition", partition), _required(4, "spec_id", IntegerType())]
    return Schema(
        *(partitioned if partition.fields else []),
        _required(2, "record_count", LongType()),
        _required(3, "file_count", IntegerType()),
        _required(11, "total_data_file_size_in_bytes", LongType()),
        _required(5, "position_delete_record_count", LongType()),
        _required(6, "position_delete_file_count", IntegerType()),
        _required(7, "equality_delete_record_count", LongType()),
        _required(8, "equality_delete_file_count", IntegerType()),
        _optional(9, "last_updated_at", TimestamptzType()),
        _optional(10, "last_updated_snapshot_id", LongType()),
    )


_SCHEMAS: dict[str, Callable[[TableMetadata], Schema]] = {
    "snapshots": _snapshots,
    "history": _history,
    "refs": _refs,
    "metadata_log_entries": _metadata_log_entries,
    "manifests": _manifests,
    "all_manifests": _all_manifests,
    **dict.fromkeys(ENTRY_TABLES, _entries),
    **dict.fromkeys(LIVE_FILE_TABLES, _files),
    "partitions": _partitions,
    "position_deletes": _position_deletes,
}

METADATA_TABLES = tuple(sorted(_SCHEMAS))
"""The names of the metadata tables."""
