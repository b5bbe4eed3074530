"""A document as text: names on the left, values on the right, lists and maps below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, ConsoleOptions, RenderResult


class KeyValues:
    """Names and values, which rich renders and which print as aligned text.

    Args:
        values: Values by name: text, numbers, lists of texts or maps of texts.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table
        from rich.text import Text

        if not console.is_terminal:
            yield Text("\n".join(self._lines()))
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold")
        grid.add_column(overflow="fold")
        for name, value in self._values.items():
            grid.add_row(Text(name.replace("_", " ")), Text(_text(value)))
        yield grid

    def _lines(self) -> list[str]:
        """Return the names and values as aligned lines."""
        width = max((len(name) for name in self._values), default=0)
        lines = []
        for name, value in self._values.items():
            first, *others = _text(value).split("\n")
            lines.append(f"{name.replace('_', ' ').ljust(width)}  {first}")
            lines += [f"{' ' * width}  {one}" for one in others]
        return lines


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key} = {one}" for key, one in value.items()) or "-"
    if isinstance(value, (list, tuple)):
        return "\n".join(map(str, value)) or "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
