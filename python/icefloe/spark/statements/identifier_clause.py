"""IDENTIFIER(...): names of tables and columns that a statement gets from texts and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor, words_of
from icefloe.spark.statements.literals import with_literals

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.statement import Statement


def has_identifiers(words: list[Word]) -> bool:
    """Return whether IDENTIFIER and a parenthesis are among the words of a statement."""
    return any(_begins(words, index) for index in range(len(words) - 1))


def with_identifiers(statement: Statement, text: str, arguments: Mapping[str, Any] | None) -> str:
    """Return a statement with the names that its IDENTIFIER clauses have as values.

    Args:
        statement: The statement under way.
        text: Its text.
        arguments: Parameters by name.

    Raises:
        ValidationError: The value of a clause is null.
    """
    words = words_of(text)
    for index in reversed(range(len(words) - 1)):
        if _begins(words, index):
            cursor = Cursor(text, index + 1)
            name = _value(statement, cursor.group(), arguments)
            end = cursor.words[cursor.index - 1].end
            text = text[: words[index].start] + name + text[end:]
    return text


def _begins(words: list[Word], index: int) -> bool:
    return words[index].is_keyword("IDENTIFIER") and words[index + 1].is_keyword("(")


def _value(statement: Statement, expression: str, arguments: Mapping[str, Any] | None) -> str:
    expression = with_literals(expression, arguments)
    words = words_of(expression)
    if len(words) == 1 and words[0].kind == "string":
        return words[0].text
    (value,) = statement.values([expression])
    if not isinstance(value, str):
        raise ValidationError(f"IDENTIFIER: expected a text with a name, got {expression} = {value!r}")
    return value
