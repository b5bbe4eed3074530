"""The table of a case, and its figures as JSON."""

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
    """Return wall and user CPU time as multiples of the fastest floor's; an empty text without a floor."""
    floors = [r for r in results if r.contender in case.floors and r.failed is None and r.seconds]
    if not floors:
        return ""
    floor = min(floors, key=lambda each: each.median)
    return ratios(result, floor)


def ratios(result: Result, other: Result) -> str:
    """Return wall and user CPU time as multiples of another contender's."""
    return f"{result.median / other.median:.2f}x, {result.median_user / max(other.median_user, 1e-9):.2f}x"


def disagreement(case: Case, results: list[Result]) -> str | None:
    """Return a sentence with row counts and checksums if contenders that must agree do not, else None."""
    if not case.same_rows:
        return None
    counted = [r for r in results if r.failed is None and r.contender not in case.floors]
    if len({r.rows for r in counted}) > 1:
        return f"{case.name}: contenders returned different numbers of rows: { {r.contender: r.rows for r in counted} }"
    sums = {r.contender: r.checksum for r in counted if r.checksum is not None}
    if len(set(sums.values())) > 1:
        return f"{case.name}: contenders returned rows of different values; their checksums are {sums}"
    return None


def show(console: Console, case: Case, results: list[Result]) -> None:
    peer = fastest_peer(case, results)
    table = Table(title=f"[bold]{case.name}[/]  {case.what}", title_justify="left", header_style="bold")
    table.add_column("contender", no_wrap=True)
    names = (
        "median",
        "spread",
        "to peer, user",
        "rows/s",
        "user ms",
        "system ms",
        "to floor, user",
        "peak",
        "above start",
    )
    for name in names:
        table.add_column(name, justify="right")
    for result in results:
        if result.failed is not None:
            table.add_row(result.contender, f"[red]{result.failed[:90]}[/]", *[""] * (len(names) - 1))
            continue
        ratio = "" if peer is None else ratios(result, peer)
        style = "bold" if result.contender.startswith("icefloe") else "dim" if result.contender in case.floors else ""
        table.add_row(
            result.contender,
            f"{result.median * 1e3:,.1f} ms",
            f"±{result.spread:.0%}",
            ratio,
            f"{result.rows / result.median:,.0f}",
            f"{result.median_user * 1e3:,.1f}",
            f"{result.median_system * 1e3:,.1f}",
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
                "user_seconds": r.user_seconds,
                "system_seconds": r.system_seconds,
                "warm_up_seconds": r.warm_up_seconds,
                "rows": r.rows,
                "checksum": r.checksum,
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
