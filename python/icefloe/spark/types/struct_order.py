"""Structs whose fields are matched by name: Spark casts a struct by the positions of its fields, whatever their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

if TYPE_CHECKING:
    from pyspark.sql import Column


def has_struct(kind: Any) -> bool:
    """Return whether a type is a struct or has one inside."""
    return isinstance(kind, StructType) or any(map(has_struct, _inner(kind)))


def names_match(found: Any, expected: Any) -> bool:
    """Return whether the structs of two types, at any depth, have fields of the same names, ignoring case and order."""
    if isinstance(found, StructType) and isinstance(expected, StructType):
        pairs = pairs_by_name(found, expected)
        return pairs is not None and all(names_match(one.dataType, two.dataType) for one, two in pairs)
    return all(names_match(one, two) for one, two in zip(_inner(found), _inner(expected), strict=False))


def pairs_by_name(found: StructType, expected: StructType) -> list[tuple[Any, Any]] | None:
    """Return the fields of two structs in pairs of the same name, in the order of the second; None if one has no partner."""
    by_name = {field.name.lower(): field for field in found.fields}
    if len(found) != len(expected) or by_name.keys() != {field.name.lower() for field in expected.fields}:
        return None
    return [(by_name[field.name.lower()], field) for field in expected.fields]


def in_order_of(value: Column, found: Any, expected: Any) -> Column:
    """Return a value with the fields of its structs, at any depth, in the order of another type.

    Args:
        value: The value.
        found: Its type, whose names match those of `expected`.
        expected: Type with the order of the fields.
    """
    if _same_order(found, expected):
        return value
    if isinstance(found, StructType):
        fields = [
            in_order_of(value.getField(one.name), one.dataType, two.dataType).alias(two.name)
            for one, two in pairs_by_name(found, expected) or ()
        ]
        return F.when(value.isNotNull(), F.struct(*fields))
    if isinstance(found, ArrayType):
        return F.transform(value, lambda element: in_order_of(element, found.elementType, expected.elementType))
    keyed = F.transform_keys(value, lambda key, _: in_order_of(key, found.keyType, expected.keyType))
    return F.transform_values(keyed, lambda _, entry: in_order_of(entry, found.valueType, expected.valueType))


def type_in_order_of(found: Any, expected: Any) -> Any:
    """Return the type of :func:`in_order_of`: the fields of `found` with the order and the names of `expected`."""
    if isinstance(found, StructType) and isinstance(expected, StructType):
        return StructType(
            [
                StructField(two.name, type_in_order_of(one.dataType, two.dataType), one.nullable)
                for one, two in pairs_by_name(found, expected) or ()
            ]
        )
    if isinstance(found, ArrayType) and isinstance(expected, ArrayType):
        return ArrayType(type_in_order_of(found.elementType, expected.elementType), found.containsNull)
    if isinstance(found, MapType) and isinstance(expected, MapType):
        key = type_in_order_of(found.keyType, expected.keyType)
        return MapType(key, type_in_order_of(found.valueType, expected.valueType), found.valueContainsNull)
    return found


def _same_order(found: Any, expected: Any) -> bool:
    if isinstance(found, StructType) and isinstance(expected, StructType):
        names = [field.name.lower() for field in found.fields]
        if names != [field.name.lower() for field in expected.fields]:
            return False
    return all(_same_order(one, two) for one, two in zip(_inner(found), _inner(expected), strict=False))


def _inner(kind: Any) -> tuple[Any, ...]:
    if isinstance(kind, StructType):
        return tuple(field.dataType for field in kind.fields)
    if isinstance(kind, ArrayType):
        return (kind.elementType,)
    return (kind.keyType, kind.valueType) if isinstance(kind, MapType) else ()
