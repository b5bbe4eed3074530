"""Predicates on columns of a schema: names resolved, literals of the columns' types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from icefloe.expressions.terms import Bound, BoundTerm
from icefloe.expressions.tree import BooleanExpression

if TYPE_CHECKING:
    from icefloe.expressions.literals import Literal


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
