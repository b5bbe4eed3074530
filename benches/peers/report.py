"""The table a person reads and the JSON a program reads."""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from peers.case import Case
from peers.measure import Result

PACKAGES = (
    "icefloe",
    "pyiceberg",
    "pyiceberg-core",
    "polars",
    "polars-iceberg",
    "duckdb",
    "pyarrow",
    "datafusion",
    "pyspark",
)


def versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def fastest_peer(case: Case, results: list[Result]) -> Result | None:
    others = [r for r in results if r.failed is None and r.seconds and r.contender not in case.floors]
    peers = [r for r in others if not r.contender.startswith("icefloe")]
    return min(peers, key=lambda result: result.median, default=None)


def against_floor(case: Case, results: list[Result], result: Result) -> str:
    """Wall and CPU time in those of the case's floor; nothing where it has none."""
    floors = [r for r in results if r.contender in case.floors and r.failed is None and r.seconds]
    if not floors:
        return ""
    floor = min(floors, key=lambda each: each.median)
    cpu = median_cpu(result) / max(median_cpu(floor), 1e-9)
    return f"{result.median / floor.median:.2f}x, {cpu:.2f}x"


def median_cpu(result: Result) -> float:
    return sorted(result.cpu_seconds)[len(result.cpu_seconds) // 2]


def disagreement(case: Case, results: list[Result]) -> str | None:
    """The row counts, when contenders that should agree do not."""
    counts = {r.contender: r.rows for r in results if r.failed is None and r.contender not in case.floors}
    if case.same_rows and len(set(counts.values())) > 1:
        return f"{case.name}: contenders handled different numbers of rows: {counts}"
    return None


def show(console: Console, case: Case, results: list[Result]) -> None:
    peer = fastest_peer(case, results)
    table = Table(title=f"[bold]{case.name}[/]  {case.what}", title_justify="left", header_style="bold")
    table.add_column("contender", no_wrap=True)
    names = ("median", "spread", "to fastest peer", "rows/s", "CPU ms", "to floor, CPU", "peak RSS", "above start")
    for name in names:
        table.add_column(name, justify="right")
    for result in results:
        if result.failed is not None:
            table.add_row(result.contender, f"[red]{result.failed[:90]}[/]", *[""] * (len(names) - 1))
            continue
        ratio = "" if peer is None else f"{result.median / peer.median:.2f}x"
        style = "bold" if result.contender.startswith("icefloe") else "dim" if result.contender in case.floors else ""
        table.add_row(
            result.contender,
            f"{result.median * 1e3:,.1f} ms",
            f"±{result.spread:.0%}",
            ratio,
            f"{result.rows / result.median:,.0f}",
            f"{median_cpu(result) * 1e3:,.1f}",
            against_floor(case, results, result),
            f"{result.peak_rss_mb:,} MB",
            f"{result.peak_above_baseline_mb:,} MB",
            style=style,
        )
    console.print(table)


def as_json(case: Case, results: list[Result]) -> dict[str, Any]:
    peer = fastest_peer(case, results)
    return {
        "case": case.name,
        "what": case.what,
        "fastest_peer": None if peer is None else peer.contender,
        "results": [
            {
                "contender": r.contender,
                "failed": r.failed,
                "median_seconds": r.median if r.seconds else None,
                "spread": r.spread if r.seconds else None,
                "seconds": r.seconds,
                "cpu_seconds": r.cpu_seconds,
                "warm_up_seconds": r.warm_up_seconds,
                "rows": r.rows,
                "peak_rss_mb": r.peak_rss_mb,
                "peak_above_baseline_mb": r.peak_above_baseline_mb,
                "ratio_to_fastest_peer": r.median / peer.median if peer is not None and r.seconds else None,
            }
            for r in results
        ],
    }


def write(path: Path, cases: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = {
        "system": platform.platform(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }
    path.write_text(json.dumps({"machine": machine, "versions": versions(), "cases": cases}, indent=1) + "\n")
