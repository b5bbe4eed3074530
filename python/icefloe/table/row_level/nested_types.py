"""Structs, lists and maps in the types of the table's columns: fields are matched by name, and none is left out."""

from __future__ import annotations

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql import kinds


def converts_nested(source: pa.DataType, target: pa.DataType) -> bool:
    """Return whether a column has a nested type that values of another type convert to without a loss."""
    if not pa.types.is_nested(target):
        return False
    try:
        check_nested(source, target)
    except ValidationError:
        return False
    return True


def check_nested(source: pa.DataType, target: pa.DataType, path: str = "") -> None:
    """Raise ValidationError unless Arrow's cast of a struct, list or map keeps every value.

    Args:
        source: The type of the values.
        target: The type of the column.
        path: The place within the column, for messages.

    >>> check_nested(pa.struct([("b", pa.int32()), ("a", pa.int64())]), pa.struct([("a", pa.int64()), ("b", pa.int64())]))
    """
    if source == target or source == pa.null():
        return
    if pa.types.is_struct(source) and pa.types.is_struct(target):
        _check_fields(source, target, path)
    elif pa.types.is_map(source) and pa.types.is_map(target):
        check_nested(source.key_type, target.key_type, f"{path}.key")
        check_nested(source.item_type, target.item_type, f"{path}.value")
    elif _is_list(source) and _is_list(target):
        check_nested(source.value_type, target.value_type, f"{path}.element")
    elif pa.types.is_nested(source) or pa.types.is_nested(target) or not _is_same_family(source, target):
        place = f"{path[1:]}: " if path else ""
        raise ValidationError(f"{place}{source} does not convert to {target}")


def _check_fields(source: pa.StructType, target: pa.StructType, path: str) -> None:
    given = [source.field(index) for index in range(source.num_fields)]
    own = {field.name: field for field in (target.field(index) for index in range(target.num_fields))}
    for name in [field.name for field in given]:
        if name not in own:
            raise ValidationError(f"{path}.{name}"[1:] + f" is no field of the column; expected {', '.join(own)}")
        if sum(field.name == name for field in given) > 1:
            raise ValidationError(f"{path}.{name}"[1:] + " is there twice")
    for name, field in own.items():
        found = next((one for one in given if one.name == name), None)
        if found is not None:
            check_nested(found.type, field.type, f"{path}.{name}")
        elif not field.nullable:
            raise ValidationError(f"{path}.{name}"[1:] + " is required, and the values lack it")


def _is_list(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )


def _is_same_family(source: pa.DataType, target: pa.DataType) -> bool:
    """Return whether values of a type mean the same in another one."""
    left, right = kinds.canonical(source), kinds.canonical(target)
    if pa.types.is_timestamp(left) and pa.types.is_timestamp(right):
        return (left.tz is None) == (right.tz is None)
    return bool(left == right or (kinds.is_number(left) and kinds.is_number(right)))
