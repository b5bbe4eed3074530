"""Whether a statement is about attached catalogs; Spark runs all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.statements.multi_insert import is_multi_insert
from icefloe.spark.statements.statement import names_catalog
from icefloe.spark.statements.unparsed_query import dotted_name
from icefloe.spark.statements.views import QUERIES

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.statement import Statement

_CHANGES = ("INSERT", "MERGE", "UPDATE", "DELETE")
_NAMESPACES = ("NAMESPACE", "DATABASE", "SCHEMA")
_OF_FUNCTIONS = ("FUNCTION", "PROCEDURE", "QUERY")
_BEFORE_NAMES = (
    *(
        "ALTER",
        "ANALYZE",
        "CACHE",
        "CALL",
        "COLUMNS",
        "COMMENT",
        "CREATE",
        "DELETE",
        "DESC",
        "DESCRIBE",
        "DROP",
        "EVOLUTION",
    ),
    *(
        "EXISTS",
        "EXTENDED",
        "EXTERNAL",
        "FORMATTED",
        "FROM",
        "IF",
        "IN",
        "INSERT",
        "INTO",
        "LAZY",
        "MERGE",
        "NOT",
        "ON",
        "OR",
    ),
    *(
        "OVERWRITE",
        "PARTITIONS",
        "REFRESH",
        "REPLACE",
        "SHOW",
        "TABLE",
        "TBLPROPERTIES",
        "TRUNCATE",
        "UNCACHE",
        "UPDATE",
    ),
    *("VIEW", "WITH", *_NAMESPACES),
)
"""The words before the name of the object of a statement."""
_OF_ROWS = ("SELECT", "FROM", "TABLE")
"""Words of a query that may read tables."""
_LISTS = ("TABLES", "VIEWS", "NAMESPACES", "DATABASES", "SCHEMAS", "FUNCTIONS", "PROCEDURES")


def concerns(statement: Statement, text: str, words: list[Word], *, has_command: bool) -> bool:
    """Return whether a statement names an attached catalog, table or namespace.

    With a current catalog, so do relative names and lists without a namespace, except in statements on objects of Spark.

    Args:
        statement: The statement under way.
        text: Its text.
        words: Its words.
        has_command: Whether it is a query, or begins as a statement that is run or refused here.
    """
    if not statement.lakes and statement.references.current is None:
        return False
    if words[0].is_keyword("CLEAR") and has_command:
        return True
    if names_catalog(statement, text) or _names_catalog_alone(statement, words):
        return True
    if statement.references.current is not None and has_command and _describes_procedure(words):
        return not statement.references.is_catalog_of_spark(words[2].text)
    if (
        statement.references.current is None
        or not has_command
        or (len(words) > 2 and words[1].is_keyword(*_OF_FUNCTIONS))
    ):
        return False
    if words[0].is_keyword("SHOW"):
        return _lists_current(statement, words)
    if words[0].is_keyword("USE", "EXPLAIN", "SET", *QUERIES):
        position = change_position(words)
        return position is None or is_multi_insert(words[position:]) or _names_object(statement, words[position:])
    return _names_object(statement, words)


def change_position(words: list[Word]) -> int | None:
    """Return the index of the verb of a change of rows, which a WITH clause may precede; None for another statement."""
    if not words[0].is_keyword("WITH"):
        return 0 if _is_change(words) else None
    depth = 0
    for index, word in enumerate(words):
        if depth == 0 and index > 0 and words[index - 1].is_keyword(")"):
            if _is_change(words[index:]):
                return index
            if not word.is_keyword(",", "AS"):
                return None
        depth += word.is_keyword("(") - word.is_keyword(")")
    return None


def _is_change(words: list[Word]) -> bool:
    return words[0].is_keyword(*_CHANGES) or is_multi_insert(words)


def _describes_procedure(words: list[Word]) -> bool:
    """Return whether a statement is DESCRIBE of a procedure, and not of a table `procedure`."""
    return (
        words[0].is_keyword("DESCRIBE", "DESC")
        and len(words) > 2
        and words[1].is_keyword("PROCEDURE")
        and words[2].is_name
    )


def _names_catalog_alone(statement: Statement, words: list[Word]) -> bool:
    """Return whether a statement lists the catalogs, or names one without a namespace."""
    if words[0].is_keyword("SHOW"):
        return (
            words[-1].is_keyword("CATALOGS")
            or (len(words) > 1 and words[1].is_keyword("CATALOGS"))
            or any(word.text.lower() in statement.lakes for word in words[1:])
        )
    return words[0].is_keyword("USE", "SET") and len(words) in (2, 3) and words[-1].text.lower() in statement.lakes


def _lists_current(statement: Statement, words: list[Word]) -> bool:
    """Return whether a SHOW statement is about the current catalog."""
    if words[1:3] and words[1].is_keyword("CURRENT"):
        return True
    kind = next((index for index, word in enumerate(words) if word.is_keyword(*_LISTS)), None)
    if kind is None and not any(word.is_keyword("EXTENDED") for word in words[2:3]):
        return _names_object(statement, words)
    place = next((index for index, word in enumerate(words) if word.is_keyword("IN", "FROM")), None)
    return place is None or not statement.references.is_catalog_of_spark(words[min(place + 1, len(words) - 1)].text)


def _names_object(statement: Statement, words: list[Word]) -> bool:
    """Return whether the object of a statement is in an attached catalog, or may get rows of a query of its tables."""
    first = next((index for index, word in enumerate(words) if not word.is_keyword(*_BEFORE_NAMES)), None)
    of_query = words[0].is_keyword("CREATE", "CACHE") and any(word.is_keyword(*QUERIES) for word in words[2:])
    if first is None or not words[first].is_name:
        return False
    if any(word.is_keyword("TEMP", "TEMPORARY") for word in words[1:5]):
        return of_query
    parts = dotted_name(words[first:])
    if any(word.is_keyword(*_NAMESPACES) for word in words[1:3]) and not words[0].is_keyword("MERGE"):
        return not statement.references.is_catalog_of_spark(parts[0])
    # Their sources and subqueries may have relative names.
    if words[0].is_keyword("MERGE") or (
        words[0].is_keyword("UPDATE", "DELETE") and any(word.is_keyword(*_OF_ROWS) for word in words[3:])
    ):
        return True
    fills_table = words[0].is_keyword("INSERT") or any(word.is_keyword("TABLE") for word in words[1:4])
    if (
        fills_table
        and words[0].is_keyword("INSERT", "CREATE")
        and any(word.is_keyword(*_OF_ROWS) for word in words[3:])
    ):
        return True
    return (of_query and words[0].is_keyword("CACHE")) or statement.references.is_attached(parts)
