"""The generated tables of `docs/table-properties.md`: every property that icefloe reads.

`python -m icefloe.table.properties.page docs/table-properties.md` rewrites them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefloe.table.properties.definitions import GROUPS

if TYPE_CHECKING:
    from icefloe.table.properties.reading import TableProperty

BEGIN = "<!-- begin of generated tables -->"
END = "<!-- end of generated tables -->"
_UNITS = (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))


def tables() -> str:
    """Return the tables as Markdown, one section for each group of properties."""
    sections = []
    for title, definitions in GROUPS.items():
        rows = "\n".join(map(_row, definitions))
        sections.append(f"## {title}\n\n| property | value | default | meaning |\n|---|---|---|---|\n{rows}\n")
    return "\n".join(sections)


def with_tables(page: str) -> str:
    """Return a page with its generated tables replaced by the tables of the definitions."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def _row(definition: TableProperty[Any]) -> str:
    value = definition.kind.expectation.replace("|", "\\|")
    return f"| `{definition.name}` | {value} | {_default(definition)} | {definition.meaning} |"


def _default(definition: TableProperty[Any]) -> str:
    default = definition.default
    if default is None:
        return "unset"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, int) and "of bytes" in definition.kind.expectation:
        unit, size = next(((unit, size) for unit, size in _UNITS if default % size == 0), ("bytes", 1))
        return f"`{default}` ({default // size} {unit})"
    return f"`{default}`"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
