"""Functions over whole expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.expressions.binding import bind
from icefloe.expressions.predicates import UnboundPredicate
from icefloe.expressions.terms import Reference
from icefloe.expressions.tree import And, BooleanExpression, Not, Or

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["bind", "column_names", "rewrite_not"]


def rewrite_not(expr: BooleanExpression) -> BooleanExpression:
    """Return an expression without ``Not``: each is pushed down to predicates, which are negated.

    A negated equality is true of null where ``Not`` of the equality is not; use it where nulls are excluded or may match.
    """
    if isinstance(expr, Not):
        child = expr.child
        if isinstance(child, And):
            return Or(rewrite_not(Not(child.left)), rewrite_not(Not(child.right)))
        if isinstance(child, Or):
            return And(rewrite_not(Not(child.left)), rewrite_not(Not(child.right)))
        return ~child
    if isinstance(expr, And):
        return And(rewrite_not(expr.left), rewrite_not(expr.right))
    if isinstance(expr, Or):
        return Or(rewrite_not(expr.left), rewrite_not(expr.right))
    return expr


def column_names(expr: BooleanExpression) -> Iterator[str]:
    """Yield the names of the columns that an unbound expression is about, some perhaps more than once."""
    if isinstance(expr, (And, Or)):
        yield from column_names(expr.left)
        yield from column_names(expr.right)
    elif isinstance(expr, Not):
        yield from column_names(expr.child)
    elif isinstance(expr, UnboundPredicate) and isinstance(expr.term, Reference):
        yield expr.term.name
