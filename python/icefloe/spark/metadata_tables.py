"""Metadata tables as rows of Spark, with the columns of :attr:`icefloe.table.Table.inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.table.inspect import METADATA_TABLES, OF_ONE_SNAPSHOT

if TYPE_CHECKING:
    from icefloe.table import Table
    from icefloe.table.inspect import MetadataScan

__all__ = ["METADATA_TABLES", "metadata_frame", "metadata_rows", "metadata_schema", "spark_schema"]


def metadata_rows(table: Table, name: str, snapshot_id: int | None = None) -> pa.Table:
    """Return the rows of a metadata table in types that Spark reads.

    Args:
        table: Table.
        name: Name of the metadata table.
        snapshot_id: Snapshot; the current one if None.

    Raises:
        ValidationError: There is no such metadata table, or it has no versions.
    """
    rows = _scan(table, name, snapshot_id).to_arrow()
    return rows.cast(spark_schema(rows.schema))


def metadata_schema(table: Table, name: str) -> pa.Schema:
    """Return the schema of `metadata_rows`, without reading a manifest."""
    return spark_schema(_scan(table, name, None).arrow_schema())


def metadata_frame(spark: Any, rows: pa.Table) -> Any:
    """Return a DataFrame of the rows of a metadata table."""
    # Spark refuses columns without chunks.
    batches = rows.to_batches() or [pa.RecordBatch.from_pylist([], schema=rows.schema)]
    return spark.createDataFrame(pa.Table.from_batches(batches))


def _scan(table: Table, name: str, snapshot_id: int | None) -> MetadataScan:
    if name not in METADATA_TABLES:
        raise ValidationError(f"metadata table: expected one of {', '.join(METADATA_TABLES)}, got {name!r}")
    if snapshot_id is not None and name not in OF_ONE_SNAPSHOT:
        raise ValidationError(
            f"metadata table {name}: expected no version, got snapshot {snapshot_id}: it has all snapshots"
        )
    return table.inspect.scan(name, snapshot_id)


def spark_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema of a metadata table in types that Spark reads, nullable at every depth as all reads are."""
    return pa.schema([_field_of_spark(field) for field in schema])


def _field_of_spark(field: pa.Field) -> pa.Field:
    return field.with_type(_type_of_spark(field.type)).with_nullable(True)


def _type_of_spark(kind: pa.DataType) -> pa.DataType:
    """Return a type with binary for fixed-size binary, and text for times and nanoseconds, which Spark has no type for."""
    if pa.types.is_struct(kind):
        return pa.struct([_field_of_spark(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_field_of_spark(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(_type_of_spark(kind.key_type), _field_of_spark(kind.item_field))
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_time(kind) or (pa.types.is_timestamp(kind) and kind.unit == "ns"):
        return pa.string()
    return kind
