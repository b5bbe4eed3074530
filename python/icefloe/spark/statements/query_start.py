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


def begins_with_column(word: Word, after: Word | None) -> bool:
    """Return whether a word after a parenthesis is the first column of a list, though a query may begin with it.

    Examples:
        >>> from icefloe.spark.lexer import words_of
        >>> [begins_with_column(*words_of(text)[:2]) for text in ("table, id", "values)", "TABLE t", "VALUES (1)")]
        [True, True, False, False]
    """
    return word.is_keyword(*QUERIES) and after is not None and after.is_keyword(",", ")")
