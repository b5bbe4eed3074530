"""The pieces of a page: tables that can be copied, sections, and data that cannot become markup."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from icefloe.table.maintenance.display import bytes_text

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT_TEXT = 24
"""The length of a time, the longest text that a cell shows in one line."""


def section(title: str, sentences: Sequence[str], *content: str) -> str:
    """Return a section: sentences first, then pictures and tables. Titles and sentences are text, the content is markup."""
    texts = "".join(f"<p>{escape(one)}</p>" for one in sentences)
    return f"<section><h2>{escape(title)}</h2>{texts}{''.join(content)}</section>"


def table(identity: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table with a button that copies it as tab-separated text; nothing without rows.

    Args:
        identity: The element's id.
        columns: Titles; a title that ends with `bytes` formats its column as sizes.
        rows: The cells: text, numbers, booleans or None.
    """
    if not rows:
        return ""
    kinds = [_kind([row[place] for row in rows]) for place in range(len(columns))]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for name, kind in zip(columns, kinds, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{escape(_text(name, value))}</td>"
            for name, kind, value in zip(columns, kinds, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="table"><table id="{identity}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f'<button type="button" data-copies="{identity}">Copy table</button>'
    )


def folded(title: str, content: str) -> str:
    """Return markup that a click unfolds; nothing for no markup. In print it is unfolded below its title."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>" if content else ""


def as_table(content: str) -> str:
    """Return the table of a picture, which a click unfolds; nothing for no table. In print it follows the picture."""
    return f'<details class="twin"><summary>As a table</summary>{content}</details>' if content else ""


def json_script(values: dict[str, Any]) -> str:
    """Return values as a JSON element. No text in them can end the element or start another."""
    text = json.dumps(values, ensure_ascii=True, allow_nan=False)
    for one in "<>&":
        text = text.replace(one, f"\\u{ord(one):04x}")
    return f'<script type="application/json" id="figures">{text}</script>'


def _kind(values: Sequence[Any]) -> str:
    """Return the class of a column's cells: numbers are aligned, and short texts such as ids and times are not broken."""
    if all(value is None or (isinstance(value, int) and not isinstance(value, bool)) for value in values):
        return ' class="number"'
    return ' class="short"' if all(len(str(value)) <= SHORT_TEXT for value in values) else ""


def _text(column: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return bytes_text(value) if column.endswith("bytes") else f"{value:,}"
    return str(value)
