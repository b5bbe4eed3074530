"""Conditions of Spark columns as row filters: comparisons of a column with literals of its type, whose meaning no cast changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
from icefloe.expressions.tree import MAX_DEPTH, all_of, any_of
from icefloe.spark.types.conform import quoted
from icefloe.types import BooleanType, DateType, IntegerType, LongType, StringType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column

    from icefloe.expressions import BooleanExpression
    from icefloe.schema import Schema
    from icefloe.types import NestedField

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

_JOINS = {"and": all_of, "or": any_of}
_NEGATIONS = ("!", "not")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MAX_CONDITIONS = 2_000
"""The maximum number of conditions in a chain of `&` or `|`. At 3,000 the JVM's own recursive functions of the chain overflow its stack."""


def filter_of_column(condition: Column, schema: Schema, *, case_sensitive: bool = False) -> BooleanExpression:
    """Return the filter that selects the same rows as a condition of Spark.

    Args:
        condition: Spark column, not one of Spark Connect.
        schema: The table's schema.
        case_sensitive: Distinguish names of columns by case, as Spark does with ``spark.sql.caseSensitive``.

    Raises:
        ValidationError: The condition is none of the accepted ones, a column of Spark Connect or of a DataFrame, or joins more than
            2,000 conditions.

    Examples:
        >>> from pyspark.sql.functions import col
        >>> filter_of_column(col("ID") > 1, table.schema())
        GreaterThan(term=Reference(name='id'), literal=LongLiteral(1))
    """
    # A column of Spark Connect raises an error of attributes here.
    tree = getattr(condition, "_jc", None)
    if tree is None:
        raise _refusal(
            condition,
            "a column of Spark Connect is not readable here, so write the condition as text, such as 'id = 1'",
        )
    return _ConditionReader(condition=condition, schema=schema, case_sensitive=case_sensitive).read(tree.node())


def _refusal(condition: Column, advice: str) -> ValidationError:
    return ValidationError(
        "overwrite: expected a filter as text, or comparisons of columns of int, long, string, boolean or date with literals of the type, "
        f"isin and startswith, or isNull and isNotNull of any column, joined by &, | and ~, got {condition}: {advice}"
    )


