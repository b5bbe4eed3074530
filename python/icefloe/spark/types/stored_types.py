"""Rows from Spark as data files have them: the table's names, ``uuid`` and ``fixed`` as fixed-size binary, numbers in its width."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.spark.types.conform import matched_names
from icefloe.spark.types.to_spark import to_arrow_type
from icefloe.spark.types.uuid_text import text_to_uuid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def to_stored_types(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch], schema: str) -> pa.RecordBatchReader:
    """Return batches from Spark as a stream with the table's column names and in the Arrow types of data files.

    Columns are matched by name, exactly or else ignoring case; the fields of structs, at any depth, get the table's names. Timestamps keep the session's time zone, which does not change the instant.

    Args:
        first: First batch, already taken from the iterator.
        rest: The other batches.
        schema: Table schema JSON.

    Raises:
        FeatureUnsupportedError: A ``uuid`` or ``fixed`` is inside a nested type.
        SchemaMismatchError: A text is no UUID.
    """
    types = {field["name"]: stored_type(field["name"], field["type"]) for field in json.loads(schema)["fields"]}
    batches = itertools.chain([first], rest)
    names = {given: name for name, given in matched_names(first.schema.names, list(types)).items()}
    named = [field.with_name(names.get(field.name, field.name)) for field in first.schema]
    fields = [_stored_field(field, types.get(field.name)) for field in named]
    if fields == list(first.schema):
        return pa.RecordBatchReader.from_batches(first.schema, batches)
    stored = pa.schema(fields)

    def convert() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            arrays = [_converted(values, field) for values, field in zip(batch.columns, stored, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=stored)

    return pa.RecordBatchReader.from_batches(stored, convert())


def _stored_field(field: pa.Field, stored: pa.DataType | None) -> pa.Field:
    if stored is None or pa.types.is_timestamp(stored):
        return field
    if pa.types.is_nested(stored):
        return field.with_type(_named_as(field.type, stored))
    return pa.field(field.name, stored, nullable=field.nullable)


def _named_as(given: pa.DataType, stored: pa.DataType) -> pa.DataType:
    """Return a type whose structs, at any depth, have the names that another type has for their fields; the order stays."""
    if pa.types.is_struct(given) and pa.types.is_struct(stored):
        kinds = {field.name: field.type for field in stored}
        names = {own: name for name, own in matched_names([field.name for field in given], [*kinds]).items()}
        return pa.struct([_renamed(field, names.get(field.name), kinds) for field in given])
    if pa.types.is_list(given) and pa.types.is_list(stored):
        return pa.list_(given.value_field.with_type(_named_as(given.value_type, stored.value_type)))
    if pa.types.is_map(given) and pa.types.is_map(stored):
        key = given.key_field.with_type(_named_as(given.key_type, stored.key_type))
        return pa.map_(key, given.item_field.with_type(_named_as(given.item_type, stored.item_type)))
    return given


def _renamed(field: pa.Field, name: str | None, kinds: Mapping[str, pa.DataType]) -> pa.Field:
    return field if name is None else field.with_name(name).with_type(_named_as(field.type, kinds[name]))


class _Renamed:
    """Values under a type of the same layout, by the Arrow C data interface: casts find the fields of structs by their names."""

    def __init__(self, values: pa.Array, kind: pa.DataType) -> None:
        self._values = values
        self._kind = kind

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._kind.__arrow_c_schema__(), self._values.__arrow_c_array__()[1]


def _converted(values: pa.Array, field: pa.Field) -> pa.Array:
    if values.type == field.type:
        return values
    if pa.types.is_nested(field.type):
        return pa.array(_Renamed(values, field.type))
    if pa.types.is_fixed_size_binary(field.type) and not pa.types.is_binary(values.type):
        return text_to_uuid(values, field.name)
    return values.cast(field.type)


def stored_type(column: str, iceberg_type: Any) -> pa.DataType:
    """Return the Arrow type that data files have for an Iceberg type, given in its JSON form."""
    if not isinstance(iceberg_type, str):
        text = json.dumps(iceberg_type)
        if '"uuid"' in text or '"fixed[' in text:
            raise FeatureUnsupportedError(
                f"column {column!r}: Spark cannot write a uuid or fixed inside a nested type; expected it at top level, got "
                f"{iceberg_type['type']}: write the table from Python instead"
            )
        return to_arrow_type(iceberg_type)
    if iceberg_type == "uuid":
        return pa.binary(16)
    if iceberg_type.startswith("fixed"):
        return pa.binary(int(iceberg_type.removeprefix("fixed").strip("[] ")))
    return to_arrow_type(iceberg_type)
