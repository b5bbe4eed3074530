"""Literals that are no text and no number, in the form that their columns have.

JSON has one text for dates, bytes and moments, with a zone or without: what a Python value is is known only here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ResolveError
from icefloe.expressions.leaf_binding import convert
from icefloe.expressions.literals import (
    BinaryLiteral,
    DateLiteral,
    FixedLiteral,
    Literal,
    StringLiteral,
    TimeLiteral,
    TimestampLiteral,
    UUIDLiteral,
)
from icefloe.expressions.predicates import LiteralPredicate, SetPredicate, UnboundPredicate
from icefloe.expressions.terms import Reference, UnboundTransform
from icefloe.expressions.tree import And, BooleanExpression, Not, Or
from icefloe.types import DateType

if TYPE_CHECKING:
    from icefloe.expressions.terms import BoundTerm
    from icefloe.schema import Schema

_TYPED = (DateLiteral, TimeLiteral, TimestampLiteral, UUIDLiteral, FixedLiteral, BinaryLiteral)


def fit_literals(schema: Schema, expr: BooleanExpression, case_sensitive: bool = True) -> BooleanExpression:
    """Return an unbound expression whose dates, times, bytes and uuids are of their columns' types.

    A date becomes the midnight of a timestamp column, a timestamp, also one in text, the day of a date
    column, as in the Java reference and PyIceberg; a zone is added or dropped as the
    column has one. Names that are unknown are left for binding to refuse.

    Raises:
        ValidationError: A literal has no meaning in its column's type, such as bytes in an int.
    """
    if isinstance(expr, (And, Or)):
        sides = [fit_literals(schema, side, case_sensitive) for side in (expr.left, expr.right)]
        if sides[0] is expr.left and sides[1] is expr.right:
            return expr
        return And(*sides) if isinstance(expr, And) else Or(*sides)
    if isinstance(expr, Not):
        child = fit_literals(schema, expr.child, case_sensitive)
        return expr if child is expr.child else Not(child)
    literals: tuple[Literal, ...] = ()
    if isinstance(expr, LiteralPredicate):
        literals = (expr.literal,)
    elif isinstance(expr, SetPredicate):
        literals = expr.values
    if not any(_is_fitted(literal) for literal in literals):
        return expr
    assert isinstance(expr, UnboundPredicate)
    return _fitted(schema, expr, literals, case_sensitive)


def _is_fitted(literal: Literal, term: BoundTerm | None = None) -> bool:
    if isinstance(literal, _TYPED):
        return True
    # The text of a moment is its day beside a date, as the moment itself is.
    moment = isinstance(literal, StringLiteral) and ":" in literal.value
    return moment and (term is None or isinstance(term.value_type, DateType))


def _fitted(
    schema: Schema, expr: UnboundPredicate, literals: tuple[Literal, ...], case_sensitive: bool
) -> BooleanExpression:
    if not isinstance(expr.term, (Reference, UnboundTransform)):
        return expr
    try:
        term: BoundTerm = expr.term.bind(schema, case_sensitive)
    except ResolveError:
        return expr
    fitted = [convert(literal, term) if _is_fitted(literal, term) else literal for literal in literals]
    if all(new is old for new, old in zip(fitted, literals, strict=True)):
        return expr
    kind: Any = type(expr)
    made: BooleanExpression = kind(expr.term, fitted if isinstance(expr, SetPredicate) else fitted[0])
    return made
