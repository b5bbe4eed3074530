"""Iceberg types as text in the type language of Hive, which Glue shares."""

from __future__ import annotations

from icefloe.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

_NAMES: dict[type[IcebergType], str] = {
    BooleanType: "boolean",
    IntegerType: "int",
    LongType: "bigint",
    FloatType: "float",
    DoubleType: "double",
    DateType: "date",
    TimeType: "string",
    TimestampType: "timestamp",
    StringType: "string",
    UUIDType: "string",
    FixedType: "binary",
    BinaryType: "binary",
}


def hive_type(kind: IcebergType, *, zoned: str) -> str:
    """Return a type as text.

    Args:
        kind: The Iceberg type.
        zoned: The name of timestamps with a zone: Glue and Hive 2 have no such type and use `timestamp`.

    Examples:
        >>> hive_type(ListType(1, DecimalType(9, 2)), zoned="timestamp")
        'array<decimal(9,2)>'
    """
    if isinstance(kind, StructType):
        fields = (f"{field.name}:{hive_type(field.field_type, zoned=zoned)}" for field in kind.fields)
        return f"struct<{','.join(fields)}>"
    if isinstance(kind, ListType):
        return f"array<{hive_type(kind.element_type, zoned=zoned)}>"
    if isinstance(kind, MapType):
        return f"map<{hive_type(kind.key_type, zoned=zoned)},{hive_type(kind.value_type, zoned=zoned)}>"
    if isinstance(kind, DecimalType):
        return f"decimal({kind.precision},{kind.scale})"
    if isinstance(kind, TimestamptzType):
        return zoned
    # Columns of an entry are for display: readers take the schema from the metadata.
    return _NAMES.get(type(kind), "unknown")
