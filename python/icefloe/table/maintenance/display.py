"""Plans and results as text and as HTML."""

from __future__ import annotations

from datetime import datetime, timezone
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_ROWS = 20
"""The first rows of a plan that are shown; `rows()` has all."""

_KIB = 1024
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def bytes_text(size: int) -> str:
    """Return a number of bytes as text with a binary unit.

    >>> bytes_text(1536)
    '1.5 KiB'
    """
    value, unit = float(size), 0
    while value >= _KIB and unit < len(_UNITS) - 1:
        value /= _KIB
        unit += 1
    return f"{size} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def count_text(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with the singular or plural of a noun.

    >>> count_text(1, "file"), count_text(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def rows_as_text(summary: str, rows: pa.Table) -> str:
    """Return a summary and the first rows as aligned columns."""
    cells = [list(rows.column_names), *_shown(rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(rows.num_columns)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([summary, *(lines if rows.num_rows > 0 else []), *_remaining(rows)])


def rows_as_html(summary: str, rows: pa.Table) -> str:
    """Return a summary and the first rows as an HTML fragment."""
    head = "".join(f"<th>{escape(name)}</th>" for name in rows.column_names)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in _shown(rows))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows.num_rows > 0 else ""
    return "".join([f"<p>{escape(summary)}</p>", table, *(f"<p>{line}</p>" for line in _remaining(rows))])


def _shown(rows: pa.Table) -> list[list[str]]:
    return [[_cell(value) for value in row.values()] for row in rows.slice(0, SHOWN_ROWS).to_pylist()]


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _remaining(rows: pa.Table) -> list[str]:
    return [f"and {rows.num_rows - SHOWN_ROWS:,} more rows" for _ in range(1) if rows.num_rows > SHOWN_ROWS]
