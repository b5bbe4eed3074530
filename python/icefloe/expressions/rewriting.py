"""Expressions made of others: as a disjunction of conjunctions, over another schema's names."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.expressions import bound, predicates
from icefloe.expressions.bound import BoundLiteralPredicate, BoundPredicate, BoundSetPredicate
from icefloe.expressions.literals import DateLiteral, TimestampLiteral
from icefloe.expressions.negation import rewrite_not
from icefloe.expressions.predicates import UnboundPredicate
from icefloe.expressions.terms import BoundTransform, Reference, UnboundTransform
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.schema import Schema

# More conjunctions than any reader wants; their number grows with the product of the parts.
MAX_CONJUNCTIONS = 10_000


def rewrite_to_dnf(expr: BooleanExpression) -> tuple[BooleanExpression, ...]:
    """Return conjunctions of which any is true exactly where the expression is.

    Raises:
        ValidationError: There would be more than 10,000.

    >>> from icefloe.expressions.parser import parse
    >>> len(rewrite_to_dnf(parse("(a = 1 or b = 2) and (c = 3 or d = 4)")))
    4
    """
    return _conjunctions(rewrite_not(expr))


def _conjunctions(expr: BooleanExpression) -> tuple[BooleanExpression, ...]:
    if isinstance(expr, Or):
        return _conjunctions(expr.left) + _conjunctions(expr.right)
    if isinstance(expr, And):
        left, right = _conjunctions(expr.left), _conjunctions(expr.right)
        if len(left) * len(right) > MAX_CONJUNCTIONS:
            raise ValidationError(f"a disjunction of more than {MAX_CONJUNCTIONS} conjunctions")
        return tuple(And(one, other) for one in left for other in right)
    return (expr,)


def expression_to_plain_format(
    expressions: tuple[BooleanExpression, ...], cast_int_to_datetime: bool = False
) -> list[list[tuple[str, str, Any]]]:
    """Return bound conjunctions as lists of ``(column, operator, value)``, as Arrow and Dask take filters.

    Args:
        expressions: Conjunctions of bound predicates, as of :func:`rewrite_to_dnf`.
        cast_int_to_datetime: Give dates and timestamps as ``datetime`` objects, not as numbers.
    """
    return [_plain(expression, cast_int_to_datetime) for expression in expressions]


def _plain(expr: BooleanExpression, as_datetime: bool) -> list[tuple[str, str, Any]]:
    if isinstance(expr, And):
        return _plain(expr.left, as_datetime) + _plain(expr.right, as_datetime)
    if isinstance(expr, AlwaysTrue):
        return []
    operator = _PLAIN.get(getattr(expr, "operator", ""))
    if not isinstance(expr, BoundPredicate) or isinstance(expr.term, BoundTransform) or operator is None:
        raise ValidationError(f"no plain form of {expr!r}")
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
        return _unbound(expr, name)
    from icefloe.expressions.evaluation import is_true

    given = projected_field_values or {}
    value = given.get(field.field_id, field.initial_default)
    return AlwaysTrue() if is_true(expr, value) else AlwaysFalse()


def _unbound(expr: BoundPredicate, name: str) -> BooleanExpression:
    term = UnboundTransform(name, expr.term.transform) if isinstance(expr.term, BoundTransform) else Reference(name)
    kind: Any = _UNBOUND[type(expr)]
    if isinstance(expr, BoundSetPredicate):
        made: BooleanExpression = kind(term, expr.values)
    elif isinstance(expr, BoundLiteralPredicate):
        made = kind(term, expr.literal)
    else:
        made = kind(term)
    return made


_UNBOUND: dict[type[BoundPredicate], type[UnboundPredicate]] = {
    kind: getattr(predicates, name.removeprefix("Bound"))
    for name, kind in vars(bound).items()
    if name.startswith("Bound") and isinstance(kind, type) and issubclass(kind, BoundPredicate) and kind.operator
}


def column_names(expr: BooleanExpression) -> Iterator[str]:
    """Yield the names of the columns that an unbound expression is about, some perhaps more than once."""
    if isinstance(expr, (And, Or)):
        yield from column_names(expr.left)
        yield from column_names(expr.right)
    elif isinstance(expr, Not):
        yield from column_names(expr.child)
    elif isinstance(expr, UnboundPredicate):
        term = expr.term.term if isinstance(expr.term, UnboundTransform) else expr.term
        if isinstance(term, Reference):
            yield term.name


def extract_field_ids(expr: BooleanExpression) -> set[int]:
    """Return the ids of the columns that a bound expression is about."""
    if isinstance(expr, (And, Or)):
        return extract_field_ids(expr.left) | extract_field_ids(expr.right)
    if isinstance(expr, Not):
        return extract_field_ids(expr.child)
    return {expr.term.ref().field.field_id} if isinstance(expr, BoundPredicate) else set()
