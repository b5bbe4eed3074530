"""Conditions of a WHERE clause as row filters of a scan.

A filter may select more rows than its condition, never fewer, because Spark evaluates the condition again. Conditions whose meaning in
Spark depends on its casts are left to Spark.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from icefloe.exceptions import ValidationError
from icefloe.expressions import (
    And,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNull,
    LessThan,
    LessThanOrEqual,
    NotEqualTo,
    NotIn,
    NotNull,
    StartsWith,
    literal,
)
from icefloe.expressions.transform_ranges import column_condition
from icefloe.expressions.tree import all_of, any_of
from icefloe.spark.statements.condition_term import ConditionTerm
from icefloe.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from icefloe.expressions import BooleanExpression
    from icefloe.types import IcebergType

    Column = tuple[str, IcebergType]

_COMPARISONS: dict[type[Any], tuple[Any, Any]] = {
    exp.EQ: (EqualTo, EqualTo),
    # A literal is never null.
    exp.NullSafeEQ: (EqualTo, EqualTo),
    exp.NEQ: (NotEqualTo, NotEqualTo),
    exp.LT: (LessThan, GreaterThan),
    exp.LTE: (LessThanOrEqual, GreaterThanOrEqual),
    exp.GT: (GreaterThan, LessThan),
    exp.GTE: (GreaterThanOrEqual, LessThanOrEqual),
}
_NEGATIONS: dict[type[Any], type[Any]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}
_INTEGER_BITS = {
    exp.DataType.Type.TINYINT: 8,
    exp.DataType.Type.SMALLINT: 16,
    exp.DataType.Type.INT: 32,
    exp.DataType.Type.BIGINT: 64,
}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?")
# Session time zones and their shifts are within a day of UTC, so widened by a day a bound is right in any of them.
_ZONES = timedelta(days=1)


@dataclass(frozen=True)
class Filter:
    """A row filter.

    Args:
        expression: The filter.
        exact: It is true for the same rows as the condition in Spark.
    """

    expression: BooleanExpression
    exact: bool = True


class FilterBuilder:
    """Makes filters of conditions over the columns of one table.

    Args:
        column_of: Returns name and type of the column that a tree names; None if it names no column of the table.
        arguments: Values of named parameters.
        is_namespace: Returns whether some names before a function are of the functions of an attached catalog.
    """

    def __init__(
        self,
        column_of: Callable[[Any], Column | None],
        arguments: Mapping[str, Any],
        is_namespace: Callable[[tuple[str, ...]], bool] = lambda _: False,
    ) -> None:
        self._column_of = column_of
        self._arguments = arguments
        self._is_namespace = is_namespace

    def _term_of(self, tree: Any) -> ConditionTerm | None:
        """Return the column, or the transform of one, that a tree is."""
        return ConditionTerm.of(tree, self._column_of, self._is_namespace)

    def of(self, tree: Any) -> Filter | None:
        """Return the filter of a condition; None if no part of it can be one."""
        if isinstance(tree, exp.Paren):
            return self.of(tree.this)
        if isinstance(tree, (exp.And, exp.Or)):
            # A chain of operators is a tree as deep as the chain is long.
            filters = [self.of(operand) for operand in tree.flatten()]
            known = [one for one in filters if one is not None]
            is_complete = len(known) == len(filters)
            if not known or (isinstance(tree, exp.Or) and not is_complete):
                return None
            join = all_of if isinstance(tree, exp.And) else any_of
            expression = join(*(one.expression for one in known))
            return Filter(expression, is_complete and all(one.exact for one in known))
        try:
            return self._leaf(tree)
        except (
            ValidationError,
            ValueError,
            OverflowError,
            InvalidOperation,
        ):  # a literal that the type has no value for
            return None

    def _leaf(self, tree: Any) -> Filter | None:
        negated = isinstance(tree, exp.Not)
        inner = tree.this if negated else tree
        while isinstance(inner, exp.Paren):
            inner = inner.this
        # Newer parsers keep the NOT of `a NOT LIKE b` in the predicate, older ones around it.
        negated = negated != bool(inner.args.get("negate"))
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return self._null_test(inner, negated=negated)
        if isinstance(inner, exp.In):
            return self._in(inner, negated=negated)
        if negated:
            opposite = _NEGATIONS.get(type(inner), exp.Not)
            return self._comparison(opposite(this=inner.this, expression=inner.expression))
        if isinstance(tree, exp.Between):
            low = self._comparison(exp.GTE(this=tree.this, expression=tree.args["low"]))
            high = self._comparison(exp.LTE(this=tree.this, expression=tree.args["high"]))
            if tree.args.get("symmetric"):
                return None
            if low is None or high is None:
                known = low or high
                return None if known is None else replace(known, exact=False)
            return Filter(And(low.expression, high.expression), low.exact and high.exact)
        if isinstance(tree, exp.Like):
            return self._prefix(tree)
        column = self._column_of(tree)
        if column is not None and isinstance(column[1], BooleanType):
            return Filter(EqualTo(column[0], literal(True)))
        return self._comparison(tree)

    def _null_test(self, tree: exp.Is, *, negated: bool) -> Filter | None:
        term = self._term_of(tree.this)
        # Plans have no filters on structs, lists and maps.
        if term is None or not isinstance(term.source_type, PrimitiveType):
            return None
        # Spark's truncation of a decimal is null beyond the digits of its type.
        if term.may_overflow:
            return Filter(NotNull(term.column), exact=False) if negated else None
        return Filter((NotNull if negated else IsNull)(term.column))

    def _in(self, tree: exp.In, *, negated: bool) -> Filter | None:
        term = self._term_of(tree.this)
        if term is None or not tree.expressions or tree.args.get("query") is not None:
            return None
        kind = term.value_type
        values = [self._value(one, kind) for one in tree.expressions]
        if any(value is None for value in values) or isinstance(kind, (TimestampType, TimestamptzType, DoubleType)):
            return None
        literals = [literal(value).to(kind) for value in values]
        return _of_term(term, NotIn(term.term, literals) if negated else In(term.term, literals))

    def _prefix(self, tree: exp.Like) -> Filter | None:
        column = self._column_of(tree.this)
        pattern = self._value(tree.expression, StringType()) if column is not None else None
        if column is None or not isinstance(column[1], StringType) or not isinstance(pattern, str):
            return None
        prefix = re.split(r"[%_\\]", pattern, maxsplit=1)[0]
        return Filter(StartsWith(column[0], prefix), exact=pattern == prefix + "%") if prefix else None

    def _comparison(self, tree: Any) -> Filter | None:
        classes = _COMPARISONS.get(type(tree))
        if classes is None:
            return None
        term, other, made = self._term_of(tree.this), tree.expression, classes[0]
        if term is None:
            term, other, made = self._term_of(tree.expression), tree.this, classes[1]
        if term is None:
            return None
        kind = term.value_type
        value = self._value(other, kind)
        if value is None:
            return None
        if isinstance(kind, (TimestampType, TimestamptzType)):
            return _widened(term.column, kind, made, value)
        # NaN is greater than all numbers in Spark and has no order in filters; -0.0 equals 0.0 in Spark.
        above = made in (GreaterThan, GreaterThanOrEqual, NotEqualTo)
        if isinstance(kind, DoubleType) and (above or value == 0 or math.isnan(value)):
            return None
        return _of_term(term, made(term.term, literal(value).to(kind)))

    def _value(self, tree: Any, kind: IcebergType) -> Any:
        """Return a literal of a column's type; None for other trees, and for literals that Spark casts."""
        value = self._python_value(tree)
        if value is None:
            return None
        whole = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(kind, (IntegerType, LongType)):
            is_integral = isinstance(value, Decimal) and value == value.to_integral_value()
            return int(value) if whole or is_integral else None
        if isinstance(kind, BooleanType):
            return value if isinstance(value, bool) else None
        if isinstance(kind, (StringType, BinaryType)):
            return value if isinstance(value, str if isinstance(kind, StringType) else bytes) else None
        if isinstance(kind, DateType):
            if isinstance(value, str):
                return date.fromisoformat(value) if _DATE.fullmatch(value) else None
            return value if isinstance(value, date) and not isinstance(value, datetime) else None
        if isinstance(kind, (TimestampType, TimestamptzType)):
            return _moment(value)
        if isinstance(kind, DecimalType):
            return _decimal(value, kind) if whole or isinstance(value, Decimal) else None
        if isinstance(kind, DoubleType):
            return float(value) if whole or isinstance(value, (Decimal, float)) else None
        return None

    def _python_value(self, tree: Any) -> Any:
        if isinstance(tree, exp.Paren):
            return self._python_value(tree.this)
        if isinstance(tree, exp.Neg):
            value = self._python_value(tree.this)
            return -value if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) else None
        if isinstance(tree, exp.Literal):
            if tree.is_string:
                # Spark 4.0 reads a doubled quote as two texts, later versions as one quote.
                return None if set(tree.this) & set("\\'\"") else tree.this
            return _number(tree.this)
        if isinstance(tree, exp.HexString):
            return bytes.fromhex(tree.this) if len(tree.this) % 2 == 0 else None
        if isinstance(tree, exp.Boolean):
            return tree.this
        if isinstance(tree, exp.Cast) and isinstance(tree.this, exp.Literal):
            return _cast_value(tree)
        if isinstance(tree, exp.Placeholder) and tree.name:
            value = self._arguments.get(tree.name)
            return value if isinstance(value, (bool, int, float, str, date, Decimal)) else None
        return None


