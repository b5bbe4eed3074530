"""Iceberg types as Spark types, and the Arrow types in which Spark exchanges their values.

Types are given as the specification's JSON (``"long"``, ``{"type": "list", ...}``), which executors get as text. In Spark a
``uuid`` is a string and a ``fixed`` a binary. ``time`` and the nanosecond timestamps have no Spark type.
"""

from __future__ import annotations

import json
import re
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import types as spark_types

from icefloe.exceptions import FeatureUnsupportedError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.schema import Schema

FIELD_ID = "parquet.field.id"
"""Key of the field metadata from which Spark's Parquet reader takes a column's id."""

_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_PRIMITIVES: dict[str, tuple[type[Any], pa.DataType]] = {
    "boolean": (spark_types.BooleanType, pa.bool_()),
    "int": (spark_types.IntegerType, pa.int32()),
    "long": (spark_types.LongType, pa.int64()),
    "float": (spark_types.FloatType, pa.float32()),
    "double": (spark_types.DoubleType, pa.float64()),
    "date": (spark_types.DateType, pa.date32()),
    "timestamp": (spark_types.TimestampNTZType, pa.timestamp("us")),
    "timestamptz": (spark_types.TimestampType, pa.timestamp("us", "UTC")),
    "string": (spark_types.StringType, pa.string()),
    "uuid": (spark_types.StringType, pa.string()),
    "binary": (spark_types.BinaryType, pa.binary()),
}


def schema_value(schema: Schema | str) -> dict[str, Any]:
    """Return a schema as the specification's JSON object."""
    text = schema if isinstance(schema, str) else schema.model_dump_json()
    value: dict[str, Any] = json.loads(text)
    return value


def to_spark_schema(schema: Schema | str, *, field_ids: bool = False) -> Any:
    """Return the ``StructType`` of a table's rows in Spark.

    Args:
        schema: Table schema, or its JSON.
        field_ids: Add its id to the metadata of each field, at any depth, for Spark's Parquet reader.

    Raises:
        FeatureUnsupportedError: Spark has no type for a column, such as ``time``.
        ValidationError: The value is no schema.

    Examples:
        >>> to_spark_schema('{"type": "struct", "fields": [{"id": 1, "name": "a", "required": true, "type": "long"}]}')
        StructType([StructField('a', LongType(), False)])
    """
    try:
        return _struct_type(schema_value(schema)["fields"], field_ids=field_ids)
    except (AttributeError, KeyError, TypeError, JSONDecodeError) as error:
        raise ValidationError(
            f"to_spark_schema: expected a Schema such as table.schema(), or its JSON, got {schema!r}"
        ) from error


def to_arrow_schema(schema: Schema | str) -> pa.Schema:
    """Return the Arrow schema of a table's rows in Spark: Spark requires these types, units, time zones and nullability."""
    return pa.schema([_arrow_field(field) for field in schema_value(schema)["fields"]])


def primitive_name(iceberg_type: str | Mapping[str, Any]) -> str:
    """Return the name of a type: ``long``, ``decimal(9, 2)``, ``struct``."""
    return iceberg_type if isinstance(iceberg_type, str) else str(iceberg_type["type"])


def to_spark_type(iceberg_type: str | Mapping[str, Any], *, field_ids: bool = False) -> Any:
    """Return the Spark type of an Iceberg type's JSON form."""
    if not isinstance(iceberg_type, str):
        return _nested_type(iceberg_type, field_ids=field_ids)
    if iceberg_type in _PRIMITIVES:
        return _PRIMITIVES[iceberg_type][0]()
    decimal = _DECIMAL.fullmatch(iceberg_type)
    if decimal is not None:
        return spark_types.DecimalType(int(decimal[1]), int(decimal[2]))
    if iceberg_type.startswith("fixed"):
        return spark_types.BinaryType()
    raise FeatureUnsupportedError(
        f"type {iceberg_type}: Spark has no such type; expected columns of other types, got {iceberg_type}: leave the column out "
        "with columns=[...]"
    )


def to_arrow_type(iceberg_type: str | Mapping[str, Any]) -> pa.DataType:
    """Return the Arrow type in which Spark exchanges an Iceberg type, given in its JSON form."""
    if isinstance(iceberg_type, str):
        if iceberg_type in _PRIMITIVES:
            return _PRIMITIVES[iceberg_type][1]
        spark_type = to_spark_type(iceberg_type)
        if isinstance(spark_type, spark_types.DecimalType):
            return pa.decimal128(spark_type.precision, spark_type.scale)
        return pa.binary()
    if iceberg_type["type"] == "struct":
        return pa.struct([_arrow_field(field) for field in iceberg_type["fields"]])
    if iceberg_type["type"] == "list":
        element = to_arrow_type(iceberg_type["element"])
        return pa.list_(pa.field("element", element, nullable=not iceberg_type["element-required"]))
    value = pa.field("value", to_arrow_type(iceberg_type["value"]), nullable=not iceberg_type["value-required"])
    return pa.map_(to_arrow_type(iceberg_type["key"]), value)


def _arrow_field(field: Mapping[str, Any]) -> pa.Field:
    return pa.field(field["name"], to_arrow_type(field["type"]), nullable=not field["required"])


def _struct_type(fields: list[dict[str, Any]], *, field_ids: bool) -> Any:
    return spark_types.StructType([_spark_field(field, field_ids=field_ids) for field in fields])


def _spark_field(field: Mapping[str, Any], *, field_ids: bool) -> Any:
    metadata: dict[str, Any] = {FIELD_ID: field["id"]} if field_ids else {}
    if field.get("doc") is not None:
        metadata["comment"] = field["doc"]
    data_type = to_spark_type(field["type"], field_ids=field_ids)
    return spark_types.StructField(field["name"], data_type, not field["required"], metadata)


def _nested_type(iceberg_type: Mapping[str, Any], *, field_ids: bool) -> Any:
    if iceberg_type["type"] == "struct":
        return _struct_type(iceberg_type["fields"], field_ids=field_ids)
    if iceberg_type["type"] == "list":
        element = to_spark_type(iceberg_type["element"], field_ids=field_ids)
        return spark_types.ArrayType(element, not iceberg_type["element-required"])
    key = to_spark_type(iceberg_type["key"], field_ids=field_ids)
    value = to_spark_type(iceberg_type["value"], field_ids=field_ids)
    return spark_types.MapType(key, value, not iceberg_type["value-required"])
