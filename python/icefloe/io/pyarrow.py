"""Conversion of Iceberg schemas to Arrow schemas and back. Field ids are in field metadata, under ``PARQUET:field_id``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.io.arrow_expression import expression_to_pyarrow
from icefloe.io.arrow_visitor import PyArrowSchemaVisitor, children, is_list, visit_pyarrow
from icefloe.io.file_io import FileIO
from icefloe.schema import Schema, assign_fresh_schema_ids
from icefloe.schema.change import apply_name_mapping
from icefloe.typedef import EMPTY_DICT
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
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    UnknownType,
    UUIDType,
)
from icefloe.types.arrow import DOC_KEY, FIELD_ID_KEY, field_to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from icefloe.schema.name_mapping import NameMapping

__all__ = [
    "LIST_ELEMENT_NAME",
    "MAP_KEY_NAME",
    "MAP_VALUE_NAME",
    "PYARROW_FIELD_DOC_KEY",
    "PYARROW_PARQUET_FIELD_ID_KEY",
    "UTC_ALIASES",
    "PyArrowFileIO",
    "PyArrowSchemaVisitor",
    "expression_to_pyarrow",
    "pyarrow_to_schema",
    "schema_to_pyarrow",
    "visit_pyarrow",
]

PYARROW_PARQUET_FIELD_ID_KEY = FIELD_ID_KEY
PYARROW_FIELD_DOC_KEY = DOC_KEY
LIST_ELEMENT_NAME = "element"
MAP_KEY_NAME = "key"
MAP_VALUE_NAME = "value"
UTC_ALIASES = frozenset({"UTC", "+00:00", "Etc/UTC", "Z"})


class PyArrowFileIO(FileIO):
    """The class :class:`icefloe.io.FileIO` under PyIceberg's name; it does not use pyarrow's file systems."""

    __slots__ = ()


def schema_to_pyarrow(
    schema: Schema | IcebergType, metadata: dict[bytes, bytes] = EMPTY_DICT, include_field_ids: bool = True
) -> pa.Schema:
    """Return the Arrow schema of scans of an Iceberg schema.

    Args:
        schema: A schema, or a struct type.
        metadata: Metadata of the Arrow schema.
        include_field_ids: Whether the metadata of fields has their field ids.

    >>> from icefloe.types import LongType, NestedField
    >>> schema_to_pyarrow(Schema(NestedField(1, "id", LongType(), required=True)), include_field_ids=False)
    id: int64 not null
    """
    fields = schema.fields if isinstance(schema, (Schema, StructType)) else ()
    return pa.schema([field_to_arrow(field, ids=include_field_ids) for field in fields], dict(metadata) or None)


def pyarrow_to_schema(
    schema: pa.Schema,
    name_mapping: NameMapping | None = None,
    downcast_ns_timestamp_to_us: bool = False,
    format_version: int = 2,
) -> Schema:
    """Return the Iceberg schema of an Arrow schema.

    Field ids come from field metadata if every field has one, else from the name mapping, else they are assigned from 1: first
    all fields of a level, then the fields inside each. Dictionary, run-end, view and large layouts are read as their value types.

    Args:
        schema: The Arrow schema.
        name_mapping: Field ids by name, for a schema without ids.
        downcast_ns_timestamp_to_us: Whether nanosecond timestamps become microsecond timestamps, which loses precision.
        format_version: Format version of the table; nanosecond timestamps need 3.

    Raises:
        FeatureUnsupportedError: A column's Arrow type has no Iceberg type in the format version; the message names the column.
        ValidationError: Some fields have an id and others do not, the name mapping lacks a name, or `schema` is no Arrow schema.

    >>> print(pyarrow_to_schema(pa.schema([pa.field("id", pa.int64(), nullable=False)])))
    table {
      1: id: required long
    }
    """
    if not isinstance(schema, pa.Schema):
        raise ValidationError(f"schema: expected an icefloe.schema.Schema or a pyarrow.Schema, got {schema!r}")
    reader = _ArrowReader(downcast_ns_timestamp_to_us, format_version)
    if _has_all_ids(schema):
        return Schema(*reader.fields(schema, _id_of, ""))
    if name_mapping is not None:
        placeholder = itertools.count(1)
        return apply_name_mapping(Schema(*reader.fields(schema, lambda _: next(placeholder), "")), name_mapping)
    return Schema(*reader.fields_by_level(schema))


class _ArrowReader:
    """Conversion of Arrow fields to Iceberg fields, with the options of one call."""

    def __init__(self, downcast: bool, format_version: int) -> None:
        self.downcast, self.format_version = downcast, format_version

    def fields(self, fields: Iterable[pa.Field], number: Callable[[pa.Field], int], path: str) -> list[NestedField]:
        return [
            NestedField(
                number(field),
                field.name,
                self.type_of(field.type, number, path + field.name),
                not field.nullable,
                _doc_of(field),
            )
            for field in fields
        ]

    def fields_by_level(self, schema: pa.Schema) -> tuple[NestedField, ...]:
        placeholder = itertools.count(1)
        return assign_fresh_schema_ids(Schema(*self.fields(schema, lambda _: next(placeholder), ""))).fields

    def type_of(self, kind: pa.DataType, number: Callable[[pa.Field], int], path: str) -> IcebergType:
        types = pa.types
        if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
            return self.type_of(kind.value_type, number, path)
        if isinstance(kind, pa.BaseExtensionType):
            return UUIDType() if kind == pa.uuid() else self.type_of(kind.storage_type, number, path)
        if types.is_struct(kind):
            return StructType(*self.fields(children(kind), number, f"{path}."))
        if types.is_map(kind):
            key, value = kind.key_field, kind.item_field
            return MapType(
                number(key),
                self.type_of(key.type, number, f"{path}.key"),
                number(value),
                self.type_of(value.type, number, f"{path}.value"),
                not value.nullable,
            )
        if is_list(kind):
            element = kind.value_field
            return ListType(
                number(element), self.type_of(element.type, number, f"{path}.element"), not element.nullable
            )
        return self.primitive(kind, path)

    def primitive(self, kind: pa.DataType, path: str) -> PrimitiveType:
        types = pa.types
        if types.is_timestamp(kind):
            return self.timestamp(cast("pa.TimestampType", kind), path)
        if types.is_decimal(kind):
            if kind.precision > 38:
                raise FeatureUnsupportedError(
                    f"column {path}: {kind} has more than 38 digits; cast the column to a precision of at most 38"
                )
            return DecimalType(kind.precision, kind.scale)
        if types.is_fixed_size_binary(kind):
            return FixedType(kind.byte_width)
        if types.is_time(kind):
            if kind.unit == "ns":
                raise FeatureUnsupportedError(
                    f"column {path}: Arrow type {kind} has no Iceberg type; cast the column to time64[us]"
                )
            return TimeType()
        for matches, primitive in _PRIMITIVES:
            if matches(kind):
                return primitive
        raise FeatureUnsupportedError(f"column {path}: Arrow type {kind} has no Iceberg type; cast or drop the column")

    def timestamp(self, kind: pa.TimestampType, path: str) -> PrimitiveType:
        if kind.tz is not None and kind.tz not in UTC_ALIASES:
            raise FeatureUnsupportedError(
                f"column {path}: time zone {kind.tz} of Arrow type {kind}; expected UTC, cast the column to timestamp[{kind.unit}, tz=UTC]"
            )
        if kind.unit == "ns" and not self.downcast:
            if self.format_version < 3:
                raise FeatureUnsupportedError(
                    f"column {path}: Arrow type {kind} needs format version 3, got {self.format_version}; cast the column to microseconds or set downcast_ns_timestamp_to_us"
                )
            return TimestampNanoType() if kind.tz is None else TimestamptzNanoType()
        return TimestampType() if kind.tz is None else TimestamptzType()


def _is_small_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_int8(kind) or pa.types.is_int16(kind) or pa.types.is_int32(kind)) or kind in {
        pa.uint8(),
        pa.uint16(),
    }


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind)) or str(kind) == "string_view"


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind)) or str(kind) == "binary_view"


# The Iceberg type of the first function that accepts an Arrow type. No Iceberg type holds unsigned 64-bit integers.
_PRIMITIVES: list[tuple[Callable[[pa.DataType], bool], PrimitiveType]] = [
    (pa.types.is_boolean, BooleanType()),
    (_is_small_integer, IntegerType()),
    (lambda kind: kind in {pa.int64(), pa.uint32()}, LongType()),
    (lambda kind: kind in {pa.float16(), pa.float32()}, FloatType()),
    (pa.types.is_float64, DoubleType()),
    (pa.types.is_date, DateType()),
    (_is_text, StringType()),
    (_is_bytes, BinaryType()),
    (pa.types.is_null, UnknownType()),
]


def _has_all_ids(fields: Iterable[pa.Field]) -> bool:
    """Return whether every field of every depth has an id; ValidationError if only some fields have."""
    has_id = [bool(field.metadata and FIELD_ID_KEY in field.metadata) for field in _every(fields)]
    if any(has_id) and not all(has_id):
        raise ValidationError(
            f"Arrow schema: some fields have an id in {FIELD_ID_KEY.decode()} and some do not; expected ids for all fields or none"
        )
    return len(has_id) > 0 and all(has_id)


def _every(fields: Iterable[pa.Field]) -> Iterable[pa.Field]:
    for field in fields:
        yield field
        yield from _every(children(field.type))


def _id_of(field: pa.Field) -> int:
    return int(field.metadata[FIELD_ID_KEY])


def _doc_of(field: pa.Field) -> str | None:
    doc = None if field.metadata is None else field.metadata.get(DOC_KEY)
    return None if doc is None else cast("str", doc.decode())
