"""Conditions on transforms as conditions on the columns themselves, which select the same rows.

>>> from icefloe.expressions.parser import parse
>>> from icefloe.types import DateType
>>> column_condition(parse("months(d) = '2026-02'"), DateType())
And(left=GreaterThanOrEqual(term=Reference(name='d'), literal=DateLiteral(20485)), right=LessThan(term=Reference(name='d'), literal=DateLiteral(20513)))
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from icefloe.expressions.literals import AboveMax, BelowMin, DateLiteral, Literal, TimestampLiteral, literal
from icefloe.expressions.predicates import (
    EqualTo,
    GreaterThanOrEqual,
    IsNull,
    LessThan,
    LiteralPredicate,
    NotNull,
    SetPredicate,
    StartsWith,
)
from icefloe.expressions.terms import UnboundTransform
from icefloe.expressions.tree import And, Or, all_of, any_of
from icefloe.transforms import (
    DayTransform,
    HourTransform,
    MonthTransform,
    TruncateTransform,
    VoidTransform,
    YearTransform,
)
from icefloe.transforms.time import TimeTransform
from icefloe.types import (
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.expressions.tree import BooleanExpression
    from icefloe.transforms import Transform
    from icefloe.types import IcebergType

_EPOCH = date(1970, 1, 1)
_HOUR_MICROS = 3_600_000_000
_MOST_RANGES = 100
# Python rounds decimals of more digits.
_EXACT_DIGITS = 28


def column_condition(predicate: BooleanExpression, kind: IcebergType) -> BooleanExpression | None:
    """Return the condition on a column that is true for the same rows as a predicate on a transform of the column.

    Years, months, days and hours are ranges of the column. A truncation equals a multiple of the width in a range, and a text of the
    width in texts of this prefix. Both conditions are unknown for null, but for tests of null.

    Args:
        predicate: Predicate on a transform of a column, with literals of the type of the results.
        kind: Type of the column.

    Returns:
        None if the column has no such condition: `bucket`, other comparisons of `truncate`, and times outside of the years 1 to 9999.
    """
    term = getattr(predicate, "term", None)
    if not isinstance(term, UnboundTransform) or isinstance(term.transform, VoidTransform):
        return None
    name = term.term.name
    if isinstance(predicate, (IsNull, NotNull)):
        return type(predicate)(name)
    literals = _literals(predicate)
    if len(literals) > _MOST_RANGES or any(isinstance(one, (AboveMax, BelowMin)) for one in literals):
        return None
    try:
        if isinstance(term.transform, TimeTransform):
            return _of_times(predicate, name, term.transform, kind)
        if isinstance(term.transform, TruncateTransform):
            return _of_truncated(predicate, name, term.transform.width, kind)
    except (OverflowError, ValueError):  # beyond Python's calendar
        return None
    return None


def _literals(predicate: BooleanExpression) -> tuple[Literal, ...]:
    if isinstance(predicate, SetPredicate):
        return predicate.values
    return (predicate.literal,) if isinstance(predicate, LiteralPredicate) else ()


def _of_times(
    predicate: BooleanExpression, name: str, transform: Transform, kind: IcebergType
) -> BooleanExpression | None:
    def before(ordinal: int) -> BooleanExpression:
        return LessThan(name, _start(transform, ordinal, kind))

    def not_before(ordinal: int) -> BooleanExpression:
        return GreaterThanOrEqual(name, _start(transform, ordinal, kind))

    conditions: dict[str, Callable[[int], BooleanExpression]] = {
        "eq": lambda one: And(not_before(one), before(one + 1)),
        "not-eq": lambda one: Or(before(one), not_before(one + 1)),
        "lt": before,
        "lt-eq": lambda one: before(one + 1),
        "gt": lambda one: not_before(one + 1),
        "gt-eq": not_before,
    }
    if not isinstance(kind, (DateType, TimestampType, TimestamptzType)):
        return None
    if isinstance(predicate, SetPredicate):
        of_one = conditions["eq" if predicate.operator == "in" else "not-eq"]
        join = any_of if predicate.operator == "in" else all_of
        return join(*(of_one(_ordinal(one)) for one in predicate.values))
    if not isinstance(predicate, LiteralPredicate) or predicate.operator not in conditions:
        return None
    return conditions[predicate.operator](_ordinal(predicate.literal))


def _ordinal(value: Literal) -> int:
    ordinal: int = value.value
    return ordinal


def _start(transform: Transform, ordinal: int, kind: IcebergType) -> Literal:
    """Return the first value of a column in a year, month, day or hour."""
    hours = 0
    if isinstance(transform, YearTransform):
        days = (date(1970 + ordinal, 1, 1) - _EPOCH).days
    elif isinstance(transform, MonthTransform):
        days = (date(1970 + ordinal // 12, ordinal % 12 + 1, 1) - _EPOCH).days
    elif isinstance(transform, DayTransform):
        days = ordinal
    else:
        assert isinstance(transform, HourTransform)
        days, hours = divmod(ordinal, 24)
    # Raises beyond Python's calendar.
    date.fromordinal(_EPOCH.toordinal() + days)
    if isinstance(kind, DateType):
        return DateLiteral(days)
    return TimestampLiteral((days * 24 + hours) * _HOUR_MICROS, isinstance(kind, TimestamptzType))


def _of_truncated(predicate: BooleanExpression, name: str, width: int, kind: IcebergType) -> BooleanExpression | None:
    if isinstance(predicate, SetPredicate) and predicate.operator == "in":
        parts = [_truncated_equals(name, width, one.value, kind) for one in predicate.values]
        known = [one for one in parts if one is not None]
        return any_of(*known) if len(known) == len(parts) else None
    if isinstance(predicate, EqualTo):
        return _truncated_equals(name, width, predicate.literal.value, kind)
    return None


def _truncated_equals(name: str, width: int, value: Any, kind: IcebergType) -> BooleanExpression | None:
    """Return the values whose truncation is a value; None where this takes more than one range."""
    if isinstance(kind, (StringType, BinaryType)) and isinstance(value, (str, bytes)):
        if len(value) < width:
            return EqualTo(name, literal(value).to(kind))
        return StartsWith(name, value) if isinstance(value, str) and len(value) == width else None
    step: Any = width
    if isinstance(kind, DecimalType) and isinstance(value, Decimal):
        if len(str(width)) + kind.precision > _EXACT_DIGITS:
            return None
        step = Decimal(width).scaleb(-kind.scale)
    elif not isinstance(kind, (IntegerType, LongType)) or not isinstance(value, int):
        return None
    # The least integers wrap around to results that are no multiples of the width.
    if value % step != 0:
        return None
    return And(GreaterThanOrEqual(name, literal(value)), LessThan(name, literal(value + step)))
