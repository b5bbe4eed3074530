"""The facts of a table beside its columns, as DESCRIBE EXTENDED and SHOW TABLE EXTENDED report them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark_types

from icefloe.spark.statements.reported_properties import reported_properties
from icefloe.spark.types.to_spark import to_spark_schema

if TYPE_CHECKING:
    from icefloe.spark.statements.references import Reference
    from icefloe.table import Table

_SIZES: dict[type[Any], int] = {
    spark_types.BooleanType: 1,
    spark_types.StringType: 20,
    spark_types.BinaryType: 100,
    **dict.fromkeys((spark_types.IntegerType, spark_types.FloatType, spark_types.DateType), 4),
    **dict.fromkeys(
        (spark_types.LongType, spark_types.DoubleType, spark_types.TimestampType, spark_types.TimestampNTZType), 8
    ),
}
"""Bytes of a value by which Spark estimates the size of rows."""
_DIGITS_IN_8_BYTES = 18


def table_information(reference: Reference, spark: Any) -> str:
    """Return catalog, namespace, name, facts and columns of a table in one text, a line for each."""
    facts = {
        "Catalog": reference.lake.name,
        "Namespace": ".".join(reference.identifier[:-1]),
        "Table": reference.identifier[-1],
        **table_facts(reference, spark),
    }
    lines = [f"{key}: {value}" for key, value in facts.items()]
    return "\n".join([*lines, f"Schema: {to_spark_schema(reference.table.schema()).treeString()}"]) + "\n"


def table_facts(reference: Reference, spark: Any) -> dict[str, str]:
    """Return the facts of a table under the names and in the order of Spark."""
    table = reference.table
    pairs = ",".join(f"{key}={value}" for key, value in reported_properties(reference, spark).items())
    facts = {
        "Type": "MANAGED",
        "Comment": table.properties.get("comment"),
        "Collation": table.properties.get("collation"),
        "Location": table.location(),
        "Provider": "iceberg",
        "Owner": table.properties.get("owner"),
        "Table_type": "EXTERNAL",
        "Table Properties": f"[{pairs}]",
    }
    return {key: value for key, value in facts.items() if value is not None}


def row_statistics(table: Table) -> str | None:
    """Return the number of rows of a table and their size as Spark estimates it; None if the snapshot does not count its rows."""
    snapshot = table.current_snapshot()
    summary = None if snapshot is None else snapshot.summary
    rows = "0" if snapshot is None else None if summary is None else summary.get("total-records")
    if rows is None:
        return None
    return f"{int(rows) * _size(to_spark_schema(table.schema()))} bytes, {rows} rows"


def _size(kind: Any) -> int:
    if isinstance(kind, spark_types.StructType):
        return sum(_size(field.dataType) for field in kind.fields)
    if isinstance(kind, spark_types.ArrayType):
        return _size(kind.elementType)
    if isinstance(kind, spark_types.MapType):
        return _size(kind.keyType) + _size(kind.valueType)
    if isinstance(kind, spark_types.DecimalType):
        return 8 if kind.precision <= _DIGITS_IN_8_BYTES else 16
    return _SIZES.get(type(kind), 8)
