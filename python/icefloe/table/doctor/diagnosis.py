"""The diagnosis of a table: its findings, as text, as HTML, as rows and as JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.table.doctor.finding import Severity
from icefloe.table.maintenance.display import count_text
from icefloe.table.scan.tree_display import TreeDisplay

if TYPE_CHECKING:
    from rich.tree import Tree

    from icefloe.table.doctor.finding import Finding

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_HTML_COLOURS = {Severity.ERROR: "#c0392b", Severity.WARNING: "#b9770e", Severity.INFO: "#2471a3"}
_STYLE = "font-family:ui-sans-serif,system-ui,sans-serif;font-size:13px;line-height:1.5;max-width:60em"


@dataclass(frozen=True, repr=False)
class Diagnosis(TreeDisplay):
    """The findings on one version of a table, most severe first.

    Attributes:
        table: Name of the table.
        snapshot_id: The current snapshot, None for a table without snapshots.
        findings: The findings.
        checks: Names of the checks that were made.
    """

    table: str
    snapshot_id: int | None
    findings: tuple[Finding, ...]
    checks: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether no finding is a warning or an error."""
        return all(one.severity < Severity.WARNING for one in self.findings)

    def summary(self) -> str:
        """Return the verdict in one sentence."""
        counts = {one: sum(finding.severity is one for finding in self.findings) for one in Severity}
        parts = [
            count_text(counts[Severity.ERROR], "error"),
            count_text(counts[Severity.WARNING], "warning"),
            count_text(counts[Severity.INFO], "note"),
        ]
        shown = [part for part in parts if not part.startswith("0 ")]
        if not shown:
            return f"{self.table} is healthy: no findings."
        verdict = "is healthy" if self.is_healthy else "needs attention"
        return f"{self.table} {verdict}: {', '.join(shown)}."

    def rows(self) -> pa.Table:
        """Return one row per finding: severity, code, sentence, command."""
        columns = ("severity", "code", "sentence", "command")
        values = [one.as_dict() for one in self.findings]
        return pa.table({name: pa.array([value[name] for value in values], pa.string()) for name in columns})

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as JSON values: ids as strings, sizes in bytes."""
        return {
            "table": self.table,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
            "healthy": self.is_healthy,
            "summary": self.summary(),
            "checks": list(self.checks),
            "findings": [one.as_dict() for one in self.findings],
        }

    def tree(self) -> Tree:
        """Return the diagnosis as a tree."""
        from rich.text import Text
        from rich.tree import Tree

        tree = Tree(Text(self.summary(), style="bold"))
        for one in self.findings:
            label = Text.assemble((f"{one.severity} ", _COLOURS[one.severity]), (one.code, "bold"), f"  {one.sentence}")
            branch = tree.add(label)
            if one.command is not None:
                branch.add(Text(one.command, style="green"))
        return tree

    def _repr_html_(self) -> str:
        parts = []
        for one in self.findings:
            command = "" if one.command is None else f"<br><code>{escape(one.command)}</code>"
            parts.append(
                f"<li style='margin:.4em 0'><strong style='color:{_HTML_COLOURS[one.severity]}'>{one.severity}</strong> "
                f"<strong>{escape(one.code)}</strong>: {escape(one.sentence)}{command}</li>"
            )
        return f"<div style='{_STYLE}'><p><strong>{escape(self.summary())}</strong></p><ul>{''.join(parts)}</ul></div>"
