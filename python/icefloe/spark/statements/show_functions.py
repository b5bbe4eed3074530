"""SHOW FUNCTIONS of an attached catalog: the transforms of its namespace `system`, and the functions of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import NoSuchNamespaceError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.show_scope import matches, pattern_of, place

if TYPE_CHECKING:
    from icefloe.spark.statements.statement import Statement

CATALOG_FUNCTIONS = ("bucket", "days", "hours", "iceberg_version", "months", "truncate", "years")
"""The functions of the namespace `system` of each catalog, as in the Java runtime."""
_KINDS = ("USER", "SYSTEM", "ALL")


def show_functions(statement: Statement, text: str) -> Any:
    """Run ``SHOW [USER|SYSTEM|ALL] FUNCTIONS [IN namespace] [[LIKE] pattern]``: one row for each name, in their order.

    Raises:
        NoSuchNamespaceError: The catalog has no such namespace.
    """
    cursor = Cursor(text)
    cursor.expect("SHOW")
    kind = next((kind for kind in _KINDS if cursor.accept(kind)), "ALL")
    cursor.expect("FUNCTIONS")
    lake, namespace, pattern = _scope(statement, cursor)
    found = [".".join((lake.name, *namespace, name)) for name in _functions(lake, namespace) if matches(name, pattern)]
    rows = [] if kind == "SYSTEM" else [(name,) for name in found]
    if kind != "USER":
        own = statement.spark.sql("SHOW SYSTEM FUNCTIONS IN spark_catalog.default").collect()
        rows += [(row["function"],) for row in own if matches(row["function"], pattern)]
    return statement.spark.createDataFrame(sorted(rows), "function string")


def _scope(statement: Statement, cursor: Cursor) -> tuple[Any, tuple[str, ...], str]:
    """Return the catalog, the namespace and the pattern of names; a dotted name after LIKE is all of them."""
    first = cursor.peek(cursor.at("LIKE"))
    if not cursor.at("IN", "FROM") and first is not None and first.is_name:
        cursor.accept("LIKE")
        parts = cursor.names()
        cursor.finish()
        lake, identifier = statement.references.locate(parts)
        return lake, identifier[:-1], identifier[-1]
    lake, namespace = place(statement, cursor)
    return lake, namespace, pattern_of(cursor)


def _functions(lake: Any, namespace: tuple[str, ...]) -> tuple[str, ...]:
    if not namespace or [part.lower() for part in namespace] == ["system"]:
        return CATALOG_FUNCTIONS
    if not lake.catalog.namespace_exists(namespace):
        raise NoSuchNamespaceError(
            f"SHOW FUNCTIONS: {lake.name} has no namespace {'.'.join(namespace)}; expected one of SHOW NAMESPACES IN {lake.name}, or "
            f"{lake.name}.system, got {'.'.join(namespace)}"
        )
    return ()
