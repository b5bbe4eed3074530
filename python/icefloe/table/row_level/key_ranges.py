"""The least and greatest keys of a merge's source, as a filter that prunes files of the target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import SchemaMismatchError
from icefloe.expressions import AlwaysFalse, AlwaysTrue, And, GreaterThanOrEqual, In, IsNull, LessThanOrEqual, Or
from icefloe.expressions.literals import DateLiteral, LongLiteral, TimeLiteral, TimestampLiteral

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from icefloe.expressions import BooleanExpression

MAX_VALUES = 200
"""Distinct keys above which files are pruned by the range of the keys, not by their values."""


def between(key: str, least: Any, greatest: Any) -> BooleanExpression:
    """Return the filter of keys from `least` to `greatest`, both included."""
    return And(GreaterThanOrEqual(key, least), LessThanOrEqual(key, greatest))


def key_ranges(source: pa.Table, on: Sequence[str], null_safe: Collection[str] = ()) -> BooleanExpression:
    """Return a filter that is true for every target row whose keys equal the keys of a source row.

    Keys of boolean, binary and floating-point types do not restrict it. A key that is null in every source row matches nothing,
    which makes the filter false, unless null equals null.

    Args:
        source: The key columns, by the names of the target's columns.
        on: Key columns.
        null_safe: Key columns in which null equals null.

    Raises:
        SchemaMismatchError: A text is not UTF-8.
    """
    ranges: BooleanExpression = AlwaysTrue()
    for key in on:
        column = storage_of(source.column(key))
        if pa.types.is_nested(column.type) or pa.types.is_boolean(column.type) or _is_bytes(column.type):
            continue
        with_nulls = key in null_safe and column.null_count > 0
        try:
            found = _matching(key, column)
        except UnicodeDecodeError as error:
            raise SchemaMismatchError(
                f"column {key}: the data does not fit; expected text in UTF-8, got bytes that are not UTF-8"
            ) from error
        if isinstance(found, AlwaysFalse) and not with_nulls:
            return found
        ranges = And(ranges, Or(found, IsNull(key)) if with_nulls else found)
    return ranges


def _matching(key: str, column: pa.ChunkedArray) -> BooleanExpression:
    """Return the filter of the values of a column, by its distinct values if they are few."""
    bounds = pc.min_max(column)
    if not bounds["min"].is_valid:
        return AlwaysFalse()
    if pa.types.is_floating(column.type):
        return AlwaysTrue()
    if len(pc.unique(column.slice(0, 8 * MAX_VALUES))) <= MAX_VALUES:
        values = pc.unique(column).drop_null()
        if len(values) <= MAX_VALUES:
            return In(key, [_literal(value) for value in values])
    return between(key, _literal(bounds["min"]), _literal(bounds["max"]))


def storage_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in the storage type of its extension type; other columns unchanged."""
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _literal(bound: pa.Scalar) -> Any:
    """Return a bound as a literal; dates and timestamps as numbers, because Python's calendar ends in the year 9999."""
    kind = bound.type
    if pa.types.is_date(kind):
        return DateLiteral(bound.cast(pa.int32()).as_py())
    if pa.types.is_time(kind):
        return TimeLiteral(bound.cast(pa.int64()).as_py())
    if pa.types.is_timestamp(kind):
        count = bound.cast(pa.int64()).as_py()
        return LongLiteral(count) if kind.unit == "ns" else TimestampLiteral(count, kind.tz is not None)
    return bound.as_py()