@dataclass(frozen=True, kw_only=True)
class _ConditionReader:
    """The conversion of one condition to a filter of one table."""

    condition: Column
    schema: Schema
    case_sensitive: bool

    def read(self, root: Any) -> BooleanExpression:
        """Return the filter of the root of the condition's tree."""
        found = self._filter(root, 0)
        if found is None:
            raise _refusal(self.condition, "write the condition as text, such as 'id = 1'")
        return found

    def _filter(self, node: Any, depth: int) -> BooleanExpression | None:
        """Return the filter of a node of Spark's tree; None if there is none."""
        if depth > MAX_DEPTH:
            raise ValidationError(
                f"overwrite: expected & and | nested at most {MAX_DEPTH} deep, got a deeper condition: group the conditions "
                "of one operator"
            )
        if _kind(node) == "Literal" and isinstance(node.value(), bool):
            return AlwaysTrue() if node.value() else AlwaysFalse()
        name = _function(node)
        if name in _JOINS:
            # One refused operand refuses the condition, so the operands behind it stay unread.
            filters = []
            for operand in _operands(name, node):
                one = self._filter(operand, depth + 1)
                if one is None:
                    return None
                filters.append(one)
            return _JOINS[name](*filters)
        if name in _NEGATIONS:
            # Null is not false: the negation of a comparison selects no null.
            negated = node.arguments().apply(0)
            opposite = _OPPOSITES.get(_function(negated))
            return None if opposite is None else self._predicate(opposite, _items(negated.arguments()))
        return self._predicate(name, _items(node.arguments())) if name else None

    def _predicate(self, name: str, arguments: list[Any]) -> BooleanExpression | None:
        """Return the filter of a function of one column."""
        if name in _COMPARISONS:
            return self._comparison(name, arguments)
        field = self._field(arguments[0]) if arguments else None
        if field is None:
            return None
        if name in ("isnull", "isnotnull"):
            return IsNull(field.name) if name == "isnull" else NotNull(field.name)
        path, kind = self._comparable(field)
        values = [_value(one, kind) for one in arguments[1:]]
        if None in values:
            return None
        if name == "in":
            # `isin([])` selects no row, as in Spark.
            return In(path, [literal(value).to(kind) for value in values]) if values else AlwaysFalse()
        return StartsWith(path, values[0]) if name == "startswith" and isinstance(kind, StringType) else None

    def _comparison(self, name: str, arguments: list[Any]) -> BooleanExpression | None:
        left, right = arguments
        made, other = _COMPARISONS[name]
        column = self._column(left)
        if column is None:
            column, right, made = self._column(right), left, other
        value = None if column is None else _value(right, column[1])
        return None if column is None or value is None else made(column[0], literal(value).to(column[1]))

    def _column(self, node: Any) -> tuple[str, Any] | None:
        """Return name and type of the table's column that a node is, for a comparison; None for other nodes."""
        field = self._field(node)
        return None if field is None else self._comparable(field)

    def _comparable(self, field: NestedField) -> tuple[str, Any]:
        """Return name and type of a column that a literal is compared with."""
        if type(field.field_type) in _VALUES:
            return field.name, field.field_type
        raise _refusal(
            self.condition,
            f"column {field.name!r} has type {field.field_type}, write the condition as text, such as 'id = 1'",
        )

    def _field(self, node: Any) -> NestedField | None:
        """Return the table's column that a node is; None for other nodes."""
        kind = _kind(node)
        if kind == "ExpressionColumnNode" and _kind(node.expression()) == "AttributeReference":
            name = str(node.expression().name())
            raise _refusal(self.condition, f"{name} is a column of a DataFrame: use F.col({name!r})")
        if kind != "UnresolvedAttribute":
            return None
        parts = _items(node.nameParts())
        fields = [
            one for one in self.schema.fields if [self._compared(one.name)] == [self._compared(part) for part in parts]
        ]
        if not fields:
            raise _refusal(self.condition, self._advice_for_name(".".join(parts)))
        if len(fields) > 1:
            names = " and ".join(repr(one.name) for one in fields)
            raise _refusal(
                self.condition,
                f"the table has the columns {names}, set spark.sql.caseSensitive to true to tell them apart",
            )
        return fields[0]

    def _advice_for_name(self, name: str) -> str:
        """Return what to do about a name that is no column: a name with dots needs backquotes."""
        dotted = next(
            (one.name for one in self.schema.fields if self._compared(one.name) == self._compared(name)), None
        )
        if dotted is not None:
            return f"Spark takes {name!r} for a field of a struct, use F.col({quoted(dotted)!r}) for the column of this name"
        return f"the table has no column {name!r} outside of structs, use one of {self._names()}"

    def _compared(self, name: str) -> str:
        return name if self.case_sensitive else name.lower()

    def _names(self) -> str:
        return ", ".join(one.name for one in self.schema.fields)


def _operands(name: str, node: Any) -> Iterator[Any]:
    """Yield the operands of a chain of one function, from left to right; Spark's tree of a chain is as deep as the chain is long."""
    remaining, found = [node], 0
    while remaining:
        one = remaining.pop()
        if _function(one) == name:
            remaining += reversed(_items(one.arguments()))
        else:
            found += 1
            yield one
        if found + len(remaining) > MAX_CONDITIONS:
            raise ValidationError(
                f"overwrite: expected at most {MAX_CONDITIONS} conditions joined by & or |, got more: compare a column with many values by "
                "isin"
            )


def _value(node: Any, kind: Any) -> Any:
    """Return the literal of a column's type that a node is; None for other nodes, among them null."""
    if _kind(node) != "Literal":
        return None
    value = node.value()
    if isinstance(kind, DateType):
        # The JVM has dates of its own, whose text is that of ISO 8601.
        return _date(str(value))
    return value if type(value) is _VALUES[type(kind)] else None


def _date(text: str) -> date | None:
    """Return the date of a text; None for other texts, days that no calendar has, and years that Python lacks."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _function(node: Any) -> str:
    """Return the name of the function that a node calls, in lower case; an empty text for other nodes."""
    return str(node.functionName()).lower() if _kind(node) == "UnresolvedFunction" else ""


def _items(sequence: Any) -> list[Any]:
    """Return the items of a sequence of the JVM."""
    return [sequence.apply(index) for index in range(sequence.size())]


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())
