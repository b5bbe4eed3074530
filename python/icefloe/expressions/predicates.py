"""Predicates on columns by name; binding resolves the names and converts the literals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from icefloe.exceptions import ValidationError
from icefloe.expressions import bound
from icefloe.expressions.bound import bind_literal, bind_set, bind_unary
from icefloe.expressions.literals import Literal, literal
from icefloe.expressions.terms import BoundTransform, Reference, Unbound, UnboundTerm, UnboundTransform, to_term
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or
from icefloe.transforms import Transform, VoidTransform

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterator

    from typing_extensions import Self

    from icefloe.expressions.terms import BoundTerm
    from icefloe.schema import Schema

# Operators that are true for null; every other operator is false or unknown.
_TRUE_OF_NULL = {"is-null", "not-nan"}


class UnboundPredicate(Unbound, BooleanExpression):
    """A predicate on a column by name."""

    __slots__ = ("term",)
    term: UnboundTerm
    # The value of `type` in the JSON of the predicate.
    operator: ClassVar[str] = ""
    negation: ClassVar[builtins.type[UnboundPredicate]]

    def __init__(self, term: str | UnboundTerm) -> None:
        object.__setattr__(self, "term", to_term(term))

    def bind(self, schema: Schema, case_sensitive: bool = True) -> BooleanExpression:
        """Return the predicate on a schema's column; a constant where the type of the column decides it.

        Raises:
            ResolveError: The schema has no column of this name, or several that differ by case alone.
            ValidationError: The literal cannot be compared with values of the column's type.
        """
        if not isinstance(self.term, (Reference, UnboundTransform)):
            raise ValidationError(
                f"predicate {self.operator}: cannot be bound; expected a Reference or an UnboundTransform, got {self.term!r}"
            )
        term = self.term.bind(schema, case_sensitive)
        if isinstance(term, BoundTransform) and isinstance(term.transform, VoidTransform):
            return AlwaysTrue() if self.operator in _TRUE_OF_NULL else AlwaysFalse()
        return self._on(term)

    @property
    def type(self) -> str:
        """The value of the key ``type`` in the predicate's JSON, such as ``not-eq``."""
        return self.operator

    @property
    def as_bound(self) -> builtins.type[bound.BoundPredicate]:
        """The class of the same predicate on a column of a schema."""
        return _BOUND[self.operator]

    def _on(self, term: BoundTerm) -> BooleanExpression:
        """Return the predicate on a bound term."""
        return bind_unary(self.operator, term)

    def _key(self) -> tuple[Any, ...]:
        return (self.term,)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: expressions are immutable")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, UnboundPredicate) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))


class UnaryPredicate(UnboundPredicate):
    """A predicate without a literal."""

    __slots__ = ()

    def __invert__(self) -> BooleanExpression:
        return self.negation(self.term)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(term={self.term!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.term,)


class IsNull(UnaryPredicate):
    """The value is null."""

    __slots__ = ()
    operator = "is-null"


class NotNull(UnaryPredicate):
    """The value is not null."""

    __slots__ = ()
    operator = "not-null"


class IsNaN(UnaryPredicate):
    """The value is NaN; false for null."""

    __slots__ = ()
    operator = "is-nan"


class NotNaN(UnaryPredicate):
    """The value is not NaN; true for null."""

    __slots__ = ()
    operator = "not-nan"


class LiteralPredicate(UnboundPredicate):
    """A predicate with one literal, given as a Python value or a :class:`Literal`."""

    __slots__ = ("literal",)
    literal: Literal

    def __init__(self, term: str | UnboundTerm, literal: Any = None, **aliases: Any) -> None:
        super().__init__(term)
        value = aliases.pop("value", literal)
        if aliases:
            raise ValidationError(
                f"{type(self).__name__}: unknown arguments {', '.join(sorted(aliases))}; expected term and literal (or value)"
            )
        object.__setattr__(self, "literal", _literal(value))

    @property
    def value(self) -> Any:
        """The value of the literal."""
        return self.literal.value

    def _on(self, term: BoundTerm) -> BooleanExpression:
        return bind_literal(self.operator, self.literal, term)

    def _key(self) -> tuple[Any, ...]:
        return (self.term, self.literal)

    def __invert__(self) -> BooleanExpression:
        opposite: Any = self.negation
        inverted: BooleanExpression = opposite(self.term, self.literal)
        return inverted

    def __repr__(self) -> str:
        return f"{type(self).__name__}(term={self.term!r}, literal={self.literal!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.term, self.literal)


class EqualTo(LiteralPredicate):
    """``x = v``."""

    __slots__ = ()
    operator = "eq"


class NotEqualTo(LiteralPredicate):
    """``x != v``; unknown for null, so rows with a null are not selected."""

    __slots__ = ()
    operator = "not-eq"


class LessThan(LiteralPredicate):
    """``x < v``."""

    __slots__ = ()
    operator = "lt"


class LessThanOrEqual(LiteralPredicate):
    """``x <= v``."""

    __slots__ = ()
    operator = "lt-eq"


class GreaterThan(LiteralPredicate):
    """``x > v``."""

    __slots__ = ()
    operator = "gt"


class GreaterThanOrEqual(LiteralPredicate):
    """``x >= v``."""

    __slots__ = ()
    operator = "gt-eq"


class StartsWith(LiteralPredicate):
    """The string starts with a prefix; unknown for null."""

    __slots__ = ()
    operator = "starts-with"


class NotStartsWith(LiteralPredicate):
    """The string does not start with a prefix; unknown for null."""

    __slots__ = ()
    operator = "not-starts-with"


class SetPredicate(UnboundPredicate):
    """A predicate with several literals."""

    __slots__ = ("values",)
    values: tuple[Literal, ...]
    _empty: ClassVar[type[BooleanExpression]]
    _single: ClassVar[type[LiteralPredicate]]

    def __new__(cls, term: str | UnboundTerm, literals: Iterable[Any] = (), **aliases: Any) -> Self:
        """Return the predicate; a constant for no literal, an (in)equality for one literal."""
        given = aliases.get("values", literals)
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise ValidationError(f"{cls.__name__}: expected a list, tuple or set of literals, got {given!r}")
        values = tuple(dict.fromkeys(map(_literal, given)))
        if not values:
            return cast("Self", cls._empty())
        if len(values) == 1:
            return cast("Self", cls._single(term, values[0]))
        predicate = object.__new__(cls)
        object.__setattr__(predicate, "term", to_term(term))
        object.__setattr__(predicate, "values", values)
        return predicate

    def __init__(self, term: str | UnboundTerm, literals: Iterable[Any] = (), **aliases: Any) -> None:
        """Do nothing: ``__new__`` sets the attributes, or returns an expression of another class."""

    @property
    def literals(self) -> set[Literal]:
        """The literals as a set."""
        return set(self.values)

    def _on(self, term: BoundTerm) -> BooleanExpression:
        return bind_set(self.operator, self.values, term)

    def _key(self) -> tuple[Any, ...]:
        return (self.term, frozenset(self.values))

    def __invert__(self) -> BooleanExpression:
        opposite: Any = self.negation
        inverted: BooleanExpression = opposite(self.term, self.values)
        return inverted

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.term!r}, {{{', '.join(map(repr, self.values))}}})"

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.term}, {{{', '.join(map(str, self.values))}}})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.term, self.values)


