"""Schemas derived from schemas: selected, renumbered, renamed columns, and types that may be read as others. Spec: Schema Evolution."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.schema.fields import assign_fresh_type_ids, rebuild_type, selected_fields
from icefloe.schema.schema import INITIAL_SCHEMA_ID, Schema
from icefloe.types import (
    BinaryType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    UnknownType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.schema.name_mapping import NameMapping


def prune_columns(schema: Schema, selected: set[int], select_full_types: bool = True) -> Schema:
    """Return the schema of the selected ids and of what lies around them.

    Args:
        schema: The schema to select from.
        selected: Ids of any depth.
        select_full_types: Whether a selected struct brings all its fields, or only those selected themselves.

    Raises:
        ValidationError: A list or a map is selected by its own id without `select_full_types`.
    """
    if not select_full_types:
        for field_id in sorted(selected & schema.field_ids):
            field = schema.find_field(field_id)
            if isinstance(field.field_type, (ListType, MapType)):
                raise ValidationError(
                    "Cannot explicitly project List or Map types, "
                    f"{field_id}:{field.name} of type {field.field_type} was selected; select its element, key or value"
                )
    return schema.with_columns(selected_fields(schema.fields, selected, select_full_types))


def assign_fresh_schema_ids(schema_or_type: Schema, next_id: Callable[[], int] | None = None) -> Schema:
    """Return the schema with new ids from 1: all fields of a level first, then what is inside each. Spec: Column ids."""
    fresh: dict[int, int] = {}
    struct = assign_fresh_type_ids(
        schema_or_type.as_struct(), itertools.count(1).__next__ if next_id is None else next_id, fresh
    )
    assert isinstance(struct, StructType)
    return Schema(
        fields=struct.fields,
        schema_id=INITIAL_SCHEMA_ID,
        identifier_field_ids=[fresh[field_id] for field_id in schema_or_type.identifier_field_ids],
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


def promote(file_type: IcebergType, read_type: IcebergType) -> IcebergType:
    """Return ``read_type`` if values written as ``file_type`` may be read as it; ResolveError if not. Spec: Schema Evolution."""
    if file_type == read_type or isinstance(file_type, UnknownType):
        return read_type
    allowed: dict[type[PrimitiveType], tuple[type[PrimitiveType], ...]] = {
        IntegerType: (LongType,),
        FloatType: (DoubleType,),
        StringType: (BinaryType,),
        BinaryType: (StringType,),
        FixedType: (BinaryType,),
    }
    if isinstance(file_type, PrimitiveType) and isinstance(read_type, allowed.get(type(file_type), ())):
        return read_type
    if isinstance(file_type, DecimalType) and isinstance(read_type, DecimalType):
        widened = file_type.scale == read_type.scale and file_type.precision <= read_type.precision
        if widened:
            return read_type
    raise ResolveError(f"Cannot promote {file_type} to {read_type}: its values cannot be read as {read_type}")


def apply_name_mapping(schema_without_ids: Schema, name_mapping: NameMapping) -> Schema:
    """Return a schema with the ids that a mapping gives to its names; ValidationError for a name it does not have."""

    def number(field: NestedField, path: tuple[str, ...]) -> NestedField:
        here = (*path, field.name)
        found = name_mapping.find(*here)
        if found.field_id is None:
            raise ValidationError(f"the name mapping has no id for {'.'.join(here)!r}")
        inner = rebuild_type(field.field_type, lambda child: number(child, here))
        return field.with_(field_id=found.field_id, field_type=inner)

    return Schema(*(number(field, ()) for field in schema_without_ids.fields), schema_id=schema_without_ids.schema_id)
