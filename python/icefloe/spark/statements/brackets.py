"""Brackets and CASE expressions around the words of a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from icefloe.spark.lexer import Word

_CLOSING = {"(": ")", "[": "]"}
_BEFORE_VALUES = ("CASE", "WHEN", "THEN", "ELSE", "AND", "OR", "NOT", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "DIV")


def check_one_statement(words: Sequence[Word]) -> None:
    """Check that a text is one statement, and that it closes no parenthesis or bracket that it has not opened.

    Raises:
        ValidationError: A semicolon is within the text, or a closing bracket has no partner.
    """
    opened: list[Word] = []
    for word in words:
        if word.is_keyword(";"):
            raise ValidationError("SQL: expected one statement, got several with ; between them: run each by itself")
        if word.is_keyword("(", "["):
            opened.append(word)
        elif word.is_keyword(")", "]") and (not opened or _CLOSING[opened.pop().text] != word.text):
            raise ValidationError(f"SQL: expected a bracket that {word.text} closes, got none")


def depths(words: Sequence[Word]) -> Iterator[tuple[Word, int]]:
    """Yield each word with the number of parentheses, brackets and CASE expressions around it.

    The words that open and close one are outside of it, but END, like all within CASE, is inside. END where a value is expected is the
    name of a column.

    Examples:
        >>> from icefloe.spark.lexer import words_of
        >>> [depth for _, depth in depths(words_of("(a) + CASE WHEN end THEN b END + end"))]
        [0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0]
    """
    opened: list[str] = []
    before: Word | None = None
    for word in words:
        if word.is_keyword(")", "]"):
            while opened and opened.pop() == "CASE":
                pass
        yield word, len(opened)
        if word.is_keyword("(", "[", "CASE"):
            opened.append(word.text.upper())
        elif word.is_keyword("END") and opened[-1:] == ["CASE"] and not _expects_value(before):
            opened.pop()
        before = word


def _expects_value(word: Word | None) -> bool:
    """Return whether a value follows a word."""
    return word is None or word.is_keyword(*_BEFORE_VALUES) or (word.kind == "sign" and word.text not in (")", "]"))
