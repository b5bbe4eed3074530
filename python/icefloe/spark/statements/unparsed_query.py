"""The attached tables that a query names, found by its words alone: for syntax of Spark that sqlglot does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.lexer import PARSER_KEYWORDS, words_of

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.references import Reference, References

_BEFORE_TABLES = ("FROM", "JOIN", "TABLE")
_OF_VERSIONS = ("FOR", "VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME")


@dataclass(frozen=True)
class NamedTable:
    """A table of an attached catalog among the words of a query.

    Args:
        reference: The table.
        start: Offset of its first character.
        end: Offset after its name.
        has_alias: Whether a name for the query follows.
    """

    reference: Reference
    start: int
    end: int
    has_alias: bool


def named_tables(references: References, text: str) -> list[NamedTable] | None:
    """Return the attached tables that a query names; None if a clause for a version follows one of them."""
    words = words_of(text)
    of_query = _common_table_expressions(words)
    found, index = list[NamedTable](), 0
    while index < len(words):
        parts = dotted_name(words[index:])
        end = index + max(2 * len(parts) - 1, 1)
        after = words[end] if end < len(words) else None
        is_call = after is not None and after.is_keyword("(")
        is_table = len(parts) > 1 or (index > 0 and words[index - 1].is_keyword(*_BEFORE_TABLES))
        reference = None if is_call or not is_table or parts in of_query else _reference(references, parts)
        if reference is not None:
            if after is not None and after.is_keyword(*_OF_VERSIONS):
                return None
            found.append(NamedTable(reference, words[index].start, words[end - 1].end, _is_alias(after)))
        index = end
    return found


def _common_table_expressions(words: list[Word]) -> set[tuple[str, ...]]:
    """Return the names of the common table expressions of a query, each as a dotted name of one part."""
    found, opened = set[tuple[str, ...]](), list[int]()
    for index, word in enumerate(words):
        if word.is_keyword("("):
            opened.append(index)
        before = index - 1
        if word.is_keyword(")") and opened:
            before = opened.pop() - 1
        begins = [
            after.is_keyword(text) for after, text in zip(words[index + 1 : index + 3], ("AS", "("), strict=False)
        ]
        if begins == [True, True] and before >= 0:
            found.add((words[index if word.is_name else before].text,))
    return found


def dotted_name(words: list[Word]) -> tuple[str, ...]:
    """Return the parts of the dotted name that some words begin with; empty without a name."""
    parts = list[str]()
    for name, dot in zip(words[::2], [None, *words[1::2]], strict=False):
        if not name.is_name or (dot is not None and not dot.is_keyword(".")):
            break
        parts.append(name.text)
    return tuple(parts)


def _reference(references: References, parts: tuple[str, ...]) -> Reference | None:
    if not parts or not references.is_attached(parts):
        return None
    try:
        return references.resolve(parts)
    except (NoSuchTableError, ValidationError):
        return None


def _is_alias(word: Word | None) -> bool:
    return word is not None and (word.is_keyword("AS") or (word.is_name and not word.is_keyword(*PARSER_KEYWORDS)))
