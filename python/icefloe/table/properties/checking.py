"""The check of table properties when they are set: whole numbers must be whole numbers in their range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.properties.definitions import GROUPS
from icefloe.table.properties.reading import WholeNumber

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_whole_numbers(properties: Mapping[str, str]) -> None:
    """Raise ValidationError if a property that is a whole number is set to another text, or out of its range.

    Other properties are checked where they are read, since a table may carry values for other engines. No engine reads a text as a
    number, and commits, scans or writes would fail until the property is removed.

    Examples:
        >>> check_whole_numbers({"commit.retry.num-retries": "7", "owner": "me"})
        >>> check_whole_numbers({"commit.retry.num-retries": "many"})
        Traceback (most recent call last):
            ...
        icefloe.exceptions.ValidationError: table property commit.retry.num-retries: expected a whole number, 0 or above, got 'many'
    """
    for definitions in GROUPS.values():
        for definition in definitions:
            if isinstance(definition.kind, WholeNumber):
                definition.check(properties)
