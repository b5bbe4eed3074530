"""Clauses of changes of rows that Spark SQL or icefloe does not have, each refused by its name."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.spark.lexer import PARSER_KEYWORDS, words_of
from icefloe.spark.statements.brackets import depths

if TYPE_CHECKING:
    from icefloe.spark.lexer import Cursor, Word

_CONDITION = "a WHERE clause that selects the rows"
_RETURNING = "the statement without it, and a query of the rows"
_BRANCH = "a table or a branch of it, such as lake.db.events.branch_x"
_MERGED_UPDATE = "MERGE INTO table USING other ON ... WHEN MATCHED THEN UPDATE SET ..."
_MERGED_DELETE = "WHERE with a subquery, or MERGE INTO table USING other ON ... WHEN MATCHED THEN DELETE"
_JOINS = ("JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "NATURAL", "USING", "FROM")
_VERSIONS = dict.fromkeys(("VERSION", "TIMESTAMP", "FOR"), _BRANCH)
_INSTEAD = {
    "UPDATE": {
        **dict.fromkeys(_JOINS, _MERGED_UPDATE),
        **dict.fromkeys(("LIMIT", "ORDER"), _CONDITION),
        "RETURNING": _RETURNING,
        **_VERSIONS,
    },
    "DELETE": {
        **dict.fromkeys(_JOINS, _MERGED_DELETE),
        **dict.fromkeys(("LIMIT", "ORDER"), _CONDITION),
        "RETURNING": _RETURNING,
        **_VERSIONS,
    },
    "MERGE": {"RETURNING": _RETURNING, **_VERSIONS},
}
"""By statement, the first word of each clause, and the text after `expected` in its error."""
_SHOWN = {"ORDER": "ORDER BY", "VERSION": "VERSION AS OF", "TIMESTAMP": "TIMESTAMP AS OF", "FOR": "FOR VERSION AS OF"}
_NO_ALIASES = frozenset(_JOINS)
_BEFORE_VALUES = (
    *("AND", "BETWEEN", "BY", "CASE", "DISTINCT", "DIV", "ELSE", "ESCAPE", "ILIKE", "IN", "IS", "LIKE", "NOT", "ON"),
    *("OR", "REGEXP", "RLIKE", "SELECT", "SET", "THEN", "WHEN", "WHERE"),
)


def target_alias(cursor: Cursor, following: str, label: str) -> str | None:
    """Return the alias of a table, which follows; None without one.

    Args:
        cursor: A position after the name of the table.
        following: The keyword after the alias.
        label: The statement: UPDATE, DELETE or MERGE.

    Raises:
        FeatureUnsupportedError: A clause follows that the statement does not have.
    """
    if cursor.accept("AS"):
        alias = cursor.name()
    else:
        word, after = cursor.peek(), cursor.peek(1)
        if word is None or not word.is_name or word.is_keyword(following):
            return None
        # Spark has other keywords as aliases where no value follows.
        if word.is_keyword(*_NO_ALIASES) or (after is not None and not after.is_keyword(following)):
            _check(word, label)
        alias = cursor.name()
    following_word = cursor.peek()
    if following_word is not None and not following_word.is_keyword(following):
        _check(following_word, label)
    return alias


def check_clauses(text: str, label: str) -> None:
    """Check that no clause follows the values and conditions of a statement.

    Args:
        text: The statement, from the first value or condition.
        label: The statement: UPDATE, DELETE or MERGE.

    Raises:
        FeatureUnsupportedError: A clause follows.
    """
    for before, word in _at_ends(text):
        if before[-1].is_keyword("*") and not (len(before) > 1 and before[0].is_keyword("SET", "INSERT")):
            continue
        _check(word, label)


def check_insert_clauses(query: str) -> None:
    """Check that no clause follows the query of INSERT.

    Raises:
        FeatureUnsupportedError: A clause follows, which databases other than Spark have.
    """
    words = words_of(query)
    following = {word.start: words[index + 1 : index + 3] for index, word in enumerate(words)}
    for _, word in _at_ends(query):
        after = following[word.start]
        if word.is_keyword("ON") and len(after) > 1 and after[0].is_keyword("CONFLICT", "DUPLICATE"):
            if after[1].is_keyword("DO", "KEY", "("):
                raise _refusal("INSERT", f"ON {after[0].text.upper()}", "MERGE INTO table USING (query) AS s ON ...")
        elif word.is_keyword("RETURNING") and after:
            is_name = after[0].is_name and not after[0].is_keyword(*PARSER_KEYWORDS)
            if is_name or after[0].is_keyword("*"):
                raise _refusal("INSERT", "RETURNING", _RETURNING)


def _at_ends(text: str) -> list[tuple[list[Word], Word]]:
    """Return the words outside of brackets that follow a whole value, each with the two words before it."""
    words = words_of(text)
    outer = {word.start for word, depth in depths(words) if depth == 0}
    found = []
    for index, (before, word) in enumerate(itertools.pairwise(words)):
        if word.kind == "word" and word.start in outer and _ends_value(before):
            found.append((words[max(index - 1, 0) : index + 1], word))
    return found


def _ends_value(word: Word) -> bool:
    """Return whether a value may end with a word; a star may be the last word of a clause."""
    if word.kind == "sign":
        return word.text in (")", "]", "*")
    return not word.is_keyword(*_BEFORE_VALUES)


def _check(word: Word, label: str) -> None:
    instead = _INSTEAD[label].get(word.text.upper()) if word.kind == "word" else None
    if instead is not None:
        raise _refusal(label, _SHOWN.get(word.text.upper(), word.text.upper()), instead)


def _refusal(label: str, clause: str, instead: str) -> FeatureUnsupportedError:
    return FeatureUnsupportedError(f"{label}: {clause} is not supported; expected {instead}, got {clause}")
