"""The namespace and the pattern of a SHOW statement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icefloe.spark.lexer import Cursor
    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.statement import Statement
    from icefloe.typedef import Identifier


def place(statement: Statement, cursor: Cursor) -> tuple[AttachedCatalog, Identifier]:
    """Return the catalog and the namespace after IN or FROM; the current ones without them.

    Raises:
        ValidationError: There is neither one of the words nor a current catalog, or the catalog of the name is not attached.
    """
    current = statement.references.current
    if current is not None and not cursor.at("IN", "FROM"):
        return statement.references.current_lake(current), current.namespace
    expect_in(cursor)
    parts = cursor.names()
    if len(parts) == 1 and parts[0].lower() in statement.lakes:
        return statement.lakes[parts[0].lower()], ()
    return statement.references.locate_namespace(parts)


def expect_in(cursor: Cursor) -> None:
    """Skip IN or FROM.

    Raises:
        ValidationError: Another word follows.
    """
    if not cursor.accept("IN") and not cursor.accept("FROM"):
        raise cursor.error("IN and a namespace")


def pattern_of(cursor: Cursor) -> str:
    """Return the pattern that ends a statement, after LIKE or alone; the pattern of all names without one."""
    pattern = cursor.string() if not cursor.done and (cursor.accept("LIKE") or True) else "*"
    cursor.finish()
    return pattern


def matches(name: str, pattern: str) -> bool:
    """Return whether a name matches one of the expressions between the bars of a pattern, in any case.

    As in Spark, each is a regular expression in which a star is any text.

    Examples:
        >>> matches("Events", "e*|x"), matches("x", "e*"), matches("events", "e%")
        (True, False, False)
    """
    return any(_matches_one(name, one) for one in pattern.strip().split("|"))


def _matches_one(name: str, expression: str) -> bool:
    try:
        return re.fullmatch(expression.replace("*", ".*"), name, re.IGNORECASE | re.ASCII) is not None
    except re.error:  # no name matches, as in Spark
        return False
