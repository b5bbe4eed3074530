"""Predicates on the columns of a schema, and how names and literals are bound to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from icefloe.exceptions import ValidationError
from icefloe.expressions.literals import AboveMax, BelowMin, Literal, StringLiteral
from icefloe.expressions.literals import literal as literal_of
from icefloe.expressions.terms import Bound, BoundTerm, BoundTransform, Unbound
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or, rewrite_not
from icefloe.transforms.time import ordinal_of_text
from icefloe.types import DoubleType, FloatType, StringType

if TYPE_CHECKING:
    from icefloe.schema import Schema


@dataclass(frozen=True, slots=True)
class BoundPredicate(Bound, BooleanExpression):
    """A predicate on a column of a schema, or on a transform of one."""

    term: BoundTerm
    operator: ClassVar[str] = ""
    negation: ClassVar[type[BoundPredicate]]
    # The class of the predicate on a name.
    as_unbound: ClassVar[type[BooleanExpression]]

    def __invert__(self) -> BooleanExpression:
        return self.negation(self.term)


class BoundUnaryPredicate(BoundPredicate):
    """A predicate without literal."""

    __slots__ = ()


class BoundIsNull(BoundUnaryPredicate):
    """The value is null."""

    __slots__ = ()
    operator = "is-null"


class BoundNotNull(BoundUnaryPredicate):
    """The value is not null."""

    __slots__ = ()
    operator = "not-null"


class BoundIsNaN(BoundUnaryPredicate):
    """The value is a NaN."""

    __slots__ = ()
    operator = "is-nan"


class BoundNotNaN(BoundUnaryPredicate):
    """The value is not a NaN; true of null."""

    __slots__ = ()
    operator = "not-nan"


@dataclass(frozen=True, slots=True)
class BoundLiteralPredicate(BoundPredicate):
    """A predicate with one literal."""

    literal: Literal

    def __invert__(self) -> BooleanExpression:
        return self.negation(self.term, self.literal)  # type: ignore[call-arg]  # negations have the same shape


class BoundEqualTo(BoundLiteralPredicate):
    """``x = v``."""

    __slots__ = ()
    operator = "eq"


class BoundNotEqualTo(BoundLiteralPredicate):
    """``x != v``; unknown for null, so no row with a null passes."""

    __slots__ = ()
    operator = "not-eq"


class BoundLessThan(BoundLiteralPredicate):
    """``x < v``."""

    __slots__ = ()
    operator = "lt"


class BoundLessThanOrEqual(BoundLiteralPredicate):
    """``x <= v``."""

    __slots__ = ()
    operator = "lt-eq"


class BoundGreaterThan(BoundLiteralPredicate):
    """``x > v``."""

    __slots__ = ()
    operator = "gt"


class BoundGreaterThanOrEqual(BoundLiteralPredicate):
    """``x >= v``."""

    __slots__ = ()
    operator = "gt-eq"


class BoundStartsWith(BoundLiteralPredicate):
    """The text begins with another."""

    __slots__ = ()
    operator = "starts-with"


class BoundNotStartsWith(BoundLiteralPredicate):
    """The text does not begin with another; unknown for null."""

    __slots__ = ()
    operator = "not-starts-with"


@dataclass(frozen=True, slots=True, repr=False)
class BoundSetPredicate(BoundPredicate):
    """A predicate with many literals."""

    literals: frozenset[Literal]

    @property
    def values(self) -> frozenset[Literal]:
        """The literals."""
        return self.literals

    @property
    def value_set(self) -> set[Any]:
        """The values of the literals."""
        return {literal.value for literal in self.literals}

    def __invert__(self) -> BooleanExpression:
        return self.negation(self.term, self.literals)  # type: ignore[call-arg]  # negations have the same shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.term!r}, {{{', '.join(map(repr, self.literals))}}})"

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.term}, {{{', '.join(map(str, self.literals))}}})"


class BoundIn(BoundSetPredicate):
    """The value is one of several."""

    __slots__ = ()
    operator = "in"


class BoundNotIn(BoundSetPredicate):
    """The value is none of several; unknown for null."""

    __slots__ = ()
    operator = "not-in"


for _one, _other in (
    (BoundIsNull, BoundNotNull),
    (BoundIsNaN, BoundNotNaN),
    (BoundEqualTo, BoundNotEqualTo),
    (BoundLessThan, BoundGreaterThanOrEqual),
    (BoundGreaterThan, BoundLessThanOrEqual),
    (BoundStartsWith, BoundNotStartsWith),
    (BoundIn, BoundNotIn),
):
    _one.negation, _other.negation = _other, _one


def bind_unary(operator: str, term: BoundTerm) -> BooleanExpression:
    """Return whether a term is null, or a NaN, as a predicate; a constant where its type says."""
    may_be_nan = isinstance(term.value_type, (FloatType, DoubleType))
    # The result of a transform is null where the value is.
    term = term.ref()
    never_null = term.field.required and term.accessor.inner is None
    if operator == "is-null":
        return AlwaysFalse() if never_null else BoundIsNull(term)
    if operator == "not-null":
        return AlwaysTrue() if never_null else BoundNotNull(term)
    if operator == "is-nan":
        return BoundIsNaN(term) if may_be_nan else AlwaysFalse()
    return BoundNotNaN(term) if may_be_nan else AlwaysTrue()


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
    return BoundIn(term, kept) if operator == "in" else BoundNotIn(term, kept)


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


_LITERAL: dict[str, type[BoundLiteralPredicate]] = {
    kind.operator: kind
    for kind in (
        BoundEqualTo,
        BoundNotEqualTo,
        BoundLessThan,
        BoundLessThanOrEqual,
        BoundGreaterThan,
        BoundGreaterThanOrEqual,
        BoundStartsWith,
        BoundNotStartsWith,
    )
}


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
    if isinstance(expression, Unbound):
        predicate: BooleanExpression = expression.bind(schema, case_sensitive)
        return predicate
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


def extract_field_ids(expr: BooleanExpression) -> set[int]:
    """Return the ids of the columns that a bound expression is about."""
    if isinstance(expr, (And, Or)):
        return extract_field_ids(expr.left) | extract_field_ids(expr.right)
    if isinstance(expr, Not):
        return extract_field_ids(expr.child)
    return {expr.term.ref().field.field_id} if isinstance(expr, BoundPredicate) else set()
