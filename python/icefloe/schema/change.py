"""Schemas derived from schemas: selected, renumbered, renamed columns."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from icefloe.schema.index import child_fields, index_by_id, walk
from icefloe.schema.schema import INITIAL_SCHEMA_ID, Schema
from icefloe.types import IcebergType, ListType, MapType, NestedField, StructType

if TYPE_CHECKING:
    from collections.abc import Callable


def rebuild_type(kind: IcebergType, change: Callable[[NestedField], NestedField | None]) -> IcebergType:
    """Return a type with each field directly below it replaced by ``change(field)``; a None drops a struct's field."""
    if isinstance(kind, StructType):
        return StructType(*(changed for field in kind.fields if (changed := change(field)) is not None))
    changed_fields = [change(field) or field for field in child_fields(kind)]
    if isinstance(kind, ListType):
        element = changed_fields[0]
        return ListType(element.field_id, element.field_type, element.required)
    if isinstance(kind, MapType):
        key, value = changed_fields
        return MapType(key.field_id, key.field_type, value.field_id, value.field_type, value.required)
    return kind


def prune_columns(schema: Schema, selected: set[int], select_full_types: bool = True) -> Schema:
    """Return the schema of the selected ids and of what lies around them.

    Args:
        schema: The schema to select from.
        selected: Ids of any depth.
        select_full_types: Whether a selected struct brings all its fields, or only those selected themselves.
    """

    def prune(field: NestedField) -> NestedField | None:
        kind = field.field_type
        if field.field_id in selected and (select_full_types or not kind.is_struct):
            return field
        if isinstance(kind, StructType):
            inner = rebuild_type(kind, prune)
            kept = field.field_id in selected or (isinstance(inner, StructType) and inner.fields)
            return field.with_(field_type=inner) if kept else None
        if not any(child.field_id in selected for child, _, _ in walk(kind)):
            return None
        return field.with_(field_type=rebuild_type(kind, prune))

    fields = [kept for field in schema.fields if (kept := prune(field)) is not None]
    known = set(index_by_id(StructType(*fields)))
    return Schema(
        fields=tuple(fields),
        schema_id=schema.schema_id,
        identifier_field_ids=[field_id for field_id in schema.identifier_field_ids if field_id in known],
    )


def assign_fresh_type_ids(
    kind: IcebergType, next_id: Callable[[], int], fresh: dict[int, int] | None = None
) -> IcebergType:
    """Return a type with new ids: all fields of a level first, then what is inside each.

    Args:
        kind: The type.
        next_id: Gives one id after the other.
        fresh: Receives the new id of each old one.
    """
    children = child_fields(kind)
    ids = [next_id() for _ in children]
    if fresh is not None:
        fresh.update({field.field_id: new for field, new in zip(children, ids, strict=True)})
    queue = iter(ids)
    return rebuild_type(
        kind,
        lambda field: field.with_(
            field_id=next(queue), field_type=assign_fresh_type_ids(field.field_type, next_id, fresh)
        ),
    )


def assign_fresh_schema_ids(schema: Schema, next_id: Callable[[], int] | None = None) -> Schema:
    """Return the schema with new ids from 1: all fields of a level first, then what is inside each. Spec: Column ids."""
    fresh: dict[int, int] = {}
    struct = assign_fresh_type_ids(
        schema.as_struct(), itertools.count(1).__next__ if next_id is None else next_id, fresh
    )
    assert isinstance(struct, StructType)
    return Schema(
        fields=struct.fields,
        schema_id=INITIAL_SCHEMA_ID,
        identifier_field_ids=[fresh[field_id] for field_id in schema.identifier_field_ids],
    )


def make_compatible_name(name: str) -> str:
    """Return a name that Avro allows: other characters become ``_x`` and their UTF-16 units in hexadecimal.

    >>> make_compatible_name("a.b"), make_compatible_name("9x")
    ('a_x2Eb', '_9x')
    """
    safe = []
    for position, character in enumerate(name):
        if character == "_" or character.isalpha() or (position > 0 and character.isdigit()):
            safe.append(character)
        elif character.isdigit():
            safe.append(f"_{character}")
        else:
            units = character.encode("utf-16-be")
            safe += [f"_x{int.from_bytes(units[at : at + 2], 'big'):X}" for at in range(0, len(units), 2)]
    return "".join(safe)


def sanitize_column_names(schema: Schema) -> Schema:
    """Return the schema with every name of every depth made compatible with Avro."""

    def rename(field: NestedField) -> NestedField:
        return field.with_(name=make_compatible_name(field.name), field_type=rebuild_type(field.field_type, rename))

    return Schema(
        fields=tuple(map(rename, schema.fields)),
        schema_id=schema.schema_id,
        identifier_field_ids=schema.identifier_field_ids,
    )
