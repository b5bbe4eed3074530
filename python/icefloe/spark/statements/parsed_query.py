"""The tree of a statement, as sqlglot parses it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import sqlglot

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Word, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_VERSION_KEYWORDS = {"SYSTEM_VERSION": "VERSION", "SYSTEM_TIME": "TIMESTAMP"}
_NO_SPACE = re.compile(r"\S")


def parsed(text: str) -> Any:
    """Return the tree of one statement.

    Raises:
        ValidationError: sqlglot cannot parse it.
    """
    try:
        tree: Any = sqlglot.parse_one(_for_sqlglot(text), dialect="spark")
    except (sqlglot.errors.SqlglotError, AssertionError) as error:
        raise ValidationError(
            f"SQL: the statement does not parse{_place(error)}; expected Spark SQL: write this part in another way, or put a query of its "
            "own into a temporary view (CREATE TEMPORARY VIEW), which the statement reads"
        ) from error
    return tree


def _place(error: Exception) -> str:
    """Return the word that sqlglot does not parse, and why; sqlglot counts characters of a text with other names and values."""
    found: dict[str, Any] = next(iter(getattr(error, "errors", ())), {})
    word, problem = found.get("highlight"), found.get("description") or "<"
    if not word:
        return ""
    # Some problems show objects of sqlglot, with offsets.
    return f" at {word!r}" if "<" in problem else f" at {word!r}: {problem}".rstrip(".")


def _for_sqlglot(text: str) -> str:
    """Return a text of the same length for sqlglot: without comments, with Spark's other words for versions replaced."""
    words = words_of(text)
    pieces, at = [], 0
    for index, word in enumerate(words):
        pieces.append(_NO_SPACE.sub(" ", text[at : word.start]))
        at = word.end
        written = text[word.start : at]
        other = _VERSION_KEYWORDS.get(word.text.upper()) if word.kind == "word" else None
        if other is not None:
            written = other.ljust(len(written))
        elif word.kind == "string" and written[0] in "rR" and _is_joined(words, index):
            # sqlglot joins no raw texts. It compares no column with joined texts, so their value is not needed.
            written = (
                "''".center(len(written))
                if index and words[index - 1].end == word.start
                else "''".ljust(at - word.start)
            )
        pieces.append(written)
    return "".join([*pieces, _NO_SPACE.sub(" ", text[at:])])


def _is_joined(words: Sequence[Word], index: int) -> bool:
    """Return whether a text has another one beside it, which Spark joins to one."""
    return any(word.kind == "string" for word in (*words[max(index - 1, 0) : index], *words[index + 1 : index + 2]))
