"""Statements of Spark that icefloe runs on no attached table, with the statement to use instead of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word

_TEMPORARY_VIEW = "a temporary view, which CREATE OR REPLACE TEMPORARY VIEW v AS SELECT ... makes"
_OF_RELATIVE_NAMES = {
    ("CREATE", "VIEW"): _TEMPORARY_VIEW,
    ("CREATE", "OR", "REPLACE", "VIEW"): _TEMPORARY_VIEW,
    ("ANALYZE",): "CALL lake.system.compute_table_stats('db.events'), which computes statistics",
    ("SHOW", "PARTITIONS"): "SELECT * FROM lake.db.events.partitions, which returns the partitions",
}
"""Beginnings of statements that are refused also where the name of a table is relative to the current catalog."""
_INSTEAD = {
    **_OF_RELATIVE_NAMES,
    ("DECLARE",): "DECLARE v INT, in which Spark takes no subquery, and SET VAR v = (SELECT ...) after it",
}
"""Beginnings of statements that are refused, and the text after `expected` in the error of each."""
_OBJECTS = ("TABLE", "TABLES", "VIEW", "FUNCTION", "PARTITIONS", "DATA", "INDEX", "NAMESPACE", "DATABASE", "SCHEMA")


def begins_with(words: list[Word], keywords: tuple[str, ...]) -> bool:
    """Return whether some words are the first ones of a statement."""
    return len(words) >= len(keywords) and all(
        word.is_keyword(keyword) for word, keyword in zip(words, keywords, strict=False)
    )


def is_refused(words: list[Word]) -> bool:
    """Return whether a statement begins as one that is refused with another one to use instead."""
    return any(begins_with(words, keywords) for keywords in _INSTEAD)


def refuses_relative_names(words: list[Word]) -> bool:
    """Return whether a statement is refused also where its names are relative to the current catalog."""
    return any(begins_with(words, keywords) for keywords in _OF_RELATIVE_NAMES)


def not_supported(words: list[Word]) -> FeatureUnsupportedError:
    """Return the error for a statement that has no command, with its words up to the kind of its object."""
    end = next((index + 1 for index, word in enumerate(words[:6]) if word.is_keyword(*_OBJECTS)), 1)
    shown = " ".join(word.text for word in words[:end])
    expected, advice = next((text for keywords, text in _INSTEAD.items() if begins_with(words, keywords)), None), ""
    if expected is None:
        expected = (
            "a query, EXPLAIN, INSERT, MERGE, UPDATE, DELETE, TRUNCATE, CALL, REFRESH, COMMENT, SHOW, DESCRIBE, or CREATE, REPLACE, DROP "
            "or ALTER of a table or namespace"
        )
        advice = ": run it with spark.sql on the tables of AttachedCatalog.tables()"
    return FeatureUnsupportedError(
        f"SQL: {shown} is not supported for attached tables; expected {expected}, got {shown}{advice}"
    )
