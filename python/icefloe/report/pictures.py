"""The pictures of a report as inline SVG. Colours come from the page's style sheet, so both themes and print have them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from icefloe.table.maintenance.display import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 720
_ROW = 26
_NAME = 18
"""Characters of a name that fit beside a picture, also in the larger text of a narrow page."""


def bars(title: str, rows: Sequence[tuple[str, int, str, str]]) -> str:
    """Return horizontal bars, one for each row. Labels and values are text of the page, so they stay legible on a narrow page.

    Args:
        title: What a bar stands for.
        rows: Label, length, text behind the bar and style class of each bar.
    """
    longest = max((length for _, length, _, _ in rows), default=0) or 1
    parts = []
    for label, length, text, kind in rows:
        # Thin bars stay visible beside long ones.
        share = 0 if length == 0 else max(1.0, 100 * length / longest)
        parts.append(
            f'<div class="bar"><span class="name">{escape(label)}</span>'
            f'<svg aria-hidden="true"><rect class="{kind}" width="{share:.1f}%" height="100%" rx="3"/></svg>'
            f'<span class="amount">{escape(text)}</span></div>'
        )
    return f'{caption(title)}<div class="bars" role="img" aria-label="{escape(title)}">{"".join(parts)}</div>'


def caption(text: str) -> str:
    """Return what a picture shows, in a line above the picture."""
    return f'<p class="key">{escape(text)}</p>'


def file_sizes(figures: dict[str, Any]) -> str:
    """Return the histogram of data file sizes; bins below the size of a small file stand out."""
    rows = [
        (
            f"{bytes_text(one['from'])} to {bytes_text(one['to'])}",
            one["files"],
            f"{count_text(one['files'], 'file')}, {bytes_text(one['bytes'])}",
            "warn" if one["to"] <= figures["small_below_bytes"] else "good",
        )
        for one in figures["bins"]
    ]
    target = next(
        (n for n, one in enumerate(figures["bins"]) if one["from"] <= figures["target_bytes"] < one["to"]), None
    )
    picture = bars("Data files by size", rows)
    note = f"target {bytes_text(figures['target_bytes'])}" + (" (above the largest file)" if target is None else "")
    return (
        picture
        + f'<p class="key"><span class="dot warn"></span>small <span class="dot good"></span>large enough, {note}</p>'
    )


def growth(points: Sequence[dict[str, Any]]) -> str:
    """Return bytes over time as steps, each snapshot a step."""
    known = [(one["at_ms"], one["bytes"], one["at"]) for one in points if one["bytes"] is not None]
    if len(known) < 2:
        return ""
    height, bottom, left = 190, 150, 96
    first: int = known[0][0]
    last: int = max(known[-1][0], first + 1)
    most: int = max(size for _, size, _ in known) or 1
    room = WIDTH - left - 16

    def across(at_ms: int) -> float:
        return left + room * (at_ms - first) / (last - first)

    def down(size: int) -> float:
        return bottom - (bottom - 16) * size / most

    path = f"M{across(known[0][0]):.1f},{down(known[0][1]):.1f}"
    for at_ms, size, _ in known[1:]:
        path += f"H{across(at_ms):.1f}V{down(size):.1f}"
    area = f"{path}V{bottom}H{across(known[0][0]):.1f}Z"
    lines = "".join(
        f'<line class="grid" x1="{left}" x2="{WIDTH - 16}" y1="{down(size):.1f}" y2="{down(size):.1f}"/>'
        f'<text class="value" x="{left - 8}" y="{down(size) + 4:.1f}" text-anchor="end">{bytes_text(size)}</text>'
        for size in (0, most // 2, most)
    )
    dates = (
        f'<text class="value" x="{left}" y="{bottom + 22}">{escape(_minute(known[0][2]))}</text>'
        f'<text class="value" x="{WIDTH - 16}" y="{bottom + 22}" text-anchor="end">{escape(_minute(known[-1][2]))}</text>'
    )
    marks = f'<circle class="mark" cx="{across(known[-1][0]):.1f}" cy="{down(known[-1][1]):.1f}" r="3.5"/>'
    shape = f'<path class="area" d="{area}"/><path class="line" d="{path}"/>'
    return _svg("Bytes of data and delete files over time", height, lines + shape + marks + dates)


def partitions(rows: Sequence[dict[str, Any]]) -> str:
    """Return the worst partitions: partitions with several small files or with deletes stand out."""
    shown = [
        (
            one["partition"],
            one["files"],
            f"{one['small_files']:,} small of {one['files']:,}",
            "warn" if one["small_files"] > 1 or one["applied_deletes"] > 0 else "good",
        )
        for one in rows[:12]
    ]
    return bars(
        "Data files of the partitions with the most small files and delete files; orange: several small files, or deletes",
        shown,
    )


def fan_in(rows: Sequence[dict[str, int]]) -> str:
    """Return how many data files have how many delete files."""
    shown = [
        (
            "no delete file" if one["delete_files"] == 0 else count_text(one["delete_files"], "delete file"),
            one["data_files"],
            count_text(one["data_files"], "data file"),
            "good" if one["delete_files"] == 0 else "warn",
        )
        for one in rows[:12]
    ]
    return bars("Data files by the number of delete files that apply to each", shown)


def branches(rows: Sequence[dict[str, Any]]) -> str:
    """Return branches and tags on a line of time."""
    if not rows:
        return ""
    left, right = 190, WIDTH - 180
    first, last = min(one["at_ms"] for one in rows), max(one["at_ms"] for one in rows)
    parts = []
    for place, one in enumerate(rows[:20]):
        across = right if last == first else left + (right - left) * (one["at_ms"] - first) / (last - first)
        top = place * _ROW
        shape = (
            f'<circle class="mark" cx="{across:.1f}" cy="{top + 13}" r="5"/>'
            if one["type"] == "branch"
            else f'<rect class="tag" x="{across - 5:.1f}" y="{top + 8}" width="10" height="10" rx="2"/>'
        )
        parts.append(
            f'<text class="label" x="{left - 20}" y="{top + 17}" text-anchor="end">{_cut(one["name"], _NAME)}</text>'
            f'<line class="grid" x1="{left}" x2="{right}" y1="{top + 13}" y2="{top + 13}"/>{shape}'
            f'<text class="value" x="{right + 14}" y="{top + 17}">{escape(_minute(one["at"]))}</text>'
        )
    return _svg(
        "Branches (circles) and tags (squares) by the time of their snapshots",
        min(len(rows), 20) * _ROW,
        "".join(parts),
    )


def _svg(title: str, height: int, content: str) -> str:
    return (
        f'{caption(title)}<div class="picture"><svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{content}</svg></div>"
    )


def _cut(text: str, most: int) -> str:
    """Return a text of at most some characters, escaped; the whole text shows when the pointer rests on it."""
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    return f"{escape(shown)}<title>{escape(text)}</title>"


def _minute(iso: str) -> str:
    return iso[:16].replace("T", " ")
