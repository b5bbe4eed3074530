"""Explanations of scans: files and bytes to read, and files and bytes that pruning skips, as a tree or as HTML."""

from __future__ import annotations

import html
import json
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe.arguments import checked_flag
from icefloe.table.scan.findings import DeleteFindings, Finding, FooterFindings, byte_text, selection_findings
from icefloe.table.scan.tree_display import TreeDisplay

if TYPE_CHECKING:
    from rich.tree import Tree

    from icefloe.table.scan.plan import ScanPlan

MAX_FOOTERS = 1000
_STYLES = {
    "box": "font-family:ui-sans-serif,system-ui,sans-serif;font-size:13px;line-height:1.5;max-width:60em;font-variant-numeric:tabular-nums",
    "title": "font-weight:600;margin-bottom:.4em",
    "quiet": "opacity:.65;font-weight:400",
    "table": "border-collapse:collapse;background:none;margin:0",
    "cell": "text-align:left;vertical-align:top;padding:.15em 1.2em .15em 0;background:none;border:none;line-height:1.5",
    "text": "max-width:48em;overflow-wrap:anywhere;white-space:normal",
    "bar": "display:inline-block;width:6em;height:.55em;border:1px solid currentColor;border-radius:.3em;overflow:hidden;opacity:.7",
    "fill": "display:block;height:100%;background:currentColor",
}


class Explanation(TreeDisplay):
    """Findings about a plan, which print as a tree and show as HTML in notebooks."""

    @abstractmethod
    def title(self) -> tuple[str, str]:
        """Return the scan and the state of the table that is scanned."""

    @abstractmethod
    def findings(self) -> list[Finding]:
        """Return the findings in the order of reading."""

    def lines(self) -> list[tuple[str, str]]:
        """Return the explanation as pairs of subject and finding."""
        return [(one.subject, "; ".join([one.text, *one.details])) for one in self.findings()]

    def tree(self) -> Tree:
        """Return the explanation as a tree."""
        from rich.text import Text
        from rich.tree import Tree

        tree = Tree(Text(", ".join(self.title()), style="bold"))
        for finding in self.findings():
            branch = tree.add(Text.assemble((f"{finding.subject}: ", "cyan"), finding.text))
            for detail in finding.details:
                branch.add(Text(detail))
        return tree

    def _repr_html_(self) -> str:
        rows = "".join(_row(finding) for finding in self.findings())
        subject, of = map(html.escape, self.title())
        title = f"{subject} <span style='{_STYLES['quiet']}'>{of}</span>"
        return (
            f"<div style='{_STYLES['box']}'><div style='{_STYLES['title']}'>{title}</div>"
            f"<table style='{_STYLES['table']}'>{rows}</table></div>"
        )


