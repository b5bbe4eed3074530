"""EXECUTE IMMEDIATE: a statement that another one computes as a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor, split_items, words_of
from icefloe.spark.statements.brackets import depths
from icefloe.spark.statements.statement import mentions

if TYPE_CHECKING:
    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.statement import Statement

    Parameters = dict[str, Any] | list[Any] | None


@dataclass(frozen=True)
class ImmediateStatement:
    """A statement that EXECUTE IMMEDIATE runs.

    Args:
        text: The statement.
        parameters: Its parameters.
        variables: Variables that get the values of its only row; empty without INTO.
    """

    text: str
    parameters: Parameters
    variables: tuple[tuple[str, ...], ...]


def immediate_statement(statement: Statement, text: str) -> ImmediateStatement | None:
    """Return the statement that EXECUTE IMMEDIATE runs; None if it names no attached table.

    Raises:
        ValidationError: Some parameters have names and others have none.
    """
    cursor = Cursor(text)
    cursor.expect("EXECUTE", "IMMEDIATE")
    if cursor.done:
        return None
    clauses = [word for word, depth in depths(cursor.words[2:]) if depth == 0 and word.is_keyword("INTO", "USING")]
    end = clauses[0].start if clauses else len(text)
    (value,) = statement.values([text[cursor.words[2].start : end]])
    if not isinstance(value, str) or not mentions(statement, value):
        return None
    into, using = _clauses(text, clauses)
    return ImmediateStatement(value, _parameters(statement, using), into)


def _clauses(text: str, clauses: list[Word]) -> tuple[tuple[tuple[str, ...], ...], str]:
    """Return the variables after INTO and the text after USING."""
    ends = [*(word.start for word in clauses[1:]), len(text)]
    parts = {word.text.upper(): text[word.end : end] for word, end in zip(clauses, ends, strict=False)}
    names = tuple(Cursor(item).names() for item in split_items(parts.get("INTO", "")))
    return names, parts.get("USING", "")


def _parameters(statement: Statement, using: str) -> Parameters:
    cursor = Cursor(using)
    if cursor.done:
        return None
    within = cursor.group() if cursor.at("(") else using
    items = split_items(within if cursor.done or within is using else using)
    named = [_named(item) for item in items]
    values = statement.values([value for value, _ in named])
    names = [name for _, name in named if name is not None]
    if not names:
        return values
    if len(names) != len(values):
        raise ValidationError(
            f"EXECUTE IMMEDIATE: expected a name for each parameter or for none, got {using.strip()}: add AS and a name"
        )
    return dict(zip(names, values, strict=True))


def _named(item: str) -> tuple[str, str | None]:
    """Return a value and the name after AS, None without one."""
    words = words_of(item)
    if len(words) > 2 and words[-2].is_keyword("AS") and words[-1].is_name:
        return item[: words[-2].start], words[-1].text
    return item, None
