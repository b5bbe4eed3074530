"""Scalar subqueries in the values of a MERGE statement: each is computed once, before the merge, as a view of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import words_of
from icefloe.spark.statements.query import frame_of_query
from icefloe.table.environment import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pyspark.sql import DataFrame
    from typing_extensions import Self

    from icefloe.spark.statements.statement import Statement

_QUERIES = ("SELECT", "WITH", "VALUES", "FROM", "TABLE")
_PREDICATES = ("IN", "EXISTS", "ANY", "SOME", "ALL")


class ScalarSubqueries:
    """The scalar subqueries of one statement; their views are dropped when the block ends.

    Args:
        statement: The statement, whose WITH clause the subqueries may use.
    """

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._views: dict[str, DataFrame] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, frame in self._views.items():
            self._statement.spark.catalog.dropTempView(name)
            frame.unpersist()

    def value(self, text: str, rewritten: Callable[[str], str], clause: str) -> str:
        """Return the SQL of a value in which each scalar subquery reads its view.

        Args:
            text: SQL of the value.
            rewritten: Rewrites the value without its subqueries, in the place of which it has texts in quotes.
            clause: The clause of the value, for errors.

        Raises:
            ValidationError: Spark refuses a subquery, such as one that reads columns of the merged rows.
        """
        views: dict[str, str] = {}
        for start, end in reversed(subqueries(text)):
            view = self._view_of(text[start + 1 : end - 1], clause)
            views[f"'{view}'"] = f"(SELECT value FROM {view})"
            text = f"{text[:start]}'{view}'{text[end:]}"
        sql = rewritten(text)
        for mark, query in views.items():
            sql = sql.replace(mark, query)
        return sql

    def _view_of(self, query: str, clause: str) -> str:
        name = f"icefloe_scalar_{SYSTEM.new_uuid().replace('-', '_')}"
        try:
            frame = frame_of_query(self._statement, f"{self._statement.above}SELECT ({query}) AS value")
            # Over Spark Connect, reading the schema makes Spark analyse the query.
            _ = frame.schema
        except AnalysisException as error:
            problem = str(error).strip().splitlines()[0].split(" Did you mean")[0].split(" SQLSTATE")[0].rstrip(".;")
            raise ValidationError(
                f"MERGE, {clause}: {problem}; expected a subquery of one value that reads no column of the merged rows, got ({query}): "
                "compute it in the query of USING, as a column of the source"
            ) from error
        # Every job of the merge reads the same value.
        frame = frame.persist()
        self._views[name] = frame
        frame.createOrReplaceTempView(name)
        return name


def subqueries(text: str) -> list[tuple[int, int]]:
    """Return the offsets of the scalar subqueries of an expression, with their parentheses.

    Examples:
        >>> subqueries("a + (SELECT max(b) FROM t)")
        [(4, 26)]
        >>> subqueries("a IN (SELECT b FROM t)")
        []
    """
    words = words_of(text)
    found = []
    end_of_last = 0
    for index, word in enumerate(words[:-1]):
        begins = word.is_keyword("(") and words[index + 1].is_keyword(*_QUERIES)
        if not begins or word.start < end_of_last:
            continue
        depth = 0
        for last in words[index:]:
            depth += last.is_keyword("(") - last.is_keyword(")")
            if depth == 0:
                break
        end_of_last = last.end
        if index == 0 or not words[index - 1].is_keyword(*_PREDICATES):
            found.append((word.start, last.end))
    return found
