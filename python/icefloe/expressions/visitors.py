"""Visitors of expressions, and the functions over expressions at the path that PyIceberg gives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from icefloe.exceptions import ValidationError
from icefloe.expressions.bound import (
    BoundEqualTo,
    BoundGreaterThan,
    BoundGreaterThanOrEqual,
    BoundIn,
    BoundIsNaN,
    BoundIsNull,
    BoundLessThan,
    BoundLessThanOrEqual,
    BoundLiteralPredicate,
    BoundNotEqualTo,
    BoundNotIn,
    BoundNotNaN,
    BoundNotNull,
    BoundNotStartsWith,
    BoundPredicate,
    BoundSetPredicate,
    BoundStartsWith,
    bind,
    extract_field_ids,
)
from icefloe.expressions.evaluation import expression_evaluator, translate_column_names
from icefloe.expressions.literals import DateLiteral, TimestampLiteral
from icefloe.expressions.predicates import UnboundPredicate, column_names
from icefloe.expressions.projection import (
    InclusiveProjection,
    ProjectionEvaluator,
    ResidualEvaluator,
    StrictProjection,
    UnpartitionedResidualEvaluator,
    inclusive_projection,
    manifest_evaluator,
    residual_evaluator_of,
    strict_projection,
)
from icefloe.expressions.terms import BoundTransform
from icefloe.expressions.tree import (
    AlwaysFalse,
    AlwaysTrue,
    And,
    BooleanExpression,
    Not,
    Or,
    rewrite_not,
    rewrite_to_dnf,
)

if TYPE_CHECKING:
    from icefloe.expressions.literals import Literal
    from icefloe.expressions.terms import BoundTerm


__all__ = [
    "BooleanExpressionVisitor",
    "BoundBooleanExpressionVisitor",
    "InclusiveProjection",
    "ProjectionEvaluator",
    "ResidualEvaluator",
    "StrictProjection",
    "UnpartitionedResidualEvaluator",
    "bind",
    "column_names",
    "expression_evaluator",
    "expression_to_plain_format",
    "extract_field_ids",
    "inclusive_projection",
    "manifest_evaluator",
    "residual_evaluator_of",
    "rewrite_not",
    "rewrite_to_dnf",
    "strict_projection",
    "translate_column_names",
    "visit",
    "visit_bound_predicate",
]

T = TypeVar("T")


class BooleanExpressionVisitor(ABC, Generic[T]):
    """The results of the nodes of an expression; a node is visited after its operands, left before right."""

    @abstractmethod
    def visit_true(self) -> T:
        """Return the result of :class:`AlwaysTrue`."""

    @abstractmethod
    def visit_false(self) -> T:
        """Return the result of :class:`AlwaysFalse`."""

    @abstractmethod
    def visit_not(self, child_result: T) -> T:
        """Return the result of a negation from the result of its operand."""

    @abstractmethod
    def visit_and(self, left_result: T, right_result: T) -> T:
        """Return the result of a conjunction from the results of its operands."""

    @abstractmethod
    def visit_or(self, left_result: T, right_result: T) -> T:
        """Return the result of a disjunction from the results of its operands."""

    @abstractmethod
    def visit_unbound_predicate(self, predicate: UnboundPredicate) -> T:
        """Return the result of a predicate on a column by name."""

    @abstractmethod
    def visit_bound_predicate(self, predicate: BoundPredicate) -> T:
        """Return the result of a predicate on a schema's column."""


class BoundBooleanExpressionVisitor(BooleanExpressionVisitor[T], ABC):
    """The results of the predicates of a bound expression, with a method for each operator."""

    @abstractmethod
    def visit_in(self, term: BoundTerm, literals: set[Any]) -> T:
        """Return the result of ``x in (..)``; ``literals`` holds the values of its literals."""

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
        """Return the result of ``x like 'prefix%'``."""

    @abstractmethod
    def visit_not_starts_with(self, term: BoundTerm, literal: Literal) -> T:
        """Return the result of ``x not like 'prefix%'``."""

    def visit_unbound_predicate(self, predicate: UnboundPredicate) -> T:
        """Raise TypeError: names must be resolved first."""
        raise TypeError(f"not a bound predicate: {predicate!r}; bind the expression to a schema first")

    def visit_bound_predicate(self, predicate: BoundPredicate) -> T:
        """Return the result of the method for the predicate's operator."""
        return visit_bound_predicate(predicate, self)


