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
from icefloe.table.properties.definitions import DISTRIBUTION_MODE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from icefloe.table import Table

_KEY = "__icefloe_partition_{}"
SHUFFLE_SETTINGS = {"spark.sql.adaptive.advisoryPartitionSizeInBytes": "128m"}
"""Spark's default of 64 MB of shuffled rows makes Parquet files of 20 MB."""


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


def distribute(frame: DataFrame, table: Table, mode: str | None = None) -> Distribution:
    """Shuffle and sort rows by the table's partition spec and sort order, as ``write.distribution-mode`` says.

    Args:
        frame: Rows with the table's columns.
        table: Table that the rows are written to.
        mode: ``none``, ``hash`` or ``range``, in place of the table property.

    Raises:
        ValidationError: The mode is unknown.
    """
    schema = schema_value(table.schema())
    keys = partition_columns(table, schema)
    order = sort_columns(table, schema)
    chosen = _chosen(table.properties, mode, partitioned=bool(keys), ordered=bool(order))
    if chosen == "none" or not (keys or order):
        return Distribution(frame=frame, presorted=False, clustered=False)
    names = [_KEY.format(number) for number in range(len(keys))]
    wide = frame.withColumns(dict(zip(names, keys, strict=True))) if keys else frame
    sorting = [*(column_of(name).asc_nulls_first() for name in names), *order]
    if chosen == "range":
        wide = wide.repartitionByRange(*sorting)
    elif keys:
        wide = wide.hint("rebalance", *names)
    return Distribution(frame=wide.sortWithinPartitions(*sorting).drop(*names), presorted=True, clustered=bool(keys))


def partition_columns(table: Table, schema: Mapping[str, Any]) -> list[Column]:
    """Return the partition values of a row as columns, one for each field of the table's current spec that is not void."""
    return [_transformed(field, schema) for field in table.spec().fields if str(field.transform) != "void"]


def sort_columns(table: Table, schema: Mapping[str, Any]) -> list[Column]:
    """Return the table's sort order as Spark sort expressions."""
    columns = []
    for field in table.sort_order().fields:
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


def _chosen(properties: Mapping[str, str], mode: str | None, *, partitioned: bool, ordered: bool) -> str:
    if mode is not None:
        chosen = DISTRIBUTION_MODE.parse(mode, "option distribution-mode")
    else:
        chosen = DISTRIBUTION_MODE.of(properties)
    if chosen is None:
        return "hash" if partitioned else "range" if ordered else "none"
    return chosen
