"""The definition of one table property: its type, unit, range and default, by which values are read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)
COLUMN = "<column>"
"""Stands for a column's name at the end of a property's name."""


class Kind(Protocol[Value_co]):
    """A type of property values."""

    @property
    def expectation(self) -> str:
        """The values that are accepted, as error messages and the documentation state them."""

    def parse(self, text: str) -> Value_co | None:
        """Return the value of a text, None if it is not accepted."""


@dataclass(frozen=True)
class WholeNumber:
    """A whole number in a range, optionally with a unit.

    Attributes:
        minimum: Smallest accepted value.
        maximum: Largest accepted value, None for no limit.
        unit: Unit, such as `bytes`.
    """

    minimum: int = 1
    maximum: int | None = None
    unit: str = ""

    @property
    def expectation(self) -> str:
        """The range, with its unit."""
        unit = f" of {self.unit}" if self.unit else ""
        if self.maximum is None:
            return f"a whole number{unit}, {self.minimum} or above"
        return f"a whole number{unit} from {self.minimum} to {self.maximum}"

    def parse(self, text: str) -> int | None:
        """Return the number of a text of decimal digits, None for other texts and outside of the range."""
        if re.fullmatch(r"[+-]?[0-9]+", text.strip(), re.ASCII) is None:
            return None
        value = int(text)
        return value if self.minimum <= value and (self.maximum is None or value <= self.maximum) else None


@dataclass(frozen=True)
class Flag:
    """`true` or `false`, in any case."""

    expectation: str = "true or false"

    def parse(self, text: str) -> bool | None:
        """Return the boolean of a text, None for other texts."""
        return {"true": True, "false": False}.get(text.lower())


@dataclass(frozen=True)
class OneOf:
    """One of a few words, in any case.

    Attributes:
        words: The accepted words, in lower case.
    """

    words: tuple[str, ...]

    @property
    def expectation(self) -> str:
        """The accepted words."""
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}" if len(self.words) > 1 else self.words[0]

    def parse(self, text: str) -> str | None:
        """Return a text in lower case, None if it is no accepted word."""
        return text.lower() if text.lower() in self.words else None


@dataclass(frozen=True)
class Text:
    """Any text that a function accepts.

    Attributes:
        expectation: The texts that are accepted.
        accepts: Whether a text is accepted.
    """

    expectation: str
    accepts: Callable[[str], bool] = bool

    def parse(self, text: str) -> str | None:
        """Return the text, None if it is not accepted."""
        return text if self.accepts(text) else None


@dataclass(frozen=True)
class Fraction:
    """A number between 0 and 1, both excluded."""

    expectation: str = "a number above 0 and below 1"

    def parse(self, text: str) -> float | None:
        """Return the number of a text, None for other texts and outside of the range."""
        try:
            value = float(text)
        except ValueError:
            return None
        return value if 0 < value < 1 else None


@dataclass(frozen=True)
class TableProperty(Generic[Value]):
    """A table property.

    Attributes:
        name: Name; it ends with `<column>` if there is one property for each column.
        kind: Type and range of its values.
        default: Value of an unset property; None if there is none.
        meaning: One sentence for the documentation.
    """

    name: str
    kind: Kind[Value]
    default: Value
    meaning: str

    def of(self, properties: Mapping[str, str]) -> Value:
        """Return the value that a table's properties set, or the default.

        Raises:
            ValidationError: The value has the wrong type or is out of range.

        Examples:
            >>> retries = TableProperty("commit.retry.num-retries", WholeNumber(0), 4, "Retries of a commit.")
            >>> retries.of({}), retries.of({"commit.retry.num-retries": "7"})
            (4, 7)
        """
        text = properties.get(self.name)
        return self.default if text is None else self.parse(text)

    def check(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Return the set properties of this definition, of every column if it has columns, with their texts.

        Raises:
            ValidationError: A value has the wrong type or is out of range.
        """
        if self.name.endswith(COLUMN):
            prefix = self.name.removesuffix(COLUMN)
            found = {name: text for name, text in properties.items() if name.startswith(prefix)}
        else:
            found = {self.name: properties[self.name]} if self.name in properties else {}
        for name, text in found.items():
            self.parse(text, f"table property {name}")
        return found

    def parse(self, text: str, subject: str | None = None) -> Value:
        """Return the value of a text.

        Args:
            text: The text.
            subject: The start of the error message, `table property <name>` if None.

        Raises:
            ValidationError: The text has the wrong type or is out of range.
        """
        value = self.kind.parse(text)
        if value is None:
            subject = f"table property {self.name}" if subject is None else subject
            raise ValidationError(f"{subject}: expected {self.kind.expectation}, got {text!r}")
        return value


def is_json_array(text: str) -> bool:
    """Return whether a text is a JSON array.

    Examples:
        >>> is_json_array("[1]"), is_json_array("{}"), is_json_array("[")
        (True, False, False)
    """
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def checked(definitions: tuple[TableProperty[Any], ...], properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of some definitions, each checked.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
    """
    found: dict[str, str] = {}
    for definition in definitions:
        found.update(definition.check(properties))
    return found
