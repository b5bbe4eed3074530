"""CACHE TABLE: a query of attached tables, cached under a name of the session, or an attached table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.cached_table import cache_attached_table
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.views import QUERIES
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from icefloe.spark.statements.statement import Statement


def cache_table(statement: Statement, text: str) -> None:
    """Run ``CACHE [LAZY] TABLE name [OPTIONS (...)] [[AS] query]``.

    With a query, the name is a temporary view, which has the rows that the tables have now, also after they change. Without one, it is
    an attached table, of which queries read the current rows.

    Raises:
        FeatureUnsupportedError: A view has the name of a table in a catalog.
    """
    cursor = Cursor(text)
    cursor.expect("CACHE")
    is_lazy = cursor.accept("LAZY")
    cursor.expect("TABLE")
    name = cursor.names()
    start = cursor.index
    options = f" OPTIONS ({cursor.group()})" if cursor.accept("OPTIONS") else ""
    if not cursor.accept("AS") and not cursor.at(*QUERIES):
        cache_attached_table(statement, statement.references.resolve(name), Cursor(text, start), lazy=is_lazy)
        return
    if len(name) > 1:
        raise FeatureUnsupportedError(
            f"CACHE TABLE: the rows of a query are a view of the session; expected CACHE TABLE {name[-1]} AS ..., got {'.'.join(name)}"
        )
    view = quoted(name[0])
    frame_of_query(statement, cursor.rest()).createTempView(view)
    try:
        statement.spark.sql(f"CACHE {'LAZY ' if is_lazy else ''}TABLE {view}{options}")
    except Exception:
        statement.spark.catalog.dropTempView(name[0])
        raise
