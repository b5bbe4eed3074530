"""CAST as in Spark's ANSI mode: values out of the range of the new type are errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql import kinds

if TYPE_CHECKING:
    from collections.abc import Callable

_WHOLE = r"^[+-]?[0-9]+$"
_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_FLOAT = r"^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity))$|^(?i:nan)$"
_DATE = r"^\+?0{0,3}(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})(?:[ T](?s:.*))?)?)?$"
_TIME = r"^[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?"
_ZONE = r"(Z|[+-][0-9]{2}:?[0-9]{2})$"
_TRUE, _FALSE = ["t", "true", "y", "yes", "1"], ["f", "false", "n", "no", "0"]


def can_cast(source: pa.DataType, target: pa.DataType) -> bool:
    """Return whether `cast` converts values of one type to another."""
    return source == target or source == pa.null() or _family(target) in _CASTS.get(_family(source), {})


def cast(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Return values in another type.

    Raises:
        ValidationError: A text is no value of the type.
        pyarrow.ArrowInvalid: A value is out of the type's range.
    """
    if values.type == target:
        return values
    if values.type == pa.null():
        return pa.nulls(len(values), target)
    return _CASTS[_family(values.type)][_family(target)](values, target)


def rounded(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Return decimals in a decimal type, halves away from zero."""
    if values.type.scale > target.scale:
        values = pc.round(values.cast(kinds.wide(values.type.scale)), target.scale, "half_towards_infinity")
    return values.cast(target)


def _family(kind: pa.DataType) -> str:
    types = pa.types
    if kinds.is_integer(kind):
        return "whole"
    if types.is_decimal(kind):
        return "decimal"
    if types.is_floating(kind):
        return "float"
    if types.is_timestamp(kind):
        return "local" if kind.tz is None else "instant"
    return "binary" if kind == pa.binary() else str(kind)


def _arrow(values: pa.Array, target: pa.DataType) -> pa.Array:
    return values.cast(target)


def _inexact(values: pa.Array, target: pa.DataType) -> pa.Array:
    return values.cast(target, safe=False)


def _cut(values: pa.Array, target: pa.DataType) -> pa.Array:
    return pc.trunc(values).cast(target)


def _whole_to_decimal(values: pa.Array, target: pa.DataType) -> pa.Array:
    return values.cast(kinds.as_decimal(values.type)).cast(target)


def _decimal_to_float(values: pa.Array, target: pa.DataType) -> pa.Array:
    # Arrow's conversion may be wrong in the last bit; its conversions to and from text are exact.
    return values.cast(pa.string()).cast(target)


def _float_to_decimal(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Round the shortest text of each number, as Spark does. Numbers below 1 need a larger scale for their 17 digits."""
    if not pc.all(pc.is_finite(values)).as_py() and values.null_count < len(values):
        raise ValidationError(f"cast to {kinds.name_of(target)}: expected finite numbers, got NaN or Infinity")
    small = pc.less(pc.abs(values), 1.0)
    nothing = pa.scalar(None, pa.string())
    negligible = pc.less(pc.abs(values), 1e-50)
    texts = pc.if_else(negligible, pa.scalar("0"), values.cast(pa.string()))
    below = rounded(pc.if_else(small, texts, nothing).cast(kinds.wide(75)), target)
    above = rounded(pc.if_else(small, nothing, texts).cast(kinds.wide(30)), target)
    return pc.coalesce(below, above)


def _spelled(values: pa.Array, pattern: str, target: pa.DataType) -> pa.Array:
    """Return trimmed texts; ValidationError if one does not match the pattern."""
    trimmed = pc.utf8_trim_whitespace(values)
    fits = pc.fill_null(pc.match_substring_regex(trimmed, pattern), True)
    if not pc.all(fits).as_py():
        first = trimmed.filter(pc.invert(fits))[0].as_py()
        raise ValidationError(f"cast to {kinds.name_of(target)}: the text {first!r} is no {kinds.name_of(target)}")
    return trimmed


def _without_plus(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, r"^\+", "")


def _decimal_to_text(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Return all digits of each number: Arrow writes numbers below 0.000001 with an exponent."""
    is_wide = values.type.bit_width > pa.decimal128(1).bit_width
    texts = values.view(kinds.wide(0) if is_wide else pa.decimal128(kinds.MAX_DIGITS, 0)).cast(target)
    scale = values.type.scale
    if scale == 0:
        return texts
    sign = pc.if_else(pc.starts_with(texts, "-"), "-", "")
    digits = pc.utf8_lpad(pc.utf8_ltrim(texts, characters="-"), scale + 1, "0")
    whole, fraction = pc.utf8_slice_codeunits(digits, 0, -scale), pc.utf8_slice_codeunits(digits, -scale)
    return pc.binary_join_element_wise(sign, whole, ".", fraction, "")


def _moment_to_text(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Return timestamps, in UTC, without the zeros at the end of their fractions; years after 9999 have a sign, as in Spark."""
    texts = values.cast(pa.timestamp(values.type.unit)).cast(target)
    shortened = pc.replace_substring_regex(texts, r"(\.[0-9]*[1-9])0+$|\.0+$", r"\1")
    return pc.replace_substring_regex(shortened, r"^([0-9]{5,})", r"+\1")


def _text_to_whole(values: pa.Array, target: pa.DataType) -> pa.Array:
    return _without_plus(_spelled(values, _WHOLE, target)).cast(target)


def _text_to_float(values: pa.Array, target: pa.DataType) -> pa.Array:
    return _without_plus(_spelled(values, _FLOAT, target)).cast(target)


def _text_to_decimal(values: pa.Array, target: pa.DataType) -> pa.Array:
    return rounded(_without_plus(_spelled(values, _NUMBER, target)).cast(kinds.wide(kinds.MAX_DIGITS)), target)


def _text_to_bool(values: pa.Array, target: pa.DataType) -> pa.Array:
    pattern = f"^(?i:{'|'.join([*_TRUE, *_FALSE])})$"
    texts = pc.utf8_lower(_spelled(values, pattern, target))
    return pc.if_else(pc.is_valid(texts), pc.is_in(texts, value_set=pa.array(_TRUE)), pa.scalar(None, pa.bool_()))


def _text_to_date(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Parse dates; as in Spark, a time of day after the date is ignored, and a missing month or day is the first."""
    parts = pc.extract_regex(_spelled(values, _DATE, target), _DATE)
    month, day = (
        pc.utf8_lpad(pc.if_else(pc.equal(part, ""), "01", part), 2, "0")
        for part in (pc.struct_field(parts, name) for name in ("month", "day"))
    )
    return pc.binary_join_element_wise(pc.struct_field(parts, "year"), month, day, "-").cast(target)


def _text_to_time(values: pa.Array, target: pa.DataType) -> pa.Array:
    texts = _spelled(values, _TIME, target)
    return pc.binary_join_element_wise("1970-01-01", texts, " ").cast(pa.timestamp("us")).cast(target)


def _text_to_local(values: pa.Array, target: pa.DataType) -> pa.Array:
    return _spelled(values, _MOMENT + "$", target).cast(target)


def _text_to_instant(values: pa.Array, target: pa.DataType) -> pa.Array:
    """Parse timestamps; a text without a zone is in UTC."""
    texts = _spelled(values, f"{_MOMENT}({_ZONE}|$)", target)
    zoned = pc.match_substring_regex(texts, f":.*{_ZONE}")
    nothing = pa.scalar(None, pa.string())
    instants = pc.if_else(zoned, texts, nothing).cast(target)
    local = pc.if_else(zoned, nothing, texts).cast(pa.timestamp(target.unit)).cast(target)
    return pc.coalesce(instants, local)


def _whole_to_bool(values: pa.Array, target: pa.DataType) -> pa.Array:
    return pc.not_equal(values, 0).cast(target)


_FROM_BOOL: dict[str, Callable[[pa.Array, pa.DataType], pa.Array]] = {
    "string": _arrow,
    "whole": _arrow,
    "float": _arrow,
    "decimal": lambda values, target: values.cast(pa.int8()).cast(pa.decimal128(3, 0)).cast(target),
}
_CASTS: dict[str, dict[str, Callable[[pa.Array, pa.DataType], pa.Array]]] = {
    "bool": _FROM_BOOL,
    "whole": {
        "whole": _arrow,
        "float": _inexact,
        "decimal": _whole_to_decimal,
        "string": _arrow,
        "bool": _whole_to_bool,
    },
    "float": {"whole": _cut, "float": _inexact, "decimal": _float_to_decimal},
    "decimal": {"whole": _cut, "float": _decimal_to_float, "decimal": rounded, "string": _decimal_to_text},
    "string": {
        "whole": _text_to_whole,
        "float": _text_to_float,
        "decimal": _text_to_decimal,
        "bool": _text_to_bool,
        "binary": _arrow,
        "date32[day]": _text_to_date,
        "time64[us]": _text_to_time,
        "local": _text_to_local,
        "instant": _text_to_instant,
    },
    "binary": {"string": _arrow},
    "date32[day]": {"string": _arrow, "local": _arrow, "instant": _arrow},
    "local": {"date32[day]": _arrow, "instant": _arrow, "local": _arrow, "string": _moment_to_text},
    "instant": {"date32[day]": _arrow, "local": _arrow, "instant": _arrow, "string": _moment_to_text},
}
