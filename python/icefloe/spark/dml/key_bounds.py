"""The least and greatest values of a key column in Spark, as a range of the table's column that prunes files.

Spark's calendar goes on after the year 9999, where Python's ends: dates are days here, and timestamps microseconds or text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.expressions.literals import DateLiteral, TimestampLiteral, literal
from icefloe.table.row_level.key_ranges import between
from icefloe.types import (
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

    from icefloe.expressions import BooleanExpression
    from icefloe.types import IcebergType

# Keys of other pairs of types are compared after casts, under which the order of the source's values is not the target's.
_SAME_ORDER: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), (IntegerType, LongType)),
    "date": (DateType,),
    "string": (StringType,),
    "timestamp": (TimestamptzType,),
    "timestamp_ntz": (TimestampType,),
}
_FOUR_DIGITS = re.compile(r"\d{4}-")


def has_bounds(kind: str) -> bool:
    """Return whether keys of a Spark type, by its simple string, have bounds."""
    return kind in _SAME_ORDER or kind.startswith("decimal(")


def bounds(value: Column, kind: str) -> tuple[Column, Column]:
    """Return the aggregates of the least and the greatest value of a key, for :func:`key_range`; null without a value.

    Args:
        value: The key.
        kind: Simple string of its type, which :func:`has_bounds`.
    """
    if kind == "date":
        value = F.unix_date(value)
    if kind == "timestamp":
        value = F.unix_micros(value)
    least, greatest = F.min(value), F.max(value)
    # A timestamp without a zone has microseconds in the session's zone alone, which has gaps.
    return (least.cast("string"), greatest.cast("string")) if kind == "timestamp_ntz" else (least, greatest)


def key_range(name: str, target: IcebergType, kind: str, least: Any, greatest: Any) -> BooleanExpression | None:
    """Return a filter that is true for every row of the table whose key equals one of the source; None for no restriction.

    Args:
        name: Column of the table.
        target: Its type.
        kind: Simple string of the Spark type of the source's key.
        least: Result of the first aggregate of :func:`bounds`, not null.
        greatest: Result of the second.
    """
    if kind.startswith("decimal("):
        is_alike = isinstance(target, DecimalType) and kind.endswith(f",{target.scale})")
    else:
        is_alike = isinstance(target, _SAME_ORDER.get(kind, ()))
    if not is_alike:
        return None
    if kind == "date":
        return between(name, DateLiteral(least), DateLiteral(greatest))
    if kind == "timestamp":
        return between(name, TimestampLiteral(least, zoned=True), TimestampLiteral(greatest, zoned=True))
    if kind != "timestamp_ntz":
        return between(name, least, greatest)
    if not all(map(_FOUR_DIGITS.match, (least, greatest))):
        return None
    return between(name, *(literal(text.replace(" ", "T")).to(target) for text in (least, greatest)))
