"""Conditions of procedures: filters in which names and times have Spark's meaning."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from icefloe.expressions import And, BooleanExpression, Not, Or
from icefloe.expressions.filter import Filter
from icefloe.expressions.literals import DateLiteral, Literal, StringLiteral, TimestampLiteral
from icefloe.expressions.predicates import LiteralPredicate, SetPredicate, column_names, with_column
from icefloe.expressions.terms import Reference
from icefloe.spark.maintenance.rewrite_options import filter_text
from icefloe.spark.maintenance.session_zone import zone_of
from icefloe.types import TimestamptzType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.schema import Schema

_EPOCH = datetime(1970, 1, 1)
_ZONE = "spark.sql.session.timeZone"


def where(condition: str, schema: Schema, spark: Any = None, *, case_sensitive: bool = False) -> BooleanExpression:
    """Return the filter of a condition: names match in any case, and a time without an offset is one of the session's time zone.

    Args:
        condition: A condition of Spark SQL.
        schema: The table's schema.
        spark: Session, which computes constants such as `current_date() - 7`; None for UTC and literals alone.
        case_sensitive: Match names in their case alone.

    Raises:
        ResolveError: A column does not exist.
        ValidationError: The condition is no filter, or a constant is NULL or random.
    """
    if spark is not None:
        from icefloe.spark.maintenance.folding import fold

        condition = fold(condition, spark)
    expression = Filter.of(filter_text(condition), schema).expression
    zone = "UTC" if spark is None else spark.conf.get(_ZONE)
    return _resolved(expression, schema, zone, case_sensitive=case_sensitive)


def _resolved(expression: BooleanExpression, schema: Schema, zone: str, *, case_sensitive: bool) -> BooleanExpression:
    if isinstance(expression, (And, Or)):
        sides = (expression.left, expression.right)
        left, right = (_resolved(side, schema, zone, case_sensitive=case_sensitive) for side in sides)
        return And(left, right) if isinstance(expression, And) else Or(left, right)
    if isinstance(expression, Not):
        return Not(_resolved(expression.child, schema, zone, case_sensitive=case_sensitive))
    name = next(column_names(expression), None)
    if name is None:
        return expression
    field = schema.find_field(name, case_sensitive=case_sensitive)
    own: Any = with_column(expression, schema.find_column_name(field.field_id) or name)  # type: ignore[arg-type]
    if isinstance(field.field_type, TimestamptzType) and isinstance(own.term, Reference):
        return _with_literals(own, lambda value: _in_zone(value, zone))
    return own  # type: ignore[no-any-return]


def _with_literals(predicate: Any, changed: Callable[[Literal], Literal]) -> BooleanExpression:
    if isinstance(predicate, SetPredicate):
        return type(predicate)(predicate.term, [changed(value) for value in predicate.values])
    if isinstance(predicate, LiteralPredicate):
        return type(predicate)(predicate.term, changed(predicate.literal))
    return predicate  # type: ignore[no-any-return]


def _in_zone(value: Literal, zone: str) -> Literal:
    """Return a time without an offset with the offset of the zone; other literals as they are."""
    try:
        moment = _moment(value)
        if moment is None or moment.tzinfo is not None:
            return value
        offset = moment.replace(tzinfo=zone_of(zone)).utcoffset() or timedelta()
        # The offset of a literal has whole minutes; those of Spark, and local times of the 19th century, may have seconds.
        seconds = offset % timedelta(minutes=1)
        return StringLiteral((moment - seconds).replace(tzinfo=timezone(offset - seconds)).isoformat())
    except (ValueError, OverflowError):  # binding refuses it, or it is beyond Python's calendar
        return value


def _moment(value: Literal) -> datetime | None:
    if isinstance(value, DateLiteral):
        return _EPOCH + timedelta(days=value.value)
    if isinstance(value, TimestampLiteral) and not value.zoned:
        return _EPOCH + timedelta(microseconds=value.value)
    return datetime.fromisoformat(value.value.strip()) if isinstance(value, StringLiteral) else None