class In(SetPredicate):
    """The value equals one of the literals; unknown for null.

    >>> In("x", [1])
    EqualTo(term=Reference(name='x'), literal=LongLiteral(1))
    """

    __slots__ = ()
    operator = "in"
    _empty = AlwaysFalse
    _single = EqualTo


class NotIn(SetPredicate):
    """The value equals no literal of the set; unknown for null. None among the literals is refused."""

    __slots__ = ()
    operator = "not-in"
    _empty = AlwaysTrue
    _single = NotEqualTo


_OPPOSITES: tuple[tuple[type[UnboundPredicate], type[UnboundPredicate]], ...] = (
    (IsNull, NotNull),
    (IsNaN, NotNaN),
    (EqualTo, NotEqualTo),
    (LessThan, GreaterThanOrEqual),
    (GreaterThan, LessThanOrEqual),
    (StartsWith, NotStartsWith),
    (In, NotIn),
)
for _predicate, _negation in _OPPOSITES:
    _predicate.negation, _negation.negation = _negation, _predicate


# An unbound predicate and its bound form share their operator.
_BOUND: dict[str, type[bound.BoundPredicate]] = {
    kind.operator: kind
    for kind in vars(bound).values()
    if isinstance(kind, type) and issubclass(kind, bound.BoundPredicate) and kind.operator
}

_UNBOUND: dict[str, type[UnboundPredicate]] = {kind.operator: kind for pair in _OPPOSITES for kind in pair}
for _operator, _bound in _BOUND.items():
    _bound.as_unbound = _UNBOUND[_operator]


def _literal(value: Any) -> Literal:
    if value is None:
        raise ValidationError("literal None: comparisons with null are unknown; use IsNull or NotNull")
    return literal(value)


def column_names(expr: BooleanExpression) -> Iterator[str]:
    """Yield the names of the columns of an unbound expression, one for each predicate."""
    if isinstance(expr, (And, Or)):
        yield from column_names(expr.left)
        yield from column_names(expr.right)
    elif isinstance(expr, Not):
        yield from column_names(expr.child)
    elif isinstance(expr, UnboundPredicate):
        term = expr.term.term if isinstance(expr.term, UnboundTransform) else expr.term
        if isinstance(term, Reference):
            yield term.name


def with_column(predicate: UnboundPredicate, name: str) -> BooleanExpression:
    """Return an unbound predicate with another column name, on the same transform."""
    term = predicate.term
    transform = term.transform if isinstance(term, UnboundTransform) else None
    return unbound_predicate(predicate, name, transform)


def unbound_predicate(
    predicate: UnboundPredicate | bound.BoundPredicate, name: str, transform: Transform | None
) -> BooleanExpression:
    """Return an unbound predicate with the operator and literals of another predicate.

    Args:
        predicate: The predicate that has the operator and the literals.
        name: Full name of the column.
        transform: The transform of the column; None for the column itself.
    """
    term: UnboundTerm = Reference(name) if transform is None else UnboundTransform(name, transform)
    kind: Any = _UNBOUND[predicate.operator]
    if isinstance(predicate, (SetPredicate, bound.BoundSetPredicate)):
        unbound: BooleanExpression = kind(term, predicate.values)
    elif isinstance(predicate, (LiteralPredicate, bound.BoundLiteralPredicate)):
        unbound = kind(term, predicate.literal)
    else:
        unbound = kind(term)
    return unbound
