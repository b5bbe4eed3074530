"""Arrow values as JSON values: ids as strings, times in ISO 8601 in UTC, bytes as hexadecimal text."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Structs with names of the user's own columns, whose values are not ids of the format.
_OF_USERS = {"partition", "readable_metrics"}


def rows_as_json(rows: pa.Table | pa.RecordBatch, *, ids_as_text: bool = True) -> Iterator[dict[str, Any]]:
    """Yield rows as JSON objects.

    Args:
        rows: The rows.
        ids_as_text: Whether whole numbers in columns that end with `_id` or `_ids` become strings: JSON readers with floating-point
            numbers round 64-bit ids.
    """
    converters = [_converter(field.type, field.name, ids_as_text=ids_as_text) for field in rows.schema]
    names = rows.schema.names
    columns = [_with_texts(column).to_pylist() for column in rows.columns]
    for values in zip(*columns, strict=True):
        yield {name: convert(value) for name, convert, value in zip(names, converters, values, strict=True)}


def json_value(value: Any) -> Any:
    """Return a Python value as a JSON value."""
    plain: Callable[[Any], Any] | None = _PYTHON.get(type(value))
    if plain is not None:
        return plain(value)
    if isinstance(value, dict):
        return {str(key): json_value(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(one) for one in value]
    return value


def is_id(name: str) -> bool:
    """Return whether a column of this name holds ids of the format."""
    return name.endswith(("_id", "_ids"))


def _with_texts(column: Any) -> Any:
    """Return a column with timestamps as text: Python has no values for nanoseconds and for distant years."""
    if not pa.types.is_timestamp(column.type):
        return column
    text = column.cast(pa.string())
    return pc.replace_substring(text, " ", "T", max_replacements=1)


def _converter(kind: pa.DataType, name: str, *, ids_as_text: bool) -> Callable[[Any], Any]:
    if pa.types.is_struct(kind):
        inner = ids_as_text and name not in _OF_USERS
        parts = {field.name: _converter(field.type, field.name, ids_as_text=inner) for field in kind}
        return lambda value: None if value is None else {key: parts[key](one) for key, one in value.items()}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        item = _converter(kind.value_type, name, ids_as_text=ids_as_text)
        return lambda value: None if value is None else [item(one) for one in value]
    if pa.types.is_map(kind):
        return _map_converter(kind, name, ids_as_text=ids_as_text)
    if ids_as_text and is_id(name) and pa.types.is_integer(kind):
        return lambda value: None if value is None else str(value)
    return json_value


def _map_converter(kind: pa.MapType, name: str, *, ids_as_text: bool) -> Callable[[Any], Any]:
    item = _converter(kind.item_type, name, ids_as_text=ids_as_text)
    return lambda value: None if value is None else {str(json_value(key)): item(one) for key, one in value}


def _float(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _datetime(value: datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat()
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


_PYTHON: dict[type, Callable[[Any], Any]] = {
    float: _float,
    datetime: _datetime,
    date: date.isoformat,
    time: time.isoformat,
    Decimal: str,
    bytes: bytes.hex,
    UUID: str,
}
