"""The types of Iceberg. Spec: Schemas and Data Types.

>>> from icefloe.types import ListType, LongType, NestedField
>>> NestedField(1, "ids", ListType(2, LongType(), element_required=True)).field_type
ListType(element_id=2, element_type=LongType(), element_required=True)
"""

from __future__ import annotations

from icefloe.types.nested import ListType, MapType, NestedField, StructType, field_from_json, type_from_json
from icefloe.types.parsing import type_from_text
from icefloe.types.primitive import (
    DEFAULT_GEOGRAPHY_ALGORITHM,
    DEFAULT_GEOGRAPHY_CRS,
    DEFAULT_GEOMETRY_CRS,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    GeographyType,
    GeometryType,
    IcebergType,
    IntegerType,
    LongType,
    PrimitiveType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    UnknownType,
    UUIDType,
)

__all__ = [
    "DEFAULT_GEOGRAPHY_ALGORITHM",
    "DEFAULT_GEOGRAPHY_CRS",
    "DEFAULT_GEOMETRY_CRS",
    "BinaryType",
    "BooleanType",
    "DateType",
    "DecimalType",
    "DoubleType",
    "FixedType",
    "FloatType",
    "GeographyType",
    "GeometryType",
    "IcebergType",
    "IntegerType",
    "ListType",
    "LongType",
    "MapType",
    "NestedField",
    "PrimitiveType",
    "StringType",
    "StructType",
    "TimeType",
    "TimestampNanoType",
    "TimestampType",
    "TimestamptzNanoType",
    "TimestamptzType",
    "UUIDType",
    "UnknownType",
    "field_from_json",
    "type_from_json",
    "type_from_text",
]