@dataclass(frozen=True, repr=False)
class ScanExplanation(Explanation):
    """The explanation of a scan: figures that print as a tree and show as HTML in notebooks.

    Attributes:
        table: Name of the table.
        snapshot_id: The scanned snapshot, None for a table without snapshots.
        row_filter: The filter, as text.
        columns: Names of the selected columns.
        counters: Manifests, files, rows and bytes that planning read and skipped.
        splits: Number of tasks that the files are cut into.
        deletes: The delete files that apply.
        footers: Figures from the data files' footers; None if footers were not read.
    """

    table: str
    snapshot_id: int | None
    row_filter: str
    columns: tuple[str, ...]
    counters: dict[str, int]
    splits: int = 0
    deletes: DeleteFindings = field(default_factory=DeleteFindings)
    footers: FooterFindings | None = None

    def title(self) -> tuple[str, str]:  # noqa: D102  documented by Explanation
        of = f"snapshot {self.snapshot_id}" if self.snapshot_id is not None else "no snapshot"
        return f"scan of {self.table}", of

    def findings(self) -> list[Finding]:  # noqa: D102  documented by Explanation
        count = self.counters.get
        found = [
            *selection_findings(self.row_filter, self.columns),
            self._manifests("data manifests", "data"),
            self._manifests("delete manifests", "delete"),
            self._data_files(),
            self._delete_files(),
        ]
        planned = count("bytes_planned", 0)
        read, rows = planned, count("records_planned", 0)
        if self.footers is not None:
            found += self.footers.findings()
            read, rows = self.footers.bytes_to_read, self.footers.rows_selected
        whole = "" if read == planned else f" of {byte_text(planned)}"
        text = f"{byte_text(read)}{whole} of data files, {byte_text(self.deletes.size)} of delete files"
        found.append(Finding("bytes", text, (read, planned)))
        found.append(Finding("rows", f"at most {rows:,}"))
        found.append(Finding("tasks", f"{self.splits:,}"))
        return found

    def _manifests(self, subject: str, kind: str) -> Finding:
        total, skipped = (self.counters.get(f"{kind}_manifests_{which}", 0) for which in ("total", "skipped"))
        why = (f"{skipped:,} skipped: no live files, or partition summaries exclude the filter",) if skipped else ()
        return Finding(subject, f"{total - skipped:,} of {total:,} read", (total - skipped, total), why)

    def _data_files(self) -> Finding:
        count = self.counters.get
        planned, total = count("files_planned", 0), count("data_files_total", 0)
        reasons = [
            ("partition values", count("files_skipped_by_partition", 0)),
            ("column statistics", count("files_skipped_by_metrics", 0)),
        ]
        why = tuple(f"{skipped:,} skipped by {reason}" for reason, skipped in reasons if skipped)
        return Finding("data files", f"{planned:,} of {total:,} to read", (planned, total), why)

    def _delete_files(self) -> Finding:
        planned, total = self.counters.get("delete_files_planned", 0), self.counters.get("delete_files_total", 0)
        text = f"{planned:,} of {total:,} to apply"
        return Finding("delete files", text, None, self.deletes.details())


def explained(  # noqa: PLR0913  the scan's attributes that a plan lacks
    plan: ScanPlan, table: str, snapshot_id: int | None, row_filter: str, *, splits: int, footers: bool | None
) -> ScanExplanation:
    """Return the explanation of a plan of whole files.

    Args:
        plan: The plan.
        table: Name of the table.
        snapshot_id: The scanned snapshot, the last one of a range.
        row_filter: The filter, as text.
        splits: Number of tasks that the files are cut into.
        footers: Whether to read the files' footers; None reads them if there are at most `MAX_FOOTERS` files.
    """
    if footers is not None:
        checked_flag("footers", footers)
    read_footers = footers if footers is not None else plan.files.num_rows <= MAX_FOOTERS
    return ScanExplanation(
        table=table,
        snapshot_id=snapshot_id,
        row_filter=row_filter,
        columns=tuple(one["name"] for one in json.loads(plan.projection)["fields"]),
        counters=plan.counters,
        splits=splits,
        deletes=DeleteFindings.of(plan),
        footers=FooterFindings.of(plan) if read_footers else None,
    )


def _row(finding: Finding) -> str:
    """Return a finding as a table row. Colours are inherited from the page, for light and dark themes."""
    details = "".join(f"<div style='{_STYLES['quiet']}'>{html.escape(one)}</div>" for one in finding.details)
    return (
        f"<tr style='background:none'><th style='{_STYLES['cell']};font-weight:600;white-space:nowrap'>"
        f"{html.escape(finding.subject)}</th><td style='{_STYLES['cell']};min-width:6em'>{_bar(finding.share)}</td>"
        f"<td style='{_STYLES['cell']};{_STYLES['text']}'>{html.escape(finding.text)}{details}</td></tr>"
    )


def _bar(share: tuple[int, int] | None) -> str:
    if share is None or share[1] <= 0:
        return ""
    percent = min(100.0, 100.0 * share[0] / share[1])
    return f"<span aria-hidden='true' style='{_STYLES['bar']}'><span style='{_STYLES['fill']};width:{percent:.1f}%'></span></span>"
