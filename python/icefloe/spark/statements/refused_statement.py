"""Statements of Spark that icefloe runs on no attached table, with the statement to use instead of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError, ValidationError

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word

_TEMPORARY_VIEW = "a temporary view, which CREATE OR REPLACE TEMPORARY VIEW v AS SELECT ... makes"
_FUNCTION = "a temporary view of the attached tables, and CREATE TEMPORARY FUNCTION with the view by spark.sql"
_FILES = "CALL lake.system.add_files, which adds data files to a table"
_OF_RELATIVE_NAMES = {
    ("CREATE", "VIEW"): _TEMPORARY_VIEW,
    ("CREATE", "OR", "REPLACE", "VIEW"): _TEMPORARY_VIEW,
    ("ANALYZE",): "CALL lake.system.compute_table_stats('db.events'), which computes statistics",
    ("SHOW", "PARTITIONS"): "SELECT * FROM lake.db.events.partitions, which returns the partitions",
}
"""Beginnings of statements that are refused also where the name of a table is relative to the current catalog."""
_INSTEAD = {
    **_OF_RELATIVE_NAMES,
    **{
        ("CREATE", *replace, *temporary, "FUNCTION"): _FUNCTION
        for replace in ((), ("OR", "REPLACE"))
        for temporary in ((), ("TEMPORARY",))
    },
    **{(*start, "REPAIR"): _FILES for start in ((), ("MSCK",))},
    ("LOAD", "DATA"): _FILES,
    ("COPY", "INTO"): "CALL lake.system.add_files, or INSERT INTO table SELECT ... FROM parquet.`/path`",
    ("OPTIMIZE",): "CALL lake.system.rewrite_data_files('db.events'), which compacts data files",
    (
        "VACUUM",
    ): "CALL lake.system.expire_snapshots('db.events') and CALL lake.system.remove_orphan_files('db.events'), which delete files",
    ("RESTORE",): "CALL lake.system.rollback_to_snapshot or rollback_to_timestamp, which return to a version",
    ("DECLARE",): "DECLARE v INT, in which Spark takes no subquery, and SET VAR v = (SELECT ...) after it",
}
"""Beginnings of statements that are refused, and the text after `expected` in the error of each."""
_SUPPORTED = (
    "a query, EXPLAIN, INSERT, MERGE, UPDATE, DELETE, TRUNCATE, CALL, REFRESH, COMMENT, SHOW, DESCRIBE, or CREATE, REPLACE, DROP or ALTER of "
    "a table or namespace"
)
_FIRST_WORDS = (
    *("ADD", "ALTER", "ANALYZE", "BEGIN", "CACHE", "CALL", "CLEAR", "COMMENT", "COMMIT", "CREATE", "DECLARE", "DELETE"),
    *("DESC", "DESCRIBE", "DFS", "DROP", "EXECUTE", "EXPLAIN", "EXPORT", "FROM", "GRANT", "IMPORT", "INSERT", "LIST"),
    *("LOAD", "LOCK", "MAP", "MERGE", "MSCK", "REDUCE", "REFRESH", "REPAIR", "REPLACE", "RESET", "REVOKE", "ROLLBACK"),
    *("SELECT", "SET", "SHOW", "START", "TABLE", "TRUNCATE", "UNCACHE", "UNLOCK", "UNSET", "UPDATE", "USE", "VALUES"),
    "WITH",
)
"""The words that statements of Spark's grammar begin with."""
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


def not_supported(words: list[Word]) -> FeatureUnsupportedError | ValidationError:
    """Return the error for a statement that has no command, with its words up to the kind of its object."""
    if not words[0].is_keyword(*_FIRST_WORDS) and not is_refused(words):
        first = words[0].text
        return ValidationError(
            f"SQL: no statement of Spark SQL begins with {first!r}; expected {_SUPPORTED}, got {first}"
        )
    end = next((index + 1 for index, word in enumerate(words[:6]) if word.is_keyword(*_OBJECTS)), 1)
    shown = " ".join(word.text for word in words[:end])
    expected, advice = next((text for keywords, text in _INSTEAD.items() if begins_with(words, keywords)), None), ""
    if expected is None:
        expected = _SUPPORTED
        advice = (
            ": put a query of the attached tables into a temporary view (CREATE TEMPORARY VIEW), which spark.sql reads"
        )
    return FeatureUnsupportedError(
        f"SQL: {shown} is not supported for attached tables; expected {expected}, got {shown}{advice}"
    )
