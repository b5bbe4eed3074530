"""The word at which a query begins, after other clauses of a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word

QUERIES = ("SELECT", "WITH", "VALUES", "FROM", "TABLE")
_BEFORE_SUBQUERIES = ("IN", "EXISTS", "AND", "OR", "NOT", "ANY", "SOME", "ALL", "LIKE", "ILIKE", "BETWEEN")


def begins_query(before: Word | None, word: Word, after: Word | None) -> bool:
    """Return whether a query begins at a word after a condition or the name of a table."""
    if word.is_keyword("("):
        ends_value = before is not None and (before.kind != "sign" or before.text in (")", "]"))
        within = before is not None and before.is_keyword(*_BEFORE_SUBQUERIES)
        return ends_value and not within and after is not None and after.is_keyword(*QUERIES)
    return word.is_keyword(*QUERIES) and not (before is not None and before.is_keyword("DISTINCT"))
