# ruff: noqa: INP001 - a script
"""Draw `figures.svg`, the times of the README's table on a logarithmic axis: python docs/pictures/bars.py."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURE = Path(__file__).with_name("figures.svg")
COLOURS = {
    "icefloe": "#0891b2",
    "Java runtime": "#ea580c",
    "PyIceberg": "#a855f7",
    "DuckDB": "#ca8a04",
    "Polars": "#2563eb",
    "delta-rs": "#16a34a",
    "plain Parquet": "#78716c",
}
STYLE = (
    "text{fill:#1f2937}line{stroke:#9ca3af}.range{stroke-width:3;stroke-opacity:.35}"
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}line{stroke:#6b7280}}"
)
NAMES = {"Java": "Java runtime"}
ROW = re.compile(r"^\| (?P<work>[^|]+?)(?: \*)? \| (?P<own>[\d,]+) \| (?P<others>[^|]+) \|$", re.MULTILINE)
FIRST, LAST = 10, 100_000
"""The ends of the axis in milliseconds."""
WIDTH, LEFT, RIGHT, TOP, LINE = 980, 430, 30, 62, 26


@dataclass(frozen=True)
class Work:
    """A row of the README's table.

    Attributes:
        name: What is done.
        times: Milliseconds of each implementation; icefloe is the first.
    """

    name: str
    times: dict[str, int]


def works_of(readme: str) -> list[Work]:
    """Return the rows of the table of figures."""
    return [
        Work(row["work"], {"icefloe": _number(row["own"]), **dict(map(_time, row["others"].split(", ")))})
        for row in ROW.finditer(readme)
    ]


def drawing(works: list[Work]) -> str:
    """Return the picture as SVG."""
    height = TOP + LINE * len(works) + 16
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif" font-size="13">',
        "<title>Wall time of each case, less is better</title>",
        f"<style>{STYLE}</style>",
        *_legend(),
        *_axis(height),
    ]
    for number, work in enumerate(works):
        lines += _row(work, TOP + LINE * number + LINE // 2)
    return "\n".join((*lines, "</svg>", ""))


def _legend() -> list[str]:
    lines, left = [], 12
    for name, colour in COLOURS.items():
        lines.append(f'<circle cx="{left}" cy="14" r="6" fill="{colour}"/><text x="{left + 11}" y="18">{name}</text>')
        left += 34 + 8 * len(name)
    return lines


def _axis(height: int) -> list[str]:
    lines = []
    milliseconds = FIRST
    while milliseconds <= LAST:
        x = _x(milliseconds)
        text = f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds // 1000} s"
        lines.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{height - 10}" stroke-dasharray="2 4"/>')
        lines.append(f'<text x="{x}" y="{TOP - 14}" text-anchor="middle">{text}</text>')
        milliseconds *= 10
    return lines


def _row(work: Work, y: int) -> list[str]:
    times = work.times.values()
    lines = [
        f'<text x="{LEFT - 16}" y="{y + 4}" text-anchor="end">{escape(work.name)}</text>',
        f'<line class="range" x1="{_x(min(times))}" x2="{_x(max(times))}" y1="{y}" y2="{y}"/>',
    ]
    # icefloe comes last, so that no other circle covers it.
    for name, milliseconds in reversed(work.times.items()):
        radius = 7 if name == "icefloe" else 5
        lines.append(
            f'<circle cx="{_x(milliseconds)}" cy="{y}" r="{radius}" fill="{COLOURS[name]}" fill-opacity=".85">'
            f"<title>{name}: {milliseconds:,} ms</title></circle>"
        )
    return lines


def _x(milliseconds: int) -> float:
    share = math.log(milliseconds / FIRST) / math.log(LAST / FIRST)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _time(text: str) -> tuple[str, int]:
    name, _, milliseconds = text.strip().rpartition(" ")
    return NAMES.get(name, name), _number(milliseconds)


def _number(text: str) -> int:
    return int(text.replace(",", ""))


if __name__ == "__main__":
    PICTURE.write_text(drawing(works_of((ROOT / "README.md").read_text(encoding="utf-8"))), encoding="utf-8")
