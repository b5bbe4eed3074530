"""Resolving the names of an expression in a schema and its literals in the columns' types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.expressions import bound
from icefloe.expressions.calendar import ordinal_of_text
from icefloe.expressions.literals import AboveMax, BelowMin, Literal, StringLiteral, literal
from icefloe.expressions.predicates import LiteralPredicate, SetPredicate, UnboundPredicate
from icefloe.expressions.terms import BoundTerm, BoundTransform, Reference, UnboundTransform
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or
from icefloe.transforms import VoidTransform
from icefloe.types import DoubleType, FloatType, StringType

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
        if not isinstance(expression.term, (Reference, UnboundTransform)):
            raise ValidationError(f"only columns and transforms of them can be bound, found {expression.term!r}")
        term = expression.term.bind(schema, case_sensitive)
        if isinstance(term, BoundTransform) and isinstance(term.transform, VoidTransform):
            return AlwaysTrue() if expression.operator in _TRUE_OF_NULL else AlwaysFalse()
        if isinstance(expression, LiteralPredicate):
            return _bind_literal(expression, term)
        if isinstance(expression, SetPredicate):
            return _bind_set(expression, term)
        return _bind_unary(expression.operator, term)
    if isinstance(expression, (AlwaysTrue, AlwaysFalse)):
        return expression
    raise ValidationError(f"cannot bind {expression!r}")


def _bind_unary(operator: str, term: BoundTerm) -> BooleanExpression:
    may_be_nan = isinstance(term.value_type, (FloatType, DoubleType))
    # The result of a transform is null where the value is.
    term = term.ref()
    never_null = term.field.required and term.accessor.inner is None
    if operator == "is-null":
        return AlwaysFalse() if never_null else bound.BoundIsNull(term)
    if operator == "not-null":
        return AlwaysTrue() if never_null else bound.BoundNotNull(term)
    if operator == "is-nan":
        return bound.BoundIsNaN(term) if may_be_nan else AlwaysFalse()
    return bound.BoundNotNaN(term) if may_be_nan else AlwaysTrue()


def _bind_literal(predicate: LiteralPredicate, term: BoundTerm) -> BooleanExpression:
    operator = predicate.operator
    if operator.endswith("starts-with") and not isinstance(term.value_type, StringType):
        raise ValidationError(f"filter on {_shown(term)}: {operator} needs a string column, not {term.value_type}")
    value = convert(predicate.literal, term)
    if isinstance(value, (AboveMax, BelowMin)):
        # Beyond all values of the column: true of every value but null, or of none.
        above = isinstance(value, AboveMax)
        holds = operator in ({"lt", "lt-eq"} if above else {"gt", "gt-eq"})
        if operator == "not-eq":
            return AlwaysTrue()
        return _bind_unary("not-null", term) if holds else AlwaysFalse()
    return _LITERAL[operator](term, value)


def _bind_set(predicate: SetPredicate, term: BoundTerm) -> BooleanExpression:
    values = [convert(value, term) for value in predicate.values]
    kept = frozenset(value for value in values if not isinstance(value, (AboveMax, BelowMin)))
    if not kept:
        return AlwaysFalse() if predicate.operator == "in" else AlwaysTrue()
    if len(kept) == 1:
        (only,) = kept
        return _LITERAL["eq" if predicate.operator == "in" else "not-eq"](term, only)
    return bound.BoundIn(term, kept) if predicate.operator == "in" else bound.BoundNotIn(term, kept)


def convert(value: Literal, term: BoundTerm) -> Literal:
    """Return a literal as one of the type that a term has; ValidationError names the column."""
    if isinstance(term, BoundTransform) and isinstance(value, StringLiteral):
        ordinal = ordinal_of_text(term.transform, value.value)
        value = value if ordinal is None else literal(ordinal)
    try:
        return value.to(term.value_type)
    except ValidationError as error:
        raise ValidationError(f"filter on {_shown(term)}: {error}") from error


def _shown(term: BoundTerm) -> str:
    column = term.ref()
    name = column.full_name or column.field.name
    return f"{term.transform}({name})" if isinstance(term, BoundTransform) else name


# What holds of a value that is null.
_TRUE_OF_NULL = {"is-null", "not-nan", "not-eq", "not-in", "not-starts-with"}

_LITERAL: dict[str, type[bound.BoundLiteralPredicate]] = {
    kind.operator: kind
    for kind in (
        bound.BoundEqualTo,
        bound.BoundNotEqualTo,
        bound.BoundLessThan,
        bound.BoundLessThanOrEqual,
        bound.BoundGreaterThan,
        bound.BoundGreaterThanOrEqual,
        bound.BoundStartsWith,
        bound.BoundNotStartsWith,
    )
}
