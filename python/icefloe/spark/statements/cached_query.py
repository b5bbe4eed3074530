"""CACHE TABLE ... AS: a query of attached tables, cached under a name of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.views import QUERIES
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from icefloe.spark.statements.statement import Statement


def cache_table(statement: Statement, text: str) -> None:
    """Run ``CACHE [LAZY] TABLE name [OPTIONS (...)] [AS] query``: a temporary view of this name, whose rows Spark caches.

    The view has the rows that the tables have now, also after they change.

    Raises:
        FeatureUnsupportedError: There is no query: an attached table is not cached, since each statement reads its newest version.
    """
    cursor = Cursor(text)
    cursor.expect("CACHE")
    lazy = "LAZY " if cursor.accept("LAZY") else ""
    cursor.expect("TABLE")
    name = cursor.names()
    options = f" OPTIONS ({cursor.group()})" if cursor.accept("OPTIONS") else ""
    has_query = cursor.accept("AS") or cursor.at(*QUERIES)
    if not has_query or len(name) > 1:
        raise FeatureUnsupportedError(
            f"CACHE TABLE: each statement reads the newest version of an attached table; expected CACHE TABLE name AS SELECT ..., got "
            f"{'.'.join(name)}"
        )
    view = quoted(name[0])
    frame_of_query(statement, cursor.rest()).createTempView(view)
    try:
        statement.spark.sql(f"CACHE {lazy}TABLE {view}{options}")
    except Exception:
        statement.spark.catalog.dropTempView(name[0])
        raise
