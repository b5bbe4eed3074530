"""One predicate on a bound term: its literals in the term's type, folded where the type alone decides it."""

from __future__ import annotations

from icefloe.exceptions import ValidationError
from icefloe.expressions import bound
from icefloe.expressions.calendar import ordinal_of_text
from icefloe.expressions.literals import AboveMax, BelowMin, Literal, StringLiteral
from icefloe.expressions.literals import literal as literal_of
from icefloe.expressions.terms import BoundTerm, BoundTransform
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, BooleanExpression
from icefloe.types import DoubleType, FloatType, StringType


def bind_unary(operator: str, term: BoundTerm) -> BooleanExpression:
    """Return whether a term is null, or a NaN, as a predicate; a constant where its type says."""
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


def bind_literal(operator: str, literal: Literal, term: BoundTerm) -> BooleanExpression:
    """Return a comparison of a term with one literal, in the term's type; a constant if no value can be like that."""
    if operator.endswith("starts-with") and not isinstance(term.value_type, StringType):
        raise ValidationError(f"filter on {_shown(term)}: {operator} needs a string column, not {term.value_type}")
    value = convert(literal, term)
    if isinstance(value, (AboveMax, BelowMin)):
        # Beyond all values of the column: true of every value but null, for which it is unknown, or of none.
        above = isinstance(value, AboveMax)
        holds = operator in ({"lt", "lt-eq", "not-eq"} if above else {"gt", "gt-eq", "not-eq"})
        return bind_unary("not-null", term) if holds else AlwaysFalse()
    return _LITERAL[operator](term, value)


def bind_set(operator: str, literals: tuple[Literal, ...], term: BoundTerm) -> BooleanExpression:
    """Return whether a term is one of several literals, or none of them, without those that no value can be like."""
    values = [convert(value, term) for value in literals]
    kept = frozenset(value for value in values if not isinstance(value, (AboveMax, BelowMin)))
    if not kept:
        return AlwaysFalse() if operator == "in" else bind_unary("not-null", term)
    if len(kept) == 1:
        (only,) = kept
        return _LITERAL["eq" if operator == "in" else "not-eq"](term, only)
    return bound.BoundIn(term, kept) if operator == "in" else bound.BoundNotIn(term, kept)


def convert(value: Literal, term: BoundTerm) -> Literal:
    """Return a literal as one of the type that a term has; ValidationError names the column."""
    if isinstance(term, BoundTransform) and isinstance(value, StringLiteral):
        ordinal = ordinal_of_text(term.transform, value.value)
        value = value if ordinal is None else literal_of(ordinal)
    try:
        return value.to(term.value_type)
    except ValidationError as error:
        raise ValidationError(f"filter on {_shown(term)}: {error}") from error


def _shown(term: BoundTerm) -> str:
    column = term.ref()
    name = column.full_name or column.field.name
    return f"{term.transform}({name})" if isinstance(term, BoundTransform) else name


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
