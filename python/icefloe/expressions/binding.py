"""Resolving the names of an expression in a schema and its literals in the columns' types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.expressions.negation import rewrite_not
from icefloe.expressions.predicates import UnboundPredicate
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or

if TYPE_CHECKING:
    from icefloe.schema import Schema


def bind(schema: Schema, expression: BooleanExpression, case_sensitive: bool = True) -> BooleanExpression:
    """Return an expression on a schema's columns.

    A predicate that the column's type decides becomes a constant, or :class:`BoundNotNull` where it is true of every value but
    unknown for null. ``Not`` above such a predicate is pushed down to it; any other ``Not`` stays.

    Raises:
        ResolveError: A name is unknown, or ambiguous when case does not count.
        ValidationError: A literal has no meaning in its column's type.

    >>> from icefloe.expressions import EqualTo
    >>> from icefloe.schema import Schema
    >>> from icefloe.types import NestedField
    >>> bind(Schema(NestedField(1, "x", "int")), EqualTo("x", "5")).literal
    LongLiteral(5)
    """
    if isinstance(expression, And):
        return And(bind(schema, expression.left, case_sensitive), bind(schema, expression.right, case_sensitive))
    if isinstance(expression, Or):
        return Or(bind(schema, expression.left, case_sensitive), bind(schema, expression.right, case_sensitive))
    if isinstance(expression, Not):
        child = bind(schema, expression.child, case_sensitive)
        # A predicate that folded may be unknown for a null, and so would be its negation.
        if _operator_counts(child) == _operator_counts(expression.child):
            return Not(child)
        return bind(schema, rewrite_not(expression), case_sensitive)
    if isinstance(expression, UnboundPredicate):
        return expression.bind(schema, case_sensitive)
    if isinstance(expression, (AlwaysTrue, AlwaysFalse)):
        return expression
    raise ValidationError(f"cannot bind {expression!r}")


def _operator_counts(expression: BooleanExpression) -> tuple[int, int]:
    """Return the number of predicates in an expression, and of those that are ``not-null``."""
    if isinstance(expression, (And, Or)):
        left, right = _operator_counts(expression.left), _operator_counts(expression.right)
        return left[0] + right[0], left[1] + right[1]
    if isinstance(expression, Not):
        return _operator_counts(expression.child)
    if isinstance(expression, (AlwaysTrue, AlwaysFalse)):
        return 0, 0
    return 1, int(getattr(expression, "operator", "") == "not-null")
