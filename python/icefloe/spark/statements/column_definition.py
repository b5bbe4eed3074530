"""Definitions of columns in statements: a name, a type, and NOT NULL, COMMENT and a position in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql.types import StructField, StructType

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONSTRAINTS = ("PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "REFERENCES", "CONSTRAINT")
_CLAUSES = ("FIRST", "AFTER", "COMMENT", "NOT", "DEFAULT", "GENERATED", *_CONSTRAINTS)
_OF_TABLES = (("PRIMARY", "KEY"), ("FOREIGN", "KEY"), ("UNIQUE", "("), ("CHECK", "("))
"""The first words of constraints among the columns of a table."""
_BRACKETS = {"(": 1, "<": 1, ")": -1, ">": -1}


@dataclass(frozen=True, kw_only=True)
class ColumnDefinition:
    """A column in ADD COLUMN, CHANGE COLUMN, REPLACE COLUMNS or CREATE TABLE.

    Args:
        path: Names of the structs around the column, and its own.
        data_type: Spark type.
        required: Whether NOT NULL is given.
        comment: COMMENT; None without one.
        position: `("FIRST",)`, `("AFTER", name)`, or None without a position.
    """

    path: tuple[str, ...]
    data_type: Any
    required: bool = False
    comment: str | None = None
    position: tuple[str, ...] | None = None

    @staticmethod
    def of(item: str, label: str) -> ColumnDefinition:
        """Return the definition that a text is.

        Args:
            item: The text.
            label: The statement, for errors.

        Raises:
            ValidationError: The text is no definition, its type is none of Spark, or it has a clause twice.
            FeatureUnsupportedError: The text is a constraint, or has a default, a generated value or a constraint.
        """
        cursor = Cursor(item)
        _check_no_constraint(cursor, label)
        made = ColumnDefinition(path=cursor.names(), data_type=type_of(cursor, label))
        given: set[str] = set()
        while not cursor.done:
            clause, made = _with_clause(cursor, made, label)
            if clause in given:
                raise ValidationError(f"{label}: column {'.'.join(made.path)!r} has {clause} twice; expected it once")
            given.add(clause)
        return made

    def field(self) -> StructField:
        """Return the column as a field of a new table."""
        metadata = {} if self.comment is None else {"comment": self.comment}
        return StructField(self.path[-1], self.data_type, not self.required, metadata)


def struct_of(items: Sequence[str], label: str) -> StructType:
    """Return the columns of a new table.

    Raises:
        ValidationError: An item is no definition of a column, or has a position.
        FeatureUnsupportedError: A column has a default or a generated value.
    """
    definitions = [ColumnDefinition.of(item, label) for item in items]
    for one in definitions:
        if len(one.path) > 1 or one.position is not None:
            raise ValidationError(
                f"{label}: expected the columns of a new table in their order, each with one name, got {'.'.join(one.path)!r}"
                f"{'' if one.position is None else ' ' + ' '.join(one.position)}"
            )
    return StructType([one.field() for one in definitions])


def type_of(cursor: Cursor, label: str) -> Any:
    """Return the Spark type that follows, up to a clause of a column.

    Raises:
        ValidationError: No type follows, or it is none of Spark.
    """
    start, depth = cursor.index, 0
    while (word := cursor.peek()) is not None and (depth > 0 or not word.is_keyword(*_CLAUSES)):
        depth += _BRACKETS.get(word.text, 0) if word.kind == "sign" else 0
        cursor.index += 1
    if cursor.index == start:
        raise cursor.error("the type of the column")
    text = cursor.text[cursor.words[start].start : cursor.words[cursor.index - 1].end]
    try:
        struct: Any = StructType.fromDDL(f"c {text}")
    except PySparkException as error:
        raise ValidationError(
            f"{label}: expected a type of Spark such as bigint or struct<a: int>, got {text!r}"
        ) from error
    return struct.fields[0].dataType


def _with_clause(cursor: Cursor, made: ColumnDefinition, label: str) -> tuple[str, ColumnDefinition]:
    """Return the name of the clause that follows, and the definition with it."""
    if cursor.accept("NOT", "NULL"):
        return "NOT NULL", replace(made, required=True)
    if cursor.accept("COMMENT"):
        return "COMMENT", replace(made, comment=cursor.string())
    if cursor.accept("FIRST"):
        return "a position", replace(made, position=("FIRST",))
    if cursor.accept("AFTER"):
        return "a position", replace(made, position=("AFTER", cursor.name()))
    if cursor.accept("DEFAULT"):
        raise FeatureUnsupportedError(
            f"{label}: DEFAULT needs format version 3, which icefloe does not write; expected a column without it, got DEFAULT"
        )
    if cursor.accept("GENERATED"):
        raise FeatureUnsupportedError(
            f"{label}: Iceberg has no generated columns; expected a column without GENERATED, got {'.'.join(made.path)!r}"
        )
    if cursor.at(*_CONSTRAINTS):
        raise _refusal(cursor, label)
    raise cursor.error("NOT NULL, COMMENT, FIRST, AFTER or the end of the column")


def _check_no_constraint(cursor: Cursor, label: str) -> None:
    """Raise FeatureUnsupportedError if a constraint of the table follows, not a column."""
    first, second, third = cursor.peek(), cursor.peek(1), cursor.peek(2)
    if first is None or second is None:
        return
    is_named = first.is_keyword("CONSTRAINT") and third is not None and third.is_keyword(*_CONSTRAINTS)
    if is_named or any(first.is_keyword(one) and second.is_keyword(other) for one, other in _OF_TABLES):
        raise _refusal(cursor, label)


def _refusal(cursor: Cursor, label: str) -> FeatureUnsupportedError:
    """Return the error for the constraint that follows."""
    if cursor.accept("CONSTRAINT"):
        cursor.name()
    word = cursor.next_word("a constraint").text.upper()
    shown = f"{word} KEY" if word in ("PRIMARY", "FOREIGN") else word
    instead = "columns without constraints, which Iceberg does not have"
    if word == "PRIMARY":
        instead = "ALTER TABLE ... SET IDENTIFIER FIELDS after the creation"
    return FeatureUnsupportedError(f"{label}: {shown} is not supported; expected {instead}, got {shown}")
