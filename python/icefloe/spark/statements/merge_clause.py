"""The clauses of MERGE as their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.brackets import depths
from icefloe.table.row_level.clauses import Match

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class MergeClause:
    """A WHEN clause.

    Attributes:
        matched: The clause applies to matched pairs of rows.
        by_source: The clause applies to rows of the target that no row of the source matches.
        condition: The condition after AND; None without one.
        deletes: The clause deletes rows.
        assignments: The assignments after SET; None for SET *, and for a clause of another kind.
        inserted: The columns of INSERT with their values; None for INSERT *, and for a clause of another kind.
    """

    matched: bool
    by_source: bool
    condition: str | None
    deletes: bool = False
    assignments: str | None = None
    inserted: tuple[tuple[tuple[str, ...], str], ...] | None = None

    @property
    def inserts(self) -> bool:
        """Whether the clause inserts rows of the source."""
        return not (self.matched or self.by_source)

    @property
    def match(self) -> Match:
        """The rows that the clause applies to."""
        return Match.MATCHED if self.matched else Match.NOT_MATCHED_BY_SOURCE if self.by_source else Match.NOT_MATCHED

    @property
    def takes_all(self) -> bool:
        """Whether the clause takes all columns from the source."""
        return not self.deletes and self.assignments is None and self.inserted is None

    @property
    def side(self) -> str | None:
        """The only side that the clause reads; None for both."""
        return None if self.matched else "target" if self.by_source else "source"

    @property
    def kind(self) -> str:
        """The words between WHEN and the condition."""
        return "MATCHED" if self.matched else "NOT MATCHED BY SOURCE" if self.by_source else "NOT MATCHED"


def merge_clauses(cursor: Cursor) -> Iterator[MergeClause]:
    """Yield the clauses from the position of a cursor to the end of the statement.

    Raises:
        ValidationError: A clause does not parse.
        FeatureUnsupportedError: A clause is not supported.
    """
    while not cursor.done:
        cursor.expect("WHEN")
        yield _clause(cursor)


def until_when(cursor: Cursor) -> str:
    """Return the text before the next WHEN, or before the end, outside of parentheses and CASE."""
    return _until(cursor, "WHEN")


def _clause(cursor: Cursor) -> MergeClause:
    matched = cursor.accept("MATCHED")
    by_source = False
    if not matched:
        cursor.expect("NOT", "MATCHED")
        by_source = cursor.accept("BY", "SOURCE")
        if not by_source:
            cursor.accept("BY", "TARGET")
    condition = _until(cursor, "THEN") if cursor.accept("AND") else None
    cursor.expect("THEN")
    if cursor.at("DO"):
        raise FeatureUnsupportedError(
            "MERGE: DO NOTHING is not supported; expected UPDATE, DELETE or INSERT, got DO NOTHING: leave the clause out, and exclude its "
            "rows by the conditions of the clauses after it"
        )
    if not (matched or by_source):
        return MergeClause(matched=False, by_source=False, condition=condition, inserted=_inserted(cursor))
    if cursor.accept("DELETE"):
        return MergeClause(matched=matched, by_source=by_source, condition=condition, deletes=True)
    cursor.expect("UPDATE", "SET")
    assignments = None if matched and cursor.accept("*") else until_when(cursor)
    return MergeClause(matched=matched, by_source=by_source, condition=condition, assignments=assignments)


def _inserted(cursor: Cursor) -> tuple[tuple[tuple[str, ...], str], ...] | None:
    cursor.expect("INSERT")
    if cursor.accept("*"):
        return None
    if cursor.at("VALUES"):
        raise FeatureUnsupportedError(
            "MERGE: INSERT without columns is not Spark SQL; expected INSERT (column, ...) VALUES (...) or INSERT *, got INSERT VALUES"
        )
    names = [Cursor(item).names() for item in cursor.items()]
    cursor.expect("VALUES")
    values = cursor.items()
    if len(values) != len(names):
        shown = ", ".join(".".join(name) for name in names)
        raise ValidationError(f"MERGE: INSERT expects one value for each of {shown}, got {len(values)} values")
    return tuple(zip(names, values, strict=True))


def _until(cursor: Cursor, keyword: str) -> str:
    """Return the text before a keyword outside of parentheses and CASE."""
    first = cursor.peek()
    for word, depth in depths(cursor.words[cursor.index :]):
        if depth == 0 and word.is_keyword(keyword):
            break
        cursor.index += 1
    if first is None or (cursor.done and keyword != "WHEN"):
        raise cursor.error(keyword)
    last = cursor.words[cursor.index - 1]
    return cursor.text[first.start : last.end]
