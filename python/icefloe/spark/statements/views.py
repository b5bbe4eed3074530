"""Views: temporary ones over queries of attached tables, DROP VIEW of a catalog, and EXPLAIN of queries."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from icefloe.exceptions import NoSuchViewError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.catalog_views import drop_catalog_view
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
    """Run ``DROP VIEW [IF EXISTS] name`` of an attached catalog.

    Raises:
        NoSuchViewError: There is no such view, and no IF EXISTS.
    """
    cursor = Cursor(text)
    cursor.expect("DROP", "VIEW")
    if_exists = cursor.accept("IF", "EXISTS")
    parts = cursor.names()
    cursor.finish()
    with suppress(NoSuchViewError) if if_exists else nullcontext():
        drop_catalog_view(statement.references, parts)
