"""Expressions without NOT.

A predicate that is unknown for a null may fold to a constant only where no NOT is above it: NOT unknown is unknown, NOT false is true.
"""

from __future__ import annotations

from icefloe.expressions.tree import And, BooleanExpression, Not, Or


def rewrite_not(expr: BooleanExpression) -> BooleanExpression:
    """Return an expression without ``Not``: each is pushed down to predicates, which are negated.

    Both are true of the same rows: a comparison with null is unknown, and so is its negation.

    >>> from icefloe.expressions import EqualTo, Not
    >>> rewrite_not(Not(EqualTo("x", 5)))
    NotEqualTo(term=Reference(name='x'), literal=literal(5))
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
