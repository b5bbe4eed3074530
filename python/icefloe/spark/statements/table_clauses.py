"""Sort keys and table properties as Spark SQL writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.lexer import Cursor
from icefloe.spark.writer.partition_text import partition_field
from icefloe.table.sorting import NullOrder, SortDirection

if TYPE_CHECKING:
    from icefloe.transforms import Transform


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
    """Return the keys and values of the parentheses that follow: ``('a' = 'b', c.d = 1)``."""
    found = {}
    for item in cursor.items():
        inner = Cursor(item)
        key = property_key(inner)
        inner.accept("=")
        word = inner.peek()
        found[key] = inner.string() if word is not None and word.kind == "string" else inner.rest()
        inner.finish()
    return found


def property_key(cursor: Cursor) -> str:
    """Return the property key that follows, in quotes or as a dotted name."""
    word = cursor.peek()
    if word is not None and word.kind == "string":
        return cursor.string()
    parts = [cursor.name()]
    while cursor.accept(".") or cursor.accept("-"):
        before = cursor.words[cursor.index - 1].text
        parts += [before, cursor.name()]
    return "".join(parts)