def visit(obj: BooleanExpression, visitor: BooleanExpressionVisitor[T]) -> T:
    """Return the result that a visitor computes for an expression, operands before the nodes around them.

    Raises:
        ValidationError: The object is not an expression.
    """
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
    if isinstance(obj, BoundPredicate):
        return visitor.visit_bound_predicate(obj)
    raise ValidationError(f"not an expression: {obj!r}; expected a BooleanExpression")


def visit_bound_predicate(expr: BoundPredicate, visitor: BoundBooleanExpressionVisitor[T]) -> T:
    """Return the result of the visitor's method for the operator of a bound predicate."""
    method = getattr(visitor, _METHODS[type(expr)])
    if isinstance(expr, BoundSetPredicate):
        result: T = method(expr.term, {literal.value for literal in expr.values})
    elif isinstance(expr, BoundLiteralPredicate):
        result = method(expr.term, expr.literal)
    else:
        result = method(expr.term)
    return result


_METHODS: dict[type[BoundPredicate], str] = {
    BoundIn: "visit_in",
    BoundNotIn: "visit_not_in",
    BoundIsNaN: "visit_is_nan",
    BoundNotNaN: "visit_not_nan",
    BoundIsNull: "visit_is_null",
    BoundNotNull: "visit_not_null",
    BoundEqualTo: "visit_equal",
    BoundNotEqualTo: "visit_not_equal",
    BoundGreaterThanOrEqual: "visit_greater_than_or_equal",
    BoundGreaterThan: "visit_greater_than",
    BoundLessThan: "visit_less_than",
    BoundLessThanOrEqual: "visit_less_than_or_equal",
    BoundStartsWith: "visit_starts_with",
    BoundNotStartsWith: "visit_not_starts_with",
}


def expression_to_plain_format(
    expressions: tuple[BooleanExpression, ...], cast_int_to_datetime: bool = False
) -> list[list[tuple[str, str, Any]]]:
    """Return bound conjunctions as lists of ``(column, operator, value)``, the form of filters in Arrow and Dask.

    Args:
        expressions: Conjunctions of bound predicates, as :func:`rewrite_to_dnf` returns them.
        cast_int_to_datetime: Whether dates and timestamps are ``datetime`` objects rather than ordinals.

    Raises:
        ValidationError: A predicate has no such form: it is unbound, a prefix comparison, or on a transform.

    >>> from icefloe.expressions import In
    >>> from icefloe.schema import Schema
    >>> from icefloe.types import NestedField
    >>> bound = bind(Schema(NestedField(1, "x", "int")), In("x", [1, 2]) | In("x", [3]))
    >>> expression_to_plain_format(rewrite_to_dnf(bound))
    [[('x', 'in', {1, 2})], [('x', '==', 3)]]
    """
    return [_plain(expression, cast_int_to_datetime) for expression in expressions]


def _plain(expr: BooleanExpression, as_datetime: bool) -> list[tuple[str, str, Any]]:
    if isinstance(expr, And):
        return _plain(expr.left, as_datetime) + _plain(expr.right, as_datetime)
    if isinstance(expr, AlwaysTrue):
        return []
    operator = _PLAIN.get(getattr(expr, "operator", ""))
    if not isinstance(expr, BoundPredicate) or isinstance(expr.term, BoundTransform) or operator is None:
        raise ValidationError(
            f"no plain form of {expr!r}; expected a bound comparison, `in`, `is null` or `is nan` on a column, not on a transform"
        )
    name = expr.term.ref().full_name or expr.term.ref().field.name
    if isinstance(expr, BoundSetPredicate):
        return [(name, operator, {_value(each, as_datetime) for each in expr.values})]
    if isinstance(expr, BoundLiteralPredicate):
        return [(name, operator, _value(expr.literal, as_datetime))]
    return [(name, operator, float("nan") if expr.operator.endswith("nan") else None)]


def _value(literal: Any, as_datetime: bool) -> Any:
    if as_datetime and isinstance(literal, TimestampLiteral):
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc if literal.zoned else None)
        return epoch + timedelta(microseconds=literal.value)
    if as_datetime and isinstance(literal, DateLiteral):
        return date(1970, 1, 1) + timedelta(days=literal.value)
    return literal.value


_PLAIN = {
    "eq": "==",
    "not-eq": "!=",
    "lt": "<",
    "lt-eq": "<=",
    "gt": ">",
    "gt-eq": ">=",
    "in": "in",
    "not-in": "not in",
    "is-null": "==",
    "not-null": "!=",
    "is-nan": "==",
    "not-nan": "!=",
}
