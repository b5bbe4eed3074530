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
    # The class of the same predicate on a column by name.
    as_unbound: ClassVar[type[BooleanExpression]]

    def __invert__(self) -> BooleanExpression:
        return self.negation(self.term)


class BoundUnaryPredicate(BoundPredicate):
    """A predicate without a literal."""

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
    """The value is NaN; false for null."""

    __slots__ = ()
    operator = "is-nan"


class BoundNotNaN(BoundUnaryPredicate):
    """The value is not NaN; true for null."""

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
    """``x != v``; unknown for null, so rows with a null are not selected."""

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
    """The string starts with a prefix; unknown for null."""

    __slots__ = ()
    operator = "starts-with"


class BoundNotStartsWith(BoundLiteralPredicate):
    """The string does not start with a prefix; unknown for null."""

    __slots__ = ()
    operator = "not-starts-with"


@dataclass(frozen=True, slots=True, repr=False)
class BoundSetPredicate(BoundPredicate):
    """A predicate with a set of literals."""

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
    """The value equals one of the literals; unknown for null."""

    __slots__ = ()
    operator = "in"


class BoundNotIn(BoundSetPredicate):
    """The value equals no literal of the set; unknown for null."""

    __slots__ = ()
    operator = "not-in"


for _predicate, _negation in (
    (BoundIsNull, BoundNotNull),
    (BoundIsNaN, BoundNotNaN),
    (BoundEqualTo, BoundNotEqualTo),
    (BoundLessThan, BoundGreaterThanOrEqual),
    (BoundGreaterThan, BoundLessThanOrEqual),
    (BoundStartsWith, BoundNotStartsWith),
    (BoundIn, BoundNotIn),
):
    _predicate.negation, _negation.negation = _negation, _predicate


def bind_unary(operator: str, term: BoundTerm) -> BooleanExpression:
    """Return the predicate ``is-null``, ``not-null``, ``is-nan`` or ``not-nan`` on a term; a constant where the type decides it."""
    may_be_nan = isinstance(term.value_type, (FloatType, DoubleType))
    # The result of a transform is null exactly where its source value is null.
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
    """Return a comparison of a term with a literal of the term's type.

    A literal outside the range of the type folds the comparison to :class:`AlwaysFalse` or to :class:`BoundNotNull`.

    Raises:
        ValidationError: The literal cannot be compared with values of the type; the message names the column.
    """
    if operator.endswith("starts-with") and not isinstance(term.value_type, StringType):
        raise ValidationError(
            f"filter on {_described(term)}: {operator} needs a string column; expected type string, got {term.value_type}"
        )
    value = convert(literal, term)
    if isinstance(value, (AboveMax, BelowMin)):
        is_true = operator in ({"lt", "lt-eq", "not-eq"} if isinstance(value, AboveMax) else {"gt", "gt-eq", "not-eq"})
        return bind_unary("not-null", term) if is_true else AlwaysFalse()
    return _COMPARISONS[operator](term, value)


def bind_set(operator: str, literals: tuple[Literal, ...], term: BoundTerm) -> BooleanExpression:
    """Return the predicate ``in`` or ``not-in`` on a term, without the literals outside the range of its type."""
    values = [convert(value, term) for value in literals]
    in_range = frozenset(value for value in values if not isinstance(value, (AboveMax, BelowMin)))
    if not in_range:
        return AlwaysFalse() if operator == "in" else bind_unary("not-null", term)
    if len(in_range) == 1:
        (single,) = in_range
        return _COMPARISONS["eq" if operator == "in" else "not-eq"](term, single)
    return BoundIn(term, in_range) if operator == "in" else BoundNotIn(term, in_range)


def convert(value: Literal, term: BoundTerm) -> Literal:
    """Return a literal converted to the type of a term; text beside a time transform becomes the ordinal.

    Raises:
        ValidationError: The type has no value that equals the literal; the message names the column.
    """
    if isinstance(term, BoundTransform) and isinstance(value, StringLiteral):
        ordinal = ordinal_of_text(term.transform, value.value)
        value = value if ordinal is None else literal_of(ordinal)
    try:
        return value.to(term.value_type)
    except ValidationError as error:
        raise ValidationError(f"filter on {_described(term)}: {error}") from error


def _described(term: BoundTerm) -> str:
    column = term.ref()
    name = column.full_name or column.field.name
    return f"{term.transform}({name})" if isinstance(term, BoundTransform) else name


_COMPARISONS: dict[str, type[BoundLiteralPredicate]] = {
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
    """Return an expression whose predicates are bound to the columns of a schema.

    A predicate that the type of its column decides becomes a constant, or :class:`BoundNotNull` where it is true for every value
    and unknown for null. ``Not`` above such a predicate is pushed down to it; any other ``Not`` stays.

    Args:
        schema: The schema that resolves names and the types of literals.
        expression: An unbound expression.
        case_sensitive: Whether names must match exactly.

    Raises:
        ResolveError: The schema has no column of a name, or several that differ by case alone.
        ValidationError: A literal cannot be compared with values of its column's type.

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
        # A predicate that folded to a constant may be unknown for null; its negation must be folded by itself.
        if _operator_counts(child) == _operator_counts(expression.child):
            return Not(child)
        return bind(schema, rewrite_not(expression), case_sensitive)
    if isinstance(expression, Unbound):
        predicate: BooleanExpression = expression.bind(schema, case_sensitive)
        return predicate
    if isinstance(expression, (AlwaysTrue, AlwaysFalse)):
        return expression
    raise ValidationError(
        f"expression {expression!r}: cannot be bound; expected an unbound expression, got a {type(expression).__name__}"
    )


def _operator_counts(expression: BooleanExpression) -> tuple[int, int]:
    """Return the number of all predicates in an expression and the number of ``not-null`` predicates."""
    if isinstance(expression, (And, Or)):
        left, right = _operator_counts(expression.left), _operator_counts(expression.right)
        return left[0] + right[0], left[1] + right[1]
    if isinstance(expression, Not):
        return _operator_counts(expression.child)
    if isinstance(expression, (AlwaysTrue, AlwaysFalse)):
        return 0, 0
    return 1, int(getattr(expression, "operator", "") == "not-null")


def extract_field_ids(expr: BooleanExpression) -> set[int]:
    """Return the field ids of the columns of a bound expression."""
    if isinstance(expr, (And, Or)):
        return extract_field_ids(expr.left) | extract_field_ids(expr.right)
    if isinstance(expr, Not):
        return extract_field_ids(expr.child)
    return {expr.term.ref().field.field_id} if isinstance(expr, BoundPredicate) else set()
