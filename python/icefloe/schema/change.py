"""Schemas derived from schemas: selected, renumbered and renamed columns, promoted types. Spec: Schema Evolution."""

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
    """Return the schema of the selected fields, with the fields around them.

    Args:
        schema: The schema to select from.
        selected: Field ids of any depth; unknown ids are ignored.
        select_full_types: Whether a selected struct includes all its fields, or only the selected ones.

    Raises:
        ValidationError: A list or a map is selected by its own id and `select_full_types` is false.

    >>> from icefloe.types import NestedField
    >>> schema = Schema(NestedField(1, "id", "long"), NestedField(2, "name", "string"))
    >>> prune_columns(schema, {2}).column_names
    ['name']
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
    """Return the schema with new field ids from 1: first all fields of a level, then the fields inside each."""
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
    """Return a name that Avro allows: other characters become ``_x`` and their UTF-16 code units in hexadecimal.

    Letters and decimal digits of the basic multilingual plane are allowed, and ``_``.

    >>> make_compatible_name("a.b"), make_compatible_name("9x")
    ('a_x2Eb', '_9x')
    """
    safe = []
    for position, character in enumerate(name):
        # The Java reference tests single UTF-16 units, and a surrogate is neither a letter nor a digit.
        is_single = ord(character) <= 0xFFFF
        is_digit = is_single and character.isdecimal()
        if character == "_" or (is_single and character.isalpha()) or (position > 0 and is_digit):
            safe.append(character)
        elif is_digit:
            safe.append(f"_{character}")
        else:
            units = character.encode("utf-16-be")
            safe += [f"_x{int.from_bytes(units[at : at + 2], 'big'):X}" for at in range(0, len(units), 2)]
    return "".join(safe)


def sanitize_column_names(schema: Schema) -> Schema:
    """Return the schema with the names of every depth made compatible with Avro."""

    def rename(field: NestedField) -> NestedField:
        return field.with_(name=make_compatible_name(field.name), field_type=rebuild_type(field.field_type, rename))

    return Schema(
        fields=tuple(map(rename, schema.fields)),
        schema_id=schema.schema_id,
        identifier_field_ids=schema.identifier_field_ids,
    )


def promote(file_type: IcebergType, read_type: IcebergType) -> IcebergType:
    """Return ``read_type`` if values of ``file_type`` may be read as it. Spec: Schema Evolution.

    Raises:
        ResolveError: The promotion is not allowed.

    >>> from icefloe.types import IntegerType, LongType
    >>> promote(IntegerType(), LongType())
    LongType()
    """
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
    raise ResolveError(
        f"Cannot promote {file_type} to {read_type}: its values cannot be read as {read_type}; "
        "expected int to long, float to double, or a decimal of higher precision and the same scale"
    )


def apply_name_mapping(schema_without_ids: Schema, name_mapping: NameMapping) -> Schema:
    """Return a schema with the field ids of a name mapping. Spec: Column Projection.

    Args:
        schema_without_ids: The schema of a file; its field ids are ignored.
        name_mapping: The mapping of the table.

    Raises:
        ValidationError: The mapping has no field, or no field id, for a name of the schema.
    """

    def number(field: NestedField, path: tuple[str, ...]) -> NestedField:
        here = (*path, field.name)
        mapped = name_mapping.find(*here)
        if mapped.field_id is None:
            raise ValidationError(
                f"name mapping: no field id for column {'.'.join(here)!r}; add one to property schema.name-mapping.default"
            )
        inner = rebuild_type(field.field_type, lambda child: number(child, here))
        return field.with_(field_id=mapped.field_id, field_type=inner)

    return Schema(*(number(field, ()) for field in schema_without_ids.fields), schema_id=schema_without_ids.schema_id)
