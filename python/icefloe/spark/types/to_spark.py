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
from icefloe.spark.types.nullability import nullable

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
_ARROW_TYPES = dict(_PRIMITIVES.values())


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


def read_schema(schema: Schema | str, *, field_ids: bool = False) -> Any:
    """Return the ``StructType`` that a read declares: that of :func:`to_spark_schema`, nullable at every depth."""
    return nullable(to_spark_schema(schema, field_ids=field_ids))


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
    return _arrow_type(to_spark_type(iceberg_type))


def to_arrow_schema(struct: Any) -> pa.Schema:
    """Return the Arrow schema of rows in Spark: Spark requires these types, units, time zones and nullability.

    Args:
        struct: ``StructType`` of a read, whose types are those of :func:`to_spark_type`.
    """
    return pa.schema([_arrow_field(field) for field in struct.fields])


def _arrow_field(field: Any) -> pa.Field:
    return pa.field(field.name, _arrow_type(field.dataType), nullable=field.nullable)


def _arrow_type(kind: Any) -> pa.DataType:
    if isinstance(kind, spark_types.StructType):
        return pa.struct([_arrow_field(field) for field in kind.fields])
    if isinstance(kind, spark_types.ArrayType):
        return pa.list_(pa.field("element", _arrow_type(kind.elementType), nullable=kind.containsNull))
    if isinstance(kind, spark_types.MapType):
        value = pa.field("value", _arrow_type(kind.valueType), nullable=kind.valueContainsNull)
        return pa.map_(_arrow_type(kind.keyType), value)
    if isinstance(kind, spark_types.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    return _ARROW_TYPES[type(kind)]


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
