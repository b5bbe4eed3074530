"""Sort keys and table properties as Spark SQL writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.writer.partition_text import partition_field
from icefloe.table.sorting import NullOrder, SortDirection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from icefloe.transforms import Transform

_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)", re.ASCII)


def sort_key(cursor: Cursor) -> tuple[str, Transform, SortDirection, NullOrder]:
    """Return column, transform, direction and null order of a sort key."""
    column, transform = partition_field(cursor)
    descending = cursor.accept("DESC")
    if not descending:
        cursor.accept("ASC")
    nulls_first = not descending
    if cursor.accept("NULLS", "FIRST"):
        nulls_first = True
    elif cursor.accept("NULLS", "LAST"):
        nulls_first = False
    return (
        column,
        transform,
        SortDirection.DESC if descending else SortDirection.ASC,
        NullOrder.NULLS_FIRST if nulls_first else NullOrder.NULLS_LAST,
    )


def properties_of(cursor: Cursor) -> dict[str, str]:
    """Return the keys and values of the parentheses that follow: ``('a' = 'b', c.d = 1)``.

    Raises:
        ValidationError: There is no key, a key has no value, or a key is given twice.
    """
    found: dict[str, str] = {}
    for inner in _items(cursor):
        key = property_key(inner)
        if not inner.accept("="):
            inner.accept("==")
        value = _value(inner, key)
        inner.finish()
        if key in found:
            raise ValidationError(f"properties: {key!r} is given twice; expected each key once")
        found[key] = value
    return found


def check_not_reserved(properties: Iterable[str], reserved: Mapping[str, str], label: str, kind: str = "table") -> None:
    """Raise ValidationError if a property has a clause or a statement of its own, as its value would have no effect.

    Args:
        properties: The keys of the properties that a statement sets or removes.
        reserved: What sets each reserved property instead.
        label: The clause, for errors.
        kind: What has the properties, for errors.
    """
    for key in properties:
        if key in reserved:
            raise ValidationError(f"{label}: {key!r} is reserved; expected {reserved[key]}, got a {kind} property")


def property_keys(cursor: Cursor) -> list[str]:
    """Return the keys, without values, of the parentheses that follow.

    Raises:
        ValidationError: There is no key, or a key has a value.
    """
    keys = []
    for inner in _items(cursor):
        keys.append(property_key(inner))
        inner.finish()
    return keys


def _items(cursor: Cursor) -> list[Cursor]:
    items = cursor.items()
    if not items:
        raise cursor.error("a property in the parentheses before")
    return [Cursor(item) for item in items]


def _value(cursor: Cursor, key: str) -> str:
    """Return the value of a property, which is a text, a number, TRUE or FALSE."""
    word = cursor.peek()
    if word is not None and word.kind == "string":
        return cursor.string()
    text = "" if word is None else cursor.text[word.start : cursor.words[-1].end]
    if text.lower() not in ("true", "false") and _NUMBER.fullmatch(text) is None:
        raise cursor.error(f"a text in quotes, a number, true or false as the value of {key!r}")
    return cursor.rest().lower()


def property_key(cursor: Cursor) -> str:
    """Return the property key that follows, in quotes or as a dotted name."""
    word = cursor.peek()
    if word is not None and word.kind == "string":
        cursor.index += 1  # a literal after it is the value
        return word.text
    parts = [cursor.name()]
    while cursor.accept(".") or cursor.accept("-"):
        before = cursor.words[cursor.index - 1].text
        parts += [before, cursor.name()]
    return "".join(parts)
