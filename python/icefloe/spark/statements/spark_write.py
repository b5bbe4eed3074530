"""Statements whose target Spark itself has: Spark runs them, with DataFrames in the place of attached tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.spark.statements.brackets import depths
from icefloe.spark.statements.query import frame_of_query, frame_of_unparsed_query
from icefloe.spark.statements.query_start import begins_query, begins_with_column
from icefloe.spark.statements.statement import names_catalog, run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.lexer import Cursor
    from icefloe.spark.statements.statement import Statement


_FAILED_PLAN = "Error occurred during query planning:"


@dataclass(frozen=True, kw_only=True)
class SparkWrite:
    """An INSERT or CREATE TABLE ... AS of a table of Spark's own; Spark runs nothing before :meth:`commit`.

    Args:
        statement: The statement.
        command: The words before the query.
        query: The query; empty without one.
    """

    statement: Statement
    command: str
    query: str

    def check(self) -> None:
        """Have Spark analyse the statement without running it.

        Raises:
            AnalysisException: The statement cannot run: a column does not exist, or the query has another number of columns.
        """
        if not self.query:
            return
        plan = frame_of_query(self.statement, self.query, command=f"EXPLAIN {self.command}").collect()
        text = "\n".join(str(row[0]) for row in plan)
        # EXPLAIN returns the error of a statement as its plan.
        if text.startswith(_FAILED_PLAN):
            raise AnalysisException(text.removeprefix(_FAILED_PLAN).strip())

    def commit(self) -> None:
        """Run the statement in Spark."""
        if not self.query:
            run(self.statement, self.command)
            return
        frame_of_query(self.statement, self.query, command=self.command)


def spark_write(statement: Statement, cursor: Cursor, label: str) -> SparkWrite:
    """Return the write of a statement whose target Spark has.

    Args:
        statement: The statement.
        cursor: A position after the target.
        label: The statement, for errors.

    Raises:
        FeatureUnsupportedError: The statement names an attached table and has no query.
    """
    before = cursor.words[cursor.index - 1]
    for word, depth in depths(cursor.words[cursor.index :]):
        after = cursor.peek(1)
        of_serde = after is not None and after.is_keyword("SERDEPROPERTIES")
        of_columns = after is not None and begins_with_column(after, cursor.peek(2))
        if depth == 0 and not of_serde and not of_columns and begins_query(before, word, after):
            query = statement.with_named_queries(cursor.rest())
            return SparkWrite(statement=statement, command=cursor.text[: word.start], query=query)
        before = word
        cursor.index += 1
    if names_catalog(statement, cursor.text):
        raise _without_query(label)
    return SparkWrite(statement=statement, command=cursor.text, query="")


def change_in_spark(statement: Statement, text: str, label: str) -> DataFrame:
    """Run MERGE, UPDATE or DELETE of a table that Spark has; Spark reads all rows and columns of the attached tables.

    Raises:
        FeatureUnsupportedError: A version of an attached table is read, or an attached table where no DataFrame can stand.
    """
    return frame_of_unparsed_query(statement, statement.above + text, {}, "", _without_query(label))


def _without_query(label: str) -> FeatureUnsupportedError:
    return FeatureUnsupportedError(
        f"{label}: the target is in no attached catalog, and Spark cannot read the attached tables in this statement; expected a temporary "
        f"view of them: run CREATE TEMPORARY VIEW v AS SELECT ... by icefloe.spark.sql, and then {label} with v by spark.sql"
    )
