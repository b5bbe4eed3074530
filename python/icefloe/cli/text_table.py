"""Rows as text: a table in colour on a terminal, aligned columns in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from icefloe.cli.json_values import rows_as_json
from icefloe.table.maintenance.display import bytes_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

SHOWN_ROWS = 100
"""Rows that a terminal shows of a longer table."""
_FOLDED_WIDTH = 24
"""Columns of the terminal that a longer cell has at least, where it is folded into several lines."""
_GAP = 3
_BYTES = ("bytes", "size", "file_size_in_bytes", "length")


def write_table(rows: pa.Table, console: Console, *, all_rows: bool = False) -> None:
    """Write rows as text.

    Args:
        rows: The rows.
        console: Standard output.
        all_rows: Whether a terminal shows all rows, and not the first 100 only.
    """
    shown = rows if all_rows or not console.is_terminal else rows.slice(0, SHOWN_ROWS)
    cells = _cells(shown)
    if console.is_terminal:
        _write_rich(shown, cells, console)
        if shown.num_rows < rows.num_rows:
            click.echo(f"{rows.num_rows - shown.num_rows:,} more rows; a pipe or --limit 0 shows all", err=True)
        return
    _write_aligned(shown.column_names, cells, _right(shown))


def _cells(rows: pa.Table) -> list[list[str]]:
    names = rows.column_names
    return [[_cell(name, row[name]) for name in names] for row in rows_as_json(rows)]


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return bytes_text(value) if name.endswith(_BYTES) else f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{key}={_cell(key, one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_cell(name, one) for one in value)
    return _printable(str(value))


def _printable(text: str) -> str:
    """Return a text with control characters escaped: names and values of a table must not steer the terminal."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def _right(rows: pa.Table) -> list[bool]:
    return [
        (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)) and not field.name.endswith("_id")
        for field in rows.schema
    ]


def _write_rich(rows: pa.Table, cells: list[list[str]], console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = [name.replace("_", " ") for name in rows.column_names]
    widths = _least_widths(names, cells)
    spare = console.width - sum(widths) - _GAP * len(widths)
    if cells and spare < 0:
        _write_records(names, cells, console)
        return
    for place, name in enumerate(names):
        more = min(max(len(name), *(len(row[place]) for row in cells), 0) - widths[place], max(spare, 0))
        widths[place], spare = widths[place] + more, spare - more
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name, right, width in zip(names, _right(rows), widths, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold", width=width)
    for row in cells:
        table.add_row(*(Text(cell, style="dim" if cell == "-" else "") for cell in row))
    console.print(table)


def _least_widths(names: Sequence[str], cells: list[list[str]]) -> list[int]:
    """Return the width below which the cells of each column cannot be read, in columns of the terminal."""
    words = [max(len(word) for word in (name.split() or [""])) for name in names]
    return [max(word, *(min(len(row[place]), _FOLDED_WIDTH) for row in cells), 0) for place, word in enumerate(words)]


def _write_records(names: Sequence[str], cells: list[list[str]], console: Console) -> None:
    """Write a line for each value, and an empty line between rows."""
    from rich.table import Table
    from rich.text import Text

    for number, row in enumerate(cells):
        record = Table.grid(padding=(0, 2))
        record.add_column(style="bold", no_wrap=True)
        record.add_column(overflow="fold")
        for name, cell in zip(names, row, strict=True):
            record.add_row(Text(name), Text(cell, style="dim" if cell == "-" else ""))
        if number > 0:
            console.print()
        console.print(record)


def _write_aligned(names: Sequence[str], cells: list[list[str]], right: Sequence[bool]) -> None:
    lines = [list(names), *cells]
    widths = [max(len(line[place]) for line in lines) for place in range(len(names))]
    for line in lines:
        parts = [
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(line, widths, right, strict=True)
        ]
        click.echo("  ".join(parts).rstrip())
