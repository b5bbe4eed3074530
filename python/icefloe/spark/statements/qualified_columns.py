"""Columns with the full name of their table before them, where the query has another name for the table."""

from __future__ import annotations

from icefloe.spark.lexer import words_of
from icefloe.spark.types.conform import quoted


def with_alias(text: str, parts: tuple[str, ...], alias: str) -> str:
    """Return a text in which an alias replaces the full name of a table before columns.

    Examples:
        >>> with_alias("lake.db.t.id > 5 AND t.n = 1", ("lake", "db", "t"), "t")
        '`t`.id > 5 AND t.n = 1'
    """
    for start, end, new in reversed(qualifier_edits(text, parts, quoted(alias))):
        text = text[:start] + new + text[end:]
    return text


def qualifier_edits(text: str, parts: tuple[str, ...], alias: str) -> list[tuple[int, int, str]]:
    """Return the edits that replace the full name of a table before columns: two offsets and the new text of each."""
    words = words_of(text)
    found = []
    for index, word in enumerate(words):
        following = words[index : index + 2 * len(parts)]
        if len(following) < 2 * len(parts) or (index and words[index - 1].is_keyword(".")):
            continue
        if all(
            one.text.lower() == part.lower() and one.is_name and dot.is_keyword(".")
            for one, dot, part in zip(following[::2], following[1::2], parts, strict=True)
        ):
            found.append((word.start, following[-2].end, alias))
    return found
