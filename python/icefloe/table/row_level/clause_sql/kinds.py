"""The types of SQL values: one Arrow type for each SQL type, and the common type of two."""

from __future__ import annotations

import pyarrow as pa

UUID = pa.binary(16)
"""The type of UUIDs alone: `fixed` columns are `binary` here."""
_INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
_DIGITS = dict(zip(_INTEGERS, (3, 5, 10, 20), strict=True))
_WIDENED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20, 0)}
MAX_DIGITS = 38
_MIN_SCALE = 6
_MAX_WIDE_DIGITS = 76


def canonical(kind: pa.DataType) -> pa.DataType:
    """Return the type in which values of a column's type are evaluated; nested types unchanged."""
    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return canonical(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return UUID if isinstance(kind, getattr(pa, "UuidType", ())) else canonical(kind.storage_type)
    if kind in _WIDENED:
        return _WIDENED[kind]
    if types.is_float16(kind):
        return pa.float32()
    if types.is_decimal(kind):
        precision, scale = (kind.precision, kind.scale) if kind.scale >= 0 else (kind.precision - kind.scale, 0)
        return pa.decimal128(max(precision, scale), scale) if max(precision, scale) <= MAX_DIGITS else kind
    if types.is_large_string(kind) or str(kind) == "string_view":
        return pa.string()
    if types.is_large_binary(kind) or types.is_fixed_size_binary(kind) or str(kind) == "binary_view":
        return pa.binary()
    if types.is_date(kind):
        return pa.date32()
    if types.is_timestamp(kind):
        unit = "ns" if kind.unit == "ns" else "us"
        return pa.timestamp(unit) if kind.tz is None else pa.timestamp(unit, "UTC")
    return pa.time64("us") if types.is_time(kind) else kind


def plain(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column's values in its canonical type."""
    if isinstance(column, pa.ExtensionArray):
        return plain(column.storage, kind)
    if pa.types.is_dictionary(column.type):
        return plain(column.dictionary_decode(), kind)
    if pa.types.is_run_end_encoded(column.type):
        from pyarrow import compute as pc

        return plain(pc.run_end_decode(column), kind)
    return column if column.type == kind else column.cast(kind)


def is_integer(kind: pa.DataType) -> bool:
    """Return whether a type is an integer type."""
    return kind in _DIGITS


def is_number(kind: pa.DataType) -> bool:
    """Return whether a type is a numeric type."""
    return bool(is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_known(kind: pa.DataType) -> bool:
    """Return whether values of a type can be compared."""
    types = pa.types
    known = {pa.null(), pa.bool_(), pa.string(), pa.binary(), UUID, pa.date32(), pa.time64("us")}
    return bool(kind in known or is_number(kind) or types.is_timestamp(kind))


def name_of(kind: pa.DataType) -> str:
    """Return a type's name in SQL."""
    names = {
        pa.null(): "void",
        pa.bool_(): "boolean",
        pa.int8(): "tinyint",
        pa.int16(): "smallint",
        pa.int32(): "int",
        pa.int64(): "bigint",
        pa.float32(): "float",
        pa.float64(): "double",
        pa.date32(): "date",
        pa.time64("us"): "time",
        UUID: "uuid",
    }
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is not None else "timestamp_ntz"
    return names.get(kind, str(kind))


def common(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the common type of two operands, as in Spark's ANSI mode; None if there is none.

    Decimals are compared exactly: unlike in Spark, the common type may have 76 digits.
    """
    if left == right or right == pa.null():
        return left
    if left == pa.null():
        return right
    if {left, right} == {UUID, pa.binary()}:
        return UUID
    if pa.types.is_string(left) or pa.types.is_string(right):
        return _common_with_text(right if pa.types.is_string(left) else left)
    if is_number(left) and is_number(right):
        return _common_number(left, right)
    moments = [kind for kind in (left, right) if pa.types.is_timestamp(kind)]
    if not moments or not all(kind == pa.date32() for kind in (left, right) if not pa.types.is_timestamp(kind)):
        return None
    unit = "ns" if any(kind.unit == "ns" for kind in moments) else "us"
    return pa.timestamp(unit, "UTC") if any(kind.tz is not None for kind in moments) else pa.timestamp(unit)


def _common_with_text(other: pa.DataType) -> pa.DataType | None:
    if is_integer(other):
        return pa.int64()
    if is_number(other):
        return pa.float64()
    return other if is_known(other) else None


def _common_number(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if is_integer(left) and is_integer(right):
        return max(left, right, key=_INTEGERS.index)
    if pa.types.is_floating(left) or pa.types.is_floating(right):
        return pa.float64()
    first, second = as_decimal(left), as_decimal(right)
    scale = max(first.scale, second.scale)
    return decimal(max(first.precision - first.scale, second.precision - second.scale) + scale, scale)


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """Return the decimal type of all values of an integer type; decimal types unchanged."""
    return pa.decimal128(_DIGITS[kind], 0) if kind in _DIGITS else kind


def decimal(precision: int, scale: int) -> pa.DataType:
    """Return a decimal type of at most 76 digits."""
    return pa.decimal128(precision, scale) if precision <= MAX_DIGITS else pa.decimal256(precision, scale)


def wide(scale: int) -> pa.DataType:
    """Return the widest decimal type of a scale."""
    return pa.decimal256(_MAX_WIDE_DIGITS, scale)


def adjusted(precision: int, scale: int) -> pa.DataType:
    """Return the type of a decimal result; beyond 38 digits a smaller scale leaves room for the integer digits."""
    if precision <= MAX_DIGITS:
        return pa.decimal128(precision, scale)
    return pa.decimal128(MAX_DIGITS, max(MAX_DIGITS - (precision - scale), min(scale, _MIN_SCALE)))
