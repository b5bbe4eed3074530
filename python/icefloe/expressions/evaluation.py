"""Expressions asked of one row in Python; the core asks them of whole columns."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from icefloe.conversions import to_ordinal
from icefloe.exceptions import ValidationError
from icefloe.expressions.binding import bind
from icefloe.expressions.bound import BoundLiteralPredicate, BoundPredicate, BoundSetPredicate
from icefloe.expressions.terms import BoundTransform
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or
from icefloe.types import PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.schema import Schema


def expression_evaluator(schema: Schema, unbound: BooleanExpression, case_sensitive: bool) -> Callable[[Any], bool]:
    """Return a function that tells whether a row, such as a :class:`icefloe.typedef.Record`, satisfies an expression.

    Null satisfies no comparison, and NaN none either; see :func:`holds`.
    """
    expression = bind(schema, unbound, case_sensitive)
    return lambda row: _answer(expression, row, negated=False)


def _answer(expr: BooleanExpression, row: Any, negated: bool) -> bool:
    if isinstance(expr, Not):
        return _answer(expr.child, row, not negated)
    if isinstance(expr, (And, Or)):
        both = isinstance(expr, And) is not negated
        sides = (_answer(side, row, negated) for side in (expr.left, expr.right))
        return all(sides) if both else any(sides)
    if isinstance(expr, (AlwaysTrue, AlwaysFalse)):
        return isinstance(expr, AlwaysTrue) is not negated
    if not isinstance(expr, BoundPredicate):
        raise ValidationError(f"not a bound expression: {expr!r}")
    asked = ~expr if negated else expr
    return holds(asked, expr.term.ref().eval(row))  # type: ignore[arg-type]  # the negation of a bound predicate is one


def holds(predicate: BoundPredicate, value: Any) -> bool:
    """Return whether a value of the predicate's column satisfies it.

    Null satisfies no comparison, no ``in`` and no ``starts-with``, and so their negations; NaN likewise. -0.0 equals 0.0.
    """
    asked = predicate.operator
    if value is None:
        return asked in {"is-null", "not-nan", "not-eq", "not-in", "not-starts-with"}
    term = predicate.term
    if isinstance(term, BoundTransform):
        value = term.transform.transform(term.term.value_type)(value)
    elif isinstance(term.value_type, PrimitiveType):
        value = to_ordinal(term.value_type, value)
    value = getattr(value, "bytes", value)
    if asked in {"is-null", "not-null"}:
        return asked == "not-null"
    if asked in {"is-nan", "not-nan"}:
        return (isinstance(value, float) and math.isnan(value)) is (asked == "is-nan")
    if isinstance(predicate, BoundSetPredicate):
        return any(value == _raw(each) for each in predicate.values) is (asked == "in")
    assert isinstance(predicate, BoundLiteralPredicate)
    literal = _raw(predicate.literal)
    if asked.endswith("starts-with"):
        return str(value).startswith(literal) is (asked == "starts-with")
    return bool(_COMPARE[asked](value, literal))


def _raw(literal: Any) -> Any:
    return getattr(literal.value, "bytes", literal.value)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "not-eq": operator.ne,
    "lt": operator.lt,
    "lt-eq": operator.le,
    "gt": operator.gt,
    "gt-eq": operator.ge,
}
