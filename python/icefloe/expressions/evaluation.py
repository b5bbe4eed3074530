"""Expressions evaluated on one row in Python; the core evaluates them on whole columns."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from icefloe.conversions import to_ordinal
from icefloe.exceptions import ValidationError
from icefloe.expressions.bound import (
    BoundLiteralPredicate,
    BoundPredicate,
    BoundSetPredicate,
    bind,
    extract_field_ids,
)
from icefloe.expressions.predicates import unbound_predicate
from icefloe.expressions.terms import BoundTransform
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or, rewrite_not
from icefloe.types import PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.schema import Schema


def expression_evaluator(schema: Schema, unbound: BooleanExpression, case_sensitive: bool) -> Callable[[Any], bool]:
    """Return a function that returns whether an expression is true of a row, such as a :class:`icefloe.typedef.Record`.

    The function returns False where the expression is false and where it is unknown; see :func:`is_true`.
    """
    # A leaf that is unknown folds to false, so `not` has to be at the leaves before.
    expression = bind(schema, rewrite_not(unbound), case_sensitive)
    return lambda row: _is_true(expression, row)


def _is_true(expr: BooleanExpression, row: Any) -> bool:
    if isinstance(expr, And):
        return _is_true(expr.left, row) and _is_true(expr.right, row)
    if isinstance(expr, Or):
        return _is_true(expr.left, row) or _is_true(expr.right, row)
    if isinstance(expr, (AlwaysTrue, AlwaysFalse)):
        return isinstance(expr, AlwaysTrue)
    if not isinstance(expr, BoundPredicate):
        raise ValidationError(f"not a bound expression: {expr!r}")
    return is_true(expr, expr.term.ref().eval(row))


def is_true(predicate: BoundPredicate, value: Any) -> bool:
    """Return whether a predicate is true of a value of its column.

    Of null only ``is-null`` and ``not-nan`` are true: the result of a comparison, of ``in``, of ``starts-with`` and of their
    negations is unknown. NaN equals no literal and has no order, so of NaN ``not-eq`` and ``not-in`` are true and ``<``,
    ``<=``, ``>`` and ``>=`` are not. -0.0 equals 0.0.
    """
    operator_name = predicate.operator
    if value is None:
        return operator_name in {"is-null", "not-nan"}
    term = predicate.term
    if isinstance(term, BoundTransform):
        value = term.transform.transform(term.term.value_type)(value)
    elif isinstance(term.value_type, PrimitiveType):
        value = to_ordinal(term.value_type, value)
    value = getattr(value, "bytes", value)
    if operator_name in {"is-null", "not-null"}:
        return operator_name == "not-null"
    if operator_name in {"is-nan", "not-nan"}:
        return (isinstance(value, float) and math.isnan(value)) is (operator_name == "is-nan")
    if isinstance(predicate, BoundSetPredicate):
        return any(value == _raw(each) for each in predicate.values) is (operator_name == "in")
    assert isinstance(predicate, BoundLiteralPredicate)
    literal = _raw(predicate.literal)
    if operator_name.endswith("starts-with"):
        return str(value).startswith(literal) is (operator_name == "starts-with")
    return bool(_COMPARE[operator_name](value, literal))


def _raw(literal: Any) -> Any:
    return getattr(literal.value, "bytes", literal.value)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "not-eq": operator.ne,
    "lt": operator.lt,
    "lt-eq": operator.le,
    "gt": operator.gt,
    "gt-eq": operator.ge,
}


def translate_column_names(
    expr: BooleanExpression,
    file_schema: Schema,
    case_sensitive: bool = True,
    projected_field_values: dict[int, Any] | None = None,
) -> BooleanExpression:
    """Return a bound expression over the names that a file's schema has for the columns, unbound.

    A column that the file lacks has the value given for its id, else its initial default, else null. A predicate on it becomes
    :class:`AlwaysTrue` where it is true of that value and :class:`AlwaysFalse` where it is false or unknown; ``Not`` above such
    a predicate is pushed down to it first, as the negation of unknown is unknown.
    """
    if isinstance(expr, (And, Or)):
        sides = [
            translate_column_names(side, file_schema, case_sensitive, projected_field_values)
            for side in (expr.left, expr.right)
        ]
        return And(*sides) if isinstance(expr, And) else Or(*sides)
    if isinstance(expr, Not):
        if any(file_schema.find_column_name(field_id) is None for field_id in extract_field_ids(expr)):
            return translate_column_names(rewrite_not(expr), file_schema, case_sensitive, projected_field_values)
        return Not(translate_column_names(expr.child, file_schema, case_sensitive, projected_field_values))
    if not isinstance(expr, BoundPredicate):
        return expr
    field = expr.term.ref().field
    name = file_schema.find_column_name(field.field_id)
    if name is not None:
        return unbound_predicate(expr, name, expr.term.transform if isinstance(expr.term, BoundTransform) else None)
    given = projected_field_values or {}
    value = given.get(field.field_id, field.initial_default)
    return AlwaysTrue() if is_true(expr, value) else AlwaysFalse()
