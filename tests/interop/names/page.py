"""The page that justifies differences, read by the test that finds them: `docs/from-pyiceberg.md`."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "from-pyiceberg.md"
NAMES = "Names that differ"
VALUES = "Values that differ"
LINE = re.compile(r"^- (`.+`): (\S.+)$")


def justified(section: str) -> list[str]:
    """Return the names, or the expressions, that a section of the page gives a reason for, in its order."""
    found: list[str] = []
    for line in body_of(section):
        match = LINE.match(line)
        assert match is not None, f"{PAGE.name}: not of the form '- `name`: reason': {line}"
        found += re.findall(r"`([^`]+)`", match[1])
    return found


def body_of(section: str) -> list[str]:
    """Return the list lines of a section."""
    text = PAGE.read_text(encoding="utf-8")
    body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [line for line in body.splitlines() if line.startswith("- ")]
