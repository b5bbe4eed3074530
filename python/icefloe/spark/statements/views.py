"""Temporary views over queries of attached tables, and EXPLAIN of such queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import NoSuchViewError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.statements.statement import Statement

QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")
_MODES = ("EXTENDED", "CODEGEN", "COST", "FORMATTED")


def create_view(statement: Statement, text: str) -> None:
    """Run CREATE TEMPORARY VIEW; the view has the rows that the tables have now."""
    cursor = Cursor(text)
    cursor.expect("CREATE")
    replace = cursor.accept("OR", "REPLACE")
    everywhere = cursor.accept("GLOBAL")
    if not cursor.accept("TEMP"):
        cursor.expect("TEMPORARY")
    cursor.expect("VIEW")
    name = quoted(cursor.name())
    columns = cursor.name_items() if cursor.at("(") else None
    cursor.expect("AS")
    if not cursor.at(*QUERIES):
        raise cursor.error("a query after AS")
    frame = frame_of_query(statement, cursor.rest())
    frame = frame if columns is None else frame.toDF(*columns)
    if everywhere:
        (frame.createOrReplaceGlobalTempView if replace else frame.createGlobalTempView)(name)
    else:
        (frame.createOrReplaceTempView if replace else frame.createTempView)(name)


def explain(statement: Statement, text: str) -> DataFrame:
    """Return the plan of a query as Spark's EXPLAIN does, in one row."""
    cursor = Cursor(text)
    cursor.expect("EXPLAIN")
    mode = next((f"{mode} " for mode in _MODES if cursor.accept(mode)), "")
    if not cursor.at(*QUERIES):
        raise cursor.error("a query after EXPLAIN")
    return frame_of_query(statement, cursor.rest(), command=f"EXPLAIN {mode}")


def drop_view(statement: Statement, text: str) -> None:
    """Run ``DROP VIEW [IF EXISTS] name`` of an attached catalog, which has no views.

    Raises:
        NoSuchViewError: There is no IF EXISTS.
    """
    cursor = Cursor(text)
    cursor.expect("DROP", "VIEW")
    if_exists = cursor.accept("IF", "EXISTS")
    lake, identifier = statement.references.locate(cursor.names())
    cursor.finish()
    if not if_exists:
        name = ".".join((lake.name, *identifier))
        raise NoSuchViewError(
            f"DROP VIEW: {lake.name} has no views; expected a temporary view, got {name}: DROP TABLE drops a table"
        )
