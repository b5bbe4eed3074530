"""USE, SET CATALOG and SHOW CURRENT NAMESPACE: the catalog and namespace to which names of later statements are relative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import NoSuchNamespaceError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.current_namespace import CurrentNamespace, set_current_namespace
from icefloe.spark.statements.statement import run

if TYPE_CHECKING:
    from icefloe.spark.statements.statement import Statement
    from icefloe.typedef import Identifier

_KINDS = ("NAMESPACE", "DATABASE", "SCHEMA")


def use(statement: Statement, text: str) -> None:
    """Run ``USE catalog``, ``USE catalog.namespace``, ``USE namespace`` or ``USE NAMESPACE namespace``.

    A namespace alone is one of the current catalog. USE of the current catalog keeps its namespace, as in Spark.

    Raises:
        NoSuchNamespaceError: The attached catalog has no such namespace.
    """
    cursor = Cursor(text)
    cursor.expect("USE")
    of_current = any(cursor.accept(kind) for kind in _KINDS)
    parts = cursor.names()
    cursor.finish()
    references = statement.references
    if not of_current and parts[0].lower() in statement.lakes:
        _enter(statement, parts[0].lower(), parts[1:])
    elif references.current is not None and (of_current or not references.is_catalog_of_spark(parts[0])):
        _enter(statement, references.current_lake(references.current).name, parts)
    else:
        _leave(statement, text)


def set_catalog(statement: Statement, text: str) -> None:
    """Run ``SET CATALOG name``."""
    cursor = Cursor(text)
    cursor.expect("SET", "CATALOG")
    word = cursor.next_word("the name of a catalog")
    cursor.finish()
    if word.text.lower() in statement.lakes:
        _enter(statement, word.text.lower(), ())
    else:
        _leave(statement, text)


def show_current_namespace(statement: Statement, text: str) -> Any:
    """Run SHOW CURRENT NAMESPACE: one row with the catalog and the namespace."""
    current = statement.references.current
    if current is None:
        return run(statement, text)
    statement.references.current_lake(current)
    rows = [(current.catalog, current.quoted_namespace)]
    return statement.spark.createDataFrame(rows, "catalog string, namespace string")


def _enter(statement: Statement, catalog: str, namespace: Identifier) -> None:
    lake, current = statement.lakes[catalog], statement.references.current
    if not namespace:
        if current is None or current.catalog != catalog:
            set_current_namespace(statement.spark, CurrentNamespace(catalog))
        return
    if not lake.catalog.namespace_exists(namespace):
        raise NoSuchNamespaceError(
            f"USE: {catalog} has no namespace {'.'.join(namespace)}; expected one of SHOW NAMESPACES IN {catalog}, got "
            f"{'.'.join(namespace)}"
        )
    set_current_namespace(statement.spark, CurrentNamespace(catalog, namespace))


def _leave(statement: Statement, text: str) -> None:
    """Have Spark run a statement that makes one of its own catalogs or databases the current one."""
    run(statement, text)
    set_current_namespace(statement.spark, None)
