"""Nullability of Spark types.

Spark answers ``IS NULL`` of a column that is declared NOT NULL without a read, and a DataFrame, stream or entry of a catalog keeps
the schema of its first use. Another writer may make the column optional in the meantime, so reads declare every column nullable.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import types as spark_types

from icefloe.exceptions import ValidationError


def nullable(kind: Any) -> Any:
    """Return a Spark type whose fields, elements and map values, at any depth, may be null."""
    if isinstance(kind, spark_types.StructType):
        fields = [spark_types.StructField(one.name, nullable(one.dataType), True, one.metadata) for one in kind.fields]
        return spark_types.StructType(fields)
    if isinstance(kind, spark_types.ArrayType):
        return spark_types.ArrayType(nullable(kind.elementType), True)
    if isinstance(kind, spark_types.MapType):
        return spark_types.MapType(nullable(kind.keyType), nullable(kind.valueType), True)
    return kind


def check_not_null(given: Any, own: Any) -> None:
    """Check the NOT NULL columns and fields, at any depth, of a schema that the user passed to a read.

    Args:
        given: ``StructType`` that the user passed.
        own: ``StructType`` of the table, with the same fields.

    Raises:
        ValidationError: The table has an optional column or field where the schema has NOT NULL.
    """
    optional = _first_optional(given, own)
    if optional is not None:
        raise ValidationError(
            f"schema: column {optional!r} may be null in the table; expected a schema that allows nulls in it, got NOT NULL: leave "
            "NOT NULL out of the schema of the read"
        )


def _first_optional(given: Any, own: Any) -> str | None:
    """Return the dotted name of the first field that may be null in the second of two equal types but not in the first."""
    for name, may_be_null, other_may_be_null, inner, other_inner in _parts(given, own):
        if other_may_be_null and not may_be_null:
            return name
        below = _first_optional(inner, other_inner)
        if below is not None:
            return f"{name}.{below}"
    return None


def _parts(given: Any, own: Any) -> list[tuple[str, bool, bool, Any, Any]]:
    """Return name, nullability in both types and both types of each field, element, key and value of two equal types."""
    if isinstance(given, spark_types.StructType):
        pairs = zip(given.fields, own.fields, strict=True)
        return [(one.name, one.nullable, two.nullable, one.dataType, two.dataType) for one, two in pairs]
    if isinstance(given, spark_types.ArrayType):
        return [("element", given.containsNull, own.containsNull, given.elementType, own.elementType)]
    if isinstance(given, spark_types.MapType):
        return [
            ("key", False, False, given.keyType, own.keyType),
            ("value", given.valueContainsNull, own.valueContainsNull, given.valueType, own.valueType),
        ]
    return []
