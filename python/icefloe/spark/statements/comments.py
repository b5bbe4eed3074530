"""COMMENT ON a table or namespace of an attached catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.lexer import Cursor

if TYPE_CHECKING:
    from icefloe.spark.statements.statement import Statement

_COMMENT = "comment"


def comment_on(statement: Statement, text: str) -> None:
    """Run COMMENT ON TABLE or NAMESPACE: the comment is the property `comment`, which NULL removes."""
    cursor = Cursor(text)
    cursor.expect("COMMENT", "ON")
    table = cursor.accept("TABLE")
    if not table and not any(cursor.accept(kind) for kind in ("NAMESPACE", "DATABASE", "SCHEMA")):
        raise cursor.error("TABLE, NAMESPACE, DATABASE or SCHEMA")
    name = cursor.names()
    cursor.expect("IS")
    comment = None if cursor.accept("NULL") else cursor.string()
    cursor.finish()
    if table:
        _comment_on_table(statement, name, comment)
        return
    lake, namespace = statement.references.locate_namespace(name)
    if comment is None:
        lake.catalog.update_namespace_properties(namespace, {_COMMENT})
    else:
        lake.catalog.update_namespace_properties(namespace, updates={_COMMENT: comment})


def _comment_on_table(statement: Statement, name: tuple[str, ...], comment: str | None) -> None:
    with statement.references.resolve(name).writable().transaction() as transaction:
        if comment is None:
            transaction.remove_properties(_COMMENT)
        else:
            transaction.set_properties({_COMMENT: comment})