def _cast_value(tree: exp.Cast) -> int | date | datetime | None:
    """Return a literal with a type, such as `5L`, `CAST(5 AS INT)` and `DATE '2026-01-31'`."""
    text, kind = tree.this.this, tree.to.this
    if not tree.this.is_string:
        value, bits = _number(text), _INTEGER_BITS.get(kind)
        return value if isinstance(value, int) and bits is not None and value < 2 ** (bits - 1) else None
    if kind == exp.DataType.Type.DATE and _DATE.fullmatch(text):
        return date.fromisoformat(text)
    timestamps = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPNTZ)
    return _moment(text) if kind in timestamps else None


def _of_term(term: ConditionTerm, predicate: BooleanExpression) -> Filter:
    """Return the filter of a predicate on a term, on the column of a transform where such a filter selects the same rows."""
    of_column = column_condition(predicate, term.source_type)
    if of_column is not None:
        return Filter(of_column)
    return Filter(predicate, exact=not term.may_overflow)


def _widened(name: str, kind: IcebergType, made: Any, value: datetime) -> Filter | None:
    if made is NotEqualTo:
        return None
    low, high = (literal((value + shift).isoformat() + _offset(kind)).to(kind) for shift in (-_ZONES, _ZONES))
    bounds: list[BooleanExpression] = []
    if made in (EqualTo, GreaterThan, GreaterThanOrEqual):
        bounds.append(GreaterThanOrEqual(name, low))
    if made in (EqualTo, LessThan, LessThanOrEqual):
        bounds.append(LessThanOrEqual(name, high))
    return Filter(functools.reduce(And, bounds), exact=False)


def _offset(kind: IcebergType) -> str:
    return "+00:00" if isinstance(kind, TimestamptzType) else ""


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None) if value.tzinfo is None else None
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else datetime.fromisoformat(value.replace(" ", "T"))


def _decimal(value: int | Decimal, kind: DecimalType) -> Decimal | None:
    exact = Decimal(value)
    exponent = exact.as_tuple().exponent
    fits = isinstance(exponent, int) and -exponent <= kind.scale
    return exact if fits and exact.adjusted() < kind.precision - kind.scale else None


def _number(text: str) -> int | Decimal | float | None:
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return float(text) if "e" in text.lower() else Decimal(text)
    except (ValueError, InvalidOperation):
        return None
