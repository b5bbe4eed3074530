"""Conditions of Spark columns as row filters: comparisons of a column with literals of its type, whose meaning no cast changes."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.expressions import (
    AlwaysFalse,
    AlwaysTrue,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNull,
    LessThan,
    LessThanOrEqual,
    NotEqualTo,
    NotNull,
    StartsWith,
    literal,
)
from icefloe.expressions.tree import all_of, any_of
from icefloe.types import BooleanType, DateType, IntegerType, LongType, StringType

if TYPE_CHECKING:
    from pyspark.sql import Column

    from icefloe.expressions import BooleanExpression
    from icefloe.schema import Schema

_COMPARISONS: dict[str, tuple[Any, Any]] = {
    "=": (EqualTo, EqualTo),
    "!=": (NotEqualTo, NotEqualTo),
    "<": (LessThan, GreaterThan),
    "<=": (LessThanOrEqual, GreaterThanOrEqual),
    ">": (GreaterThan, LessThan),
    ">=": (GreaterThanOrEqual, LessThanOrEqual),
}
"""Predicate of a column and a literal, and of a literal and a column, by Spark's name of the function."""
_OPPOSITES = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "isnull": "isnotnull",
    "isnotnull": "isnull",
}
"""Function that is true where another one is false; both are null for the same rows, or for none."""
_VALUES: dict[type[Any], type[Any]] = {
    IntegerType: int,
    LongType: int,
    StringType: str,
    BooleanType: bool,
    DateType: date,
}
"""Python's type of literals that Spark compares with a column without a cast that may change the result, by the type of the column."""

_NEGATIONS = ("!", "not")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def filter_of_column(condition: Column, schema: Schema) -> BooleanExpression:
    """Return the filter that selects the same rows as a condition of Spark.

    Args:
        condition: Spark column, not one of Spark Connect.
        schema: The table's schema.

    Raises:
        ValidationError: The condition is none of the accepted ones, or a column of Spark Connect.
    """
    # A column of Spark Connect raises an error of attributes here.
    tree = getattr(condition, "_jc", None)
    found = None if tree is None else _filter(tree.node(), schema)
    if found is None:
        raise ValidationError(
            "overwrite: expected a filter as text, or comparisons of columns of int, long, string, boolean or date with literals of the type, "
            f"isin, startswith, isNull and isNotNull, joined by &, | and ~, got {condition}: write the condition as text, such as 'id = 1'"
        )
    return found


def _filter(node: Any, schema: Schema) -> BooleanExpression | None:
    """Return the filter of a node of Spark's tree; None if there is none."""
    if _kind(node) == "Literal" and isinstance(node.value(), bool):
        return AlwaysTrue() if node.value() else AlwaysFalse()
    if _kind(node) != "UnresolvedFunction":
        return None
    name, arguments = node.functionName().lower(), _items(node.arguments())
    if name in ("and", "or"):
        filters = [_filter(one, schema) for one in arguments]
        known = [one for one in filters if one is not None]
        return None if len(known) < len(filters) else (all_of if name == "and" else any_of)(*known)
    if name in _NEGATIONS:
        return _negation(arguments[0], schema)
    return _predicate(name, arguments, schema)


def _negation(node: Any, schema: Schema) -> BooleanExpression | None:
    """Return the filter of rows for which a node is false; null is not false."""
    opposite = _OPPOSITES.get(node.functionName().lower()) if _kind(node) == "UnresolvedFunction" else None
    return None if opposite is None else _predicate(opposite, _items(node.arguments()), schema)


def _predicate(name: str, arguments: list[Any], schema: Schema) -> BooleanExpression | None:
    """Return the filter of a function of one column."""
    if name in _COMPARISONS:
        return _comparison(name, arguments, schema)
    column = _column(arguments[0], schema) if arguments else None
    if column is None:
        return None
    path, kind = column
    if name in ("isnull", "isnotnull"):
        return IsNull(path) if name == "isnull" else NotNull(path)
    values = [_value(one, kind) for one in arguments[1:]]
    if not values or None in values:
        return None
    if name == "in":
        return In(path, [literal(value).to(kind) for value in values])
    return StartsWith(path, values[0]) if name == "startswith" and isinstance(kind, StringType) else None


def _comparison(name: str, arguments: list[Any], schema: Schema) -> BooleanExpression | None:
    left, right = arguments
    made, other = _COMPARISONS[name]
    column = _column(left, schema)
    if column is None:
        column, right, made = _column(right, schema), left, other
    value = None if column is None else _value(right, column[1])
    return None if column is None or value is None else made(column[0], literal(value).to(column[1]))


def _column(node: Any, schema: Schema) -> tuple[str, Any] | None:
    """Return name and type of the table's column that a node is; None for other nodes and types."""
    if _kind(node) != "UnresolvedAttribute":
        return None
    parts = _items(node.nameParts())
    field = next((one for one in schema.fields if [one.name] == parts), None)
    return None if field is None or type(field.field_type) not in _VALUES else (field.name, field.field_type)


def _value(node: Any, kind: Any) -> Any:
    """Return the literal of a column's type that a node is; None for other nodes, among them null."""
    if _kind(node) != "Literal":
        return None
    value = node.value()
    if isinstance(kind, DateType):
        # The JVM has dates of its own, whose text is that of ISO 8601.
        text = value if isinstance(value, str) else "" if value is None else str(value.toString())
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    return value if type(value) is _VALUES[type(kind)] else None


def _items(sequence: Any) -> list[Any]:
    """Return the items of a sequence of the JVM."""
    return [sequence.apply(index) for index in range(sequence.size())]


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())
