"""A call of a function of a catalog within a text."""

from __future__ import annotations

from dataclasses import dataclass

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor

_ARGUMENTS = {"bucket": ("numBuckets", "value"), "truncate": ("width", "value"), "iceberg_version": ()}


@dataclass(frozen=True, kw_only=True)
class FunctionCall:
    """A call of a function of a catalog in a text.

    Args:
        function: Name of the function.
        label: The function as the statement names it.
        start: Offset of its first character.
        opened: Offset of the first character between the parentheses.
        closed: Offset of the closing parenthesis.
        column: The name of the column that the call is alone; None for a part of an expression.
    """

    function: str
    label: str
    start: int
    opened: int
    closed: int
    column: str | None

    def arguments(self, text: str) -> list[str]:
        """Return the texts of the arguments.

        Raises:
            ValidationError: Their number is another one than the function takes.
        """
        found = Cursor(text[self.opened - 1 : self.closed + 1]).items()
        expected = _ARGUMENTS.get(self.function, ("value",))
        if len(found) != len(expected):
            raise ValidationError(
                f"{self.label}: expected {' and '.join(expected) or 'no argument'}, got {', '.join(found) or 'no argument'}"
            )
        return found

    def replaced(self, text: str, new: str) -> str:
        """Return a text in which another expression takes the place of the call."""
        return f"{text[: self.start]}{new}{text[self.closed + 1 :]}"
