"""Evaluation of expressions on single rows in Python; the core evaluates whole columns."""

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
    """Return a function from a row, such as a :class:`icefloe.typedef.Record`, to whether an expression is true for it.

    The function returns False where the expression is false or unknown; see :func:`is_true`.

    Raises:
        ResolveError: The schema has no column of a name, or several that differ by case alone.
        ValidationError: A literal cannot be compared with values of its column's type.

    >>> from icefloe.expressions import GreaterThan
    >>> from icefloe.schema import Schema
    >>> from icefloe.typedef import Record
    >>> from icefloe.types import NestedField
    >>> might_pass = expression_evaluator(Schema(NestedField(1, "x", "int")), GreaterThan("x", 5), True)
    >>> might_pass(Record(6)), might_pass(Record(None))
    (True, False)
    """
    # An unknown predicate evaluates to false, so negations are pushed down to the predicates first.
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
        raise ValidationError(f"not a bound expression: {expr!r}; expected predicates on the columns of a schema")
    return is_true(expr, expr.term.ref().eval(row))


def is_true(predicate: BoundPredicate, value: Any) -> bool:
    """Return whether a predicate is true for a value of its column.

    For null only ``is-null`` and ``not-nan`` are true: comparisons, ``in``, ``starts-with`` and their negations are unknown.
    NaN equals no literal and has no order: for NaN ``not-eq`` and ``not-in`` are true, ``<``, ``<=``, ``>`` and ``>=`` are not.
    -0.0 equals 0.0.

    Args:
        predicate: A bound predicate.
        value: The value of the predicate's column: a Python object, or the ordinal of a date, time or timestamp; None for null.
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
    """Return the unbound form of a bound expression, with the column names of a file's schema.

    A predicate on a column that the file lacks is evaluated on the value given for the field id, else on the initial default,
    else on null. It becomes :class:`AlwaysTrue` if it is true and :class:`AlwaysFalse` if it is false or unknown; ``Not`` above
    such a predicate is pushed down first, since the negation of unknown is unknown. Spec: Column Projection.

    Args:
        expr: A bound expression.
        file_schema: The schema of the file, with the field ids of the table.
        case_sensitive: Accepted for PyIceberg; columns are found by field id.
        projected_field_values: Values by field id, such as the values of identity-partitioned columns.
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
