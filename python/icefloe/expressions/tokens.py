"""Tokens of a filter's text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from icefloe.exceptions import ValidationError

_PATTERN = re.compile(
    r"""(?P<space>\s+)
      | (?P<string>'(?:[^']|'')*')
      | (?P<name>"(?:[^"]|"")+"|`(?:[^`]|``)+`)
      | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)
      | (?P<word>[^\W\d]\w*)
      | (?P<symbol><=|>=|<>|!=|==|[=<>().,+-])""",
    re.VERBOSE,
)

# Python refuses to make an int of more digits than its limit, which is at least this number.
_MOST_DIGITS = 640


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a text.

    Args:
        kind: ``string``, ``name`` (quoted), ``number``, ``word``, ``symbol`` or ``end``.
        key: The word in lower case, or the symbol; empty for other tokens.
        value: The value without its quotes.
        position: Offset of the first character, from 0.
    """

    kind: str
    key: str
    value: Any
    position: int

    def is_word(self, *keys: str) -> bool:
        """Return whether the token is one of the words ``keys``, in upper or lower case."""
        return self.kind == "word" and self.key in keys

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"{self.value!r}" if self.kind == "string" else f"`{self.value}`"


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, followed by a token of kind ``end``.

    Raises:
        ValidationError: A quote is not closed, or a character starts no token; the message shows the position.
    """
    tokens, position = [], 0
    while position < len(text):
        match = _PATTERN.match(text, position)
        if match is None:
            problem = f"unexpected character {text[position]!r}"
            if text[position] in "'\"`":
                problem = "a quote that is never closed; expected the same quote at its end"
            raise ValidationError(f"filter, position {position}: {problem}\n  {text}\n  {' ' * position}^")
        kind, part = match.lastgroup or "", match.group()
        if kind != "space":
            key = part.lower() if kind in {"word", "symbol"} else ""
            tokens.append(Token(kind, key, _value(kind, part), position))
        position = match.end()
    return [*tokens, Token("end", "", "", len(text))]


def _value(kind: str, text: str) -> Any:
    if kind in {"string", "name"}:
        quote = text[0]
        return text[1:-1].replace(quote * 2, quote)
    if kind != "number":
        return text
    if "e" in text.lower():
        return float(text)
    return Decimal(text) if "." in text or len(text) > _MOST_DIGITS else int(text)
