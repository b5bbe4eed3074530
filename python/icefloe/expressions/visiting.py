"""Walks over expressions: what to do at each kind of node is a visitor's, the order is here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from icefloe.exceptions import ValidationError
from icefloe.expressions import bound
from icefloe.expressions.predicates import UnboundPredicate
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or

if TYPE_CHECKING:
    from icefloe.expressions.bound import BoundPredicate
    from icefloe.expressions.literals import Literal
    from icefloe.expressions.terms import BoundTerm

T = TypeVar("T")


class BooleanExpressionVisitor(ABC, Generic[T]):
    """What to make of each kind of node; a node is visited after its parts, left before right."""

    @abstractmethod
    def visit_true(self) -> T:
        """Return the result of what is always true."""

    @abstractmethod
    def visit_false(self) -> T:
        """Return the result of what is never true."""

    @abstractmethod
    def visit_not(self, child_result: T) -> T:
        """Return the result of a negation."""

    @abstractmethod
    def visit_and(self, left_result: T, right_result: T) -> T:
        """Return the result of a conjunction."""

    @abstractmethod
    def visit_or(self, left_result: T, right_result: T) -> T:
        """Return the result of a disjunction."""

    @abstractmethod
    def visit_unbound_predicate(self, predicate: UnboundPredicate) -> T:
        """Return the result of a predicate on a name."""

    @abstractmethod
    def visit_bound_predicate(self, predicate: BoundPredicate) -> T:
        """Return the result of a predicate on a schema's column."""


class BoundBooleanExpressionVisitor(BooleanExpressionVisitor[T], ABC):
    """What to make of each predicate of a bound expression."""

    @abstractmethod
    def visit_in(self, term: BoundTerm, literals: set[Any]) -> T:
        """Return the result of ``x in (..)``; the values of its literals."""

    @abstractmethod
    def visit_not_in(self, term: BoundTerm, literals: set[Any]) -> T:
        """Return the result of ``x not in (..)``."""

    @abstractmethod
    def visit_is_nan(self, term: BoundTerm) -> T:
        """Return the result of ``x is nan``."""

    @abstractmethod
    def visit_not_nan(self, term: BoundTerm) -> T:
        """Return the result of ``x is not nan``."""

    @abstractmethod
    def visit_is_null(self, term: BoundTerm) -> T:
        """Return the result of ``x is null``."""

    @abstractmethod
    def visit_not_null(self, term: BoundTerm) -> T:
        """Return the result of ``x is not null``."""

    @abstractmethod
    def visit_equal(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of ``x = v``."""

    @abstractmethod
    def visit_not_equal(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of ``x != v``."""

    @abstractmethod
    def visit_greater_than_or_equal(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of ``x >= v``."""

    @abstractmethod
    def visit_greater_than(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of ``x > v``."""

    @abstractmethod
    def visit_less_than(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of ``x < v``."""

    @abstractmethod
    def visit_less_than_or_equal(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of ``x <= v``."""

    @abstractmethod
    def visit_starts_with(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of a text that begins with another."""

    @abstractmethod
    def visit_not_starts_with(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of a text that does not begin with another."""

    def visit_unbound_predicate(self, predicate: UnboundPredicate) -> T:
        """Refuse: TypeError, for names have to be resolved first."""
        raise TypeError(f"not a bound predicate: {predicate!r}")

    def visit_bound_predicate(self, predicate: BoundPredicate) -> T:
        """Return the result of the method for the predicate's kind."""
        return visit_bound_predicate(predicate, self)


def visit(obj: BooleanExpression, visitor: BooleanExpressionVisitor[T]) -> T:
    """Return what a visitor makes of an expression."""
    if isinstance(obj, And):
        return visitor.visit_and(visit(obj.left, visitor), visit(obj.right, visitor))
    if isinstance(obj, Or):
        return visitor.visit_or(visit(obj.left, visitor), visit(obj.right, visitor))
    if isinstance(obj, Not):
        return visitor.visit_not(visit(obj.child, visitor))
    if isinstance(obj, AlwaysTrue):
        return visitor.visit_true()
    if isinstance(obj, AlwaysFalse):
        return visitor.visit_false()
    if isinstance(obj, UnboundPredicate):
        return visitor.visit_unbound_predicate(obj)
    if isinstance(obj, bound.BoundPredicate):
        return visitor.visit_bound_predicate(obj)
    raise ValidationError(f"not an expression: {obj!r}")


def visit_bound_predicate(expr: BoundPredicate, visitor: BoundBooleanExpressionVisitor[T]) -> T:
    """Return what the visitor's method for a bound predicate's kind makes of it."""
    method = getattr(visitor, _METHODS[type(expr)])
    if isinstance(expr, bound.BoundSetPredicate):
        result: T = method(expr.term, {literal.value for literal in expr.values})
    elif isinstance(expr, bound.BoundLiteralPredicate):
        result = method(expr.term, expr.literal)
    else:
        result = method(expr.term)
    return result


_METHODS: dict[type[BoundPredicate], str] = {
    bound.BoundIn: "visit_in",
    bound.BoundNotIn: "visit_not_in",
    bound.BoundIsNaN: "visit_is_nan",
    bound.BoundNotNaN: "visit_not_nan",
    bound.BoundIsNull: "visit_is_null",
    bound.BoundNotNull: "visit_not_null",
    bound.BoundEqualTo: "visit_equal",
    bound.BoundNotEqualTo: "visit_not_equal",
    bound.BoundGreaterThanOrEqual: "visit_greater_than_or_equal",
    bound.BoundGreaterThan: "visit_greater_than",
    bound.BoundLessThan: "visit_less_than",
    bound.BoundLessThanOrEqual: "visit_less_than_or_equal",
    bound.BoundStartsWith: "visit_starts_with",
    bound.BoundNotStartsWith: "visit_not_starts_with",
}
