"""The distribution of rows over Spark partitions before a write, for few and sorted files in each table partition.

``write.distribution-mode`` chooses it. ``none`` does not shuffle rows. ``hash`` clusters the rows of a table partition, in shuffle
partitions of a size that Spark adapts. ``range`` also orders all rows by table partition and sort order. The default is ``hash``
for a partitioned table, ``range`` for an unpartitioned table with a sort order, and ``none`` for other tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.functions import transform_column
from icefloe.spark.types.conform import column_of
from icefloe.spark.types.to_spark import primitive_name, schema_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from icefloe.spark.writer.layout import WriteLayout
    from icefloe.table.sorting import SortOrder

_KEY = "__icefloe_partition_{}"
_ADVISORY_SIZE = "spark.sql.adaptive.advisoryPartitionSizeInBytes"
SHUFFLE_SETTINGS = {_ADVISORY_SIZE: "128m"}
"""Spark's default of 64 MB of shuffled rows makes Parquet files of 20 MB."""


def shuffle_settings(advisory_partition_size: int | None) -> dict[str, str]:
    """Return the session settings of a write's shuffle, for a size of shuffle partitions in bytes."""
    return SHUFFLE_SETTINGS if advisory_partition_size is None else {_ADVISORY_SIZE: f"{advisory_partition_size}b"}


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Rows in the order in which they are written.

    Args:
        frame: The rows, with unchanged columns.
        presorted: Each Spark partition is sorted by table partition and sort order.
        clustered: The rows of a table partition are adjacent.
    """

    frame: DataFrame
    presorted: bool
    clustered: bool


def distribute(frame: DataFrame, layout: WriteLayout) -> Distribution:
    """Shuffle and sort rows by partition and sort order, as the distribution mode says.

    With fan-out, the rows of an unsorted table are shuffled and not sorted.

    Args:
        frame: Rows with the table's columns.
        layout: Definition of the files.
    """
    schema = schema_value(layout.schema)
    keys = [_transformed(field, schema) for field in layout.spec.fields if str(field.transform) != "void"]
    order = sort_columns(layout.sort_order, schema)
    mode = layout.mode()
    if mode == "none" or not (keys or order):
        return Distribution(frame=frame, presorted=False, clustered=False)
    names = [_KEY.format(number) for number in range(len(keys))]
    wide = frame.withColumns(dict(zip(names, keys, strict=True))) if keys else frame
    sorting = [*(column_of(name).asc_nulls_first() for name in names), *order]
    if mode == "range":
        wide = wide.repartitionByRange(*sorting)
    elif keys:
        wide = wide.hint("rebalance", *names)
    if layout.fanout and not order:
        return Distribution(frame=wide.drop(*names), presorted=False, clustered=False)
    return Distribution(frame=wide.sortWithinPartitions(*sorting).drop(*names), presorted=True, clustered=bool(keys))


def sort_columns(sort_order: SortOrder, schema: Mapping[str, Any]) -> list[Column]:
    """Return a sort order as Spark sort expressions."""
    columns = []
    for field in sort_order.fields:
        column = _transformed(field, schema)
        ascending = str(getattr(field.direction, "value", field.direction)).lower() == "asc"
        nulls_first = "first" in str(getattr(field.null_order, "value", field.null_order)).lower()
        directions = (
            (column.asc_nulls_first, column.asc_nulls_last)
            if ascending
            else (column.desc_nulls_first, column.desc_nulls_last)
        )
        columns.append(directions[0]() if nulls_first else directions[1]())
    return columns


def _transformed(field: Any, schema: Mapping[str, Any]) -> Column:
    found = _source(field.source_id, schema["fields"])
    if found is None:
        raise ValidationError(
            f"partition spec or sort order: the schema has no column with field id {field.source_id}, the source of {field}"
        )
    path, iceberg_type = found
    return transform_column(str(field.transform), iceberg_type, column_of(*path))


def _source(source_id: int, fields: list[dict[str, Any]]) -> tuple[list[str], str] | None:
    """Return the path of names and the type of a column or struct field by its id."""
    for field in fields:
        if field["id"] == source_id:
            return [field["name"]], primitive_name(field["type"])
        if primitive_name(field["type"]) == "struct":
            inner = _source(source_id, field["type"]["fields"])
            if inner is not None:
                return [field["name"], *inner[0]], inner[1]
    return None
