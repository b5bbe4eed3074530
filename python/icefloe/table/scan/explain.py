"""What a scan will read and what it was spared, for people."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.tree import Tree


@dataclass(frozen=True)
class ScanExplanation:
    """A plan in words. Prints as a tree, shows as a table in notebooks, and has the numbers as `counters`.

    Attributes:
        table: The table's name.
        snapshot_id: The snapshot that is scanned, None for an empty table.
        row_filter: The filter, as text.
        columns: Names of the projected columns.
        counters: What planning looked at and skipped.
    """

    table: str
    snapshot_id: int | None
    row_filter: str
    columns: tuple[str, ...]
    counters: dict[str, int]

    def lines(self) -> list[tuple[str, str]]:
        """Return the explanation as pairs of subject and finding."""
        count = self.counters.get
        data_total = count("data_files_total", 0)
        return [
            ("filter", self.row_filter),
            ("columns", ", ".join(self.columns)),
            (
                "data manifests",
                _of(
                    count("data_manifests_total", 0),
                    count("data_manifests_skipped", 0),
                    "that cannot match or hold no live files",
                ),
            ),
            (
                "delete manifests",
                _of(
                    count("delete_manifests_total", 0),
                    count("delete_manifests_skipped", 0),
                    "that cannot match or hold no live files",
                ),
            ),
            (
                "data files",
                (
                    f"{count('files_planned', 0)} to read of {data_total} in the manifests read; skipped "
                    f"{count('files_skipped_by_partition', 0)} by partition, {count('files_skipped_by_metrics', 0)} by metrics"
                ),
            ),
            ("delete files", f"{count('delete_files_planned', 0)} to apply of {count('delete_files_total', 0)}"),
            ("bytes", _size(count("bytes_planned", 0))),
            ("rows", f"at most {count('records_planned', 0):,}"),
        ]

    def tree(self) -> Tree:
        """Return the explanation as a tree of the rich library."""
        from rich.text import Text
        from rich.tree import Tree

        snapshot = f"snapshot {self.snapshot_id}" if self.snapshot_id is not None else "no snapshot yet"
        tree = Tree(Text(f"scan of {self.table}, {snapshot}", style="bold"))
        for subject, finding in self.lines():
            tree.add(Text.assemble((f"{subject}: ", "cyan"), finding))
        return tree

    def __rich__(self) -> Tree:
        return self.tree()

    def __str__(self) -> str:
        from rich.console import Console

        out = io.StringIO()
        Console(file=out, width=160, color_system=None).print(self.tree())
        return out.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(subject)}</th><td style='text-align:left'>{html.escape(finding)}</td></tr>"
            for subject, finding in self.lines()
        )
        return f"<table><caption>scan of {html.escape(self.table)}</caption>{rows}</table>"


def _of(total: int, skipped: int, why: str) -> str:
    return f"{total - skipped} read of {total}; skipped {skipped} {why}"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
