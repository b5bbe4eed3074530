"""Resolving the names of an expression in a schema and its literals in the columns' types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.expressions.predicates import UnboundPredicate
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or

if TYPE_CHECKING:
    from icefloe.schema import Schema


def bind(schema: Schema, expression: BooleanExpression, case_sensitive: bool = True) -> BooleanExpression:
    """Return an expression on a schema's columns.

    Raises:
        ResolveError: A name is unknown, or ambiguous when case does not count.
        ValidationError: A literal has no meaning in its column's type.

    >>> from icefloe.expressions import EqualTo
    >>> from icefloe.schema import Schema
    >>> from icefloe.types import NestedField
    >>> bind(Schema(NestedField(1, "x", "int")), EqualTo("x", "5")).literal
    literal(5)
    """
    if isinstance(expression, And):
        return And(bind(schema, expression.left, case_sensitive), bind(schema, expression.right, case_sensitive))
    if isinstance(expression, Or):
        return Or(bind(schema, expression.left, case_sensitive), bind(schema, expression.right, case_sensitive))
    if isinstance(expression, Not):
        return Not(bind(schema, expression.child, case_sensitive))
    if isinstance(expression, UnboundPredicate):
        return expression.bind(schema, case_sensitive)
    if isinstance(expression, (AlwaysTrue, AlwaysFalse)):
        return expression
    raise ValidationError(f"cannot bind {expression!r}")
