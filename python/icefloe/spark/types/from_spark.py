"""Spark schemas as Iceberg schemas."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import types as spark_types

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.schema import Schema

_FROM_SPARK: dict[type[Any], str] = {
    spark_types.BooleanType: "boolean",
    spark_types.ByteType: "int",
    spark_types.ShortType: "int",
    spark_types.IntegerType: "int",
    spark_types.LongType: "long",
    spark_types.FloatType: "float",
    spark_types.DoubleType: "double",
    spark_types.DateType: "date",
    spark_types.TimestampNTZType: "timestamp",
    spark_types.TimestampType: "timestamptz",
    spark_types.StringType: "string",
    spark_types.VarcharType: "string",
    spark_types.CharType: "string",
    spark_types.BinaryType: "binary",
}


def schema_from_spark(struct: Any) -> Schema:
    """Return the Iceberg schema of a Spark ``StructType``, for ``catalog.create_table``.

    Field ids count from 1. ``tinyint`` and ``smallint`` become ``int``, ``char`` and ``varchar`` become ``string``. A field that
    is not nullable is required.

    Args:
        struct: Spark schema, such as ``frame.schema``.

    Raises:
        ValidationError: The value is no Spark schema, or two columns have the same name.
        FeatureUnsupportedError: Iceberg has no type for a column, such as an interval, a variant or void.

    Examples:
        >>> from pyspark.sql.types import LongType, StructField, StructType
        >>> schema_from_spark(StructType([StructField("id", LongType(), False)])).find_field("id").field_id
        1
    """
    if not isinstance(struct, spark_types.StructType):
        raise ValidationError(f"schema_from_spark: expected a StructType such as frame.schema, got {struct!r}")
    fields = _Ids().struct_fields(struct)
    return Schema.model_validate_json(json.dumps({"type": "struct", "schema-id": 0, "fields": fields}))


class _Ids:
    """Field ids in the order of new tables: all fields of one level first, then the fields inside them."""

    def __init__(self) -> None:
        self._last = 0

    def _next(self) -> int:
        self._last += 1
        return self._last

    def struct_fields(self, struct: Any) -> list[dict[str, Any]]:
        repeated = [name for name in struct.names if struct.names.count(name) > 1]
        if repeated:
            raise ValidationError(
                f"schema_from_spark: expected each column and field once, got {repeated[0]!r} twice: rename one of them"
            )
        ids = [self._next() for _ in struct.fields]
        fields = []
        for field_id, field in zip(ids, struct.fields, strict=True):
            value = {
                "id": field_id,
                "name": field.name,
                "required": not field.nullable,
                "type": self.type_of(field.dataType),
            }
            comment = (field.metadata or {}).get("comment")
            fields.append(value if comment is None else {**value, "doc": comment})
        return fields

    def type_of(self, data_type: Any) -> str | dict[str, Any]:
        if isinstance(data_type, spark_types.DecimalType):
            return f"decimal({data_type.precision}, {data_type.scale})"
        if isinstance(data_type, spark_types.StructType):
            return {"type": "struct", "fields": self.struct_fields(data_type)}
        if isinstance(data_type, spark_types.ArrayType):
            element_id = self._next()
            element = self.type_of(data_type.elementType)
            return {
                "type": "list",
                "element-id": element_id,
                "element": element,
                "element-required": not data_type.containsNull,
            }
        if isinstance(data_type, spark_types.MapType):
            key_id, value_id = self._next(), self._next()
            key, value = self.type_of(data_type.keyType), self.type_of(data_type.valueType)
            return {
                "type": "map",
                "key-id": key_id,
                "key": key,
                "value-id": value_id,
                "value": value,
                "value-required": not data_type.valueContainsNull,
            }
        name = _FROM_SPARK.get(type(data_type))
        if name is None:
            raise FeatureUnsupportedError(
                f"type {data_type.simpleString()}: Iceberg has no such type; expected a Spark type that Iceberg has, got "
                f"{data_type.simpleString()}: cast the column first"
            )
        return name
