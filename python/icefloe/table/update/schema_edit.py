"""Edits of a schema's tree of fields. Every function returns a new tree."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.schema import Schema, rebuild_type
from icefloe.types import IcebergType, MapType, NestedField, StructType

if TYPE_CHECKING:
    from collections.abc import Callable

# The id of the schema itself where the id of an enclosing field is expected.
ROOT = -1

Fields = tuple[NestedField, ...]


def levels_of(path: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a path, the column's first; text is one name.

    Raises:
        ValidationError: The path is neither text nor a sequence of names, or a name is empty.
    """
    levels = (path,) if isinstance(path, str) else tuple(path) if isinstance(path, tuple | list) else ()
    if not levels or not all(isinstance(level, str) and level != "" for level in levels):
        raise ValidationError(f"column path: expected a name or a tuple of names such as ('point', 'x'), got {path!r}")
    return levels


def edit_fields(kind: IcebergType, owner_id: int, change: Callable[[Fields], Fields], here: int = ROOT) -> IcebergType:
    """Return a type in which `change` has replaced the fields of the struct of one field."""
    if here == owner_id and isinstance(kind, StructType):
        return StructType(*change(kind.fields))
    return rebuild_type(
        kind, lambda field: field.with_(field_type=edit_fields(field.field_type, owner_id, change, field.field_id))
    )


def replace_field(kind: IcebergType, new: NestedField) -> IcebergType:
    """Return a type in which `new` replaces the field with its id."""
    return rebuild_type(
        kind,
        lambda field: (
            new if field.field_id == new.field_id else field.with_(field_type=replace_field(field.field_type, new))
        ),
    )


def owner_of(schema: Schema, field_id: int) -> int:
    """Return the id of the field that encloses a field; ROOT at the top level."""
    return schema.parent_ids.get(field_id, ROOT)


def ancestors(schema: Schema, field_id: int) -> list[int]:
    """Return the ids of the fields that enclose a field, innermost first."""
    found: list[int] = []
    while (owner := owner_of(schema, field_id)) != ROOT:
        found.append(owner)
        field_id = owner
    return found


def is_map_key(schema: Schema, field_id: int) -> bool:
    """Return whether a field is a map's key or inside one."""
    chain = [field_id, *ancestors(schema, field_id)]
    for inner, outer in pairwise(chain):
        kind = schema.find_type(outer)
        if isinstance(kind, MapType) and kind.key_id == inner:
            return True
    return False
