"""The table of all sweeps of a run: calls, faults and violations for each kind of fault and catalog."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

PROPERTY = "sweep"
COLUMNS = ("operations", "calls", "faults", "success", "failure", "unknown", "killed", "violations")


def figures(place: str, catalog: str, operation: str, sweep: object) -> str:
    """Return the figures of one sweep as JSON, which travels from the processes of parallel tests."""
    tally = sweep.tally
    return json.dumps(
        {
            "place": place,
            "catalog": catalog,
            "operation": operation,
            "calls": tally.calls,
            "faults": tally.faults,
            "violations": len(sweep.violations),
            **tally.outcomes,
        }
    )


def table(reports: Iterable[Mapping[str, object]], *, by_operation: bool = False) -> list[str]:
    """Return the lines of a Markdown table of sweeps, with a row for each catalog, or for each operation of a catalog."""
    keys = ("place", "catalog", "operation") if by_operation else ("place", "catalog")
    rows: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for report in reports:
        row = rows[tuple(str(report[key]) for key in keys)]
        row["operations"] += 1
        row.update({column: int(report.get(column, 0)) for column in COLUMNS[1:]})
    heads = [*keys, *(column for column in COLUMNS if not (by_operation and column == "operations"))]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    total: Counter[str] = Counter()
    for key, row in sorted(rows.items()):
        total.update(row)
        lines.append(f"| {' | '.join([*key, *(str(row[head]) for head in heads[len(keys) :])])} |")
    blanks = [""] * (len(keys) - 1)
    lines.append(f"| {' | '.join(['all', *blanks, *(str(total[head]) for head in heads[len(keys) :])])} |")
    return lines
