"""Run the appends: `python -m appends [--catalog NAME] [--library NAME] [--commits N] [--directory PATH] [--profile FILE]`.

One table takes all appends, of one row each, in one process. The figures of a point are medians over a window of commits around it.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import statistics
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

WINDOW = 20
"""Commits of which a point is the median."""
POINTS = (1, 1_000, 10_000)
WARM_UP = 30
"""Commits to another table before the first measured one: the first commits of a process import modules and start threads."""
ROWS = pa.table({"writer": [0], "commit": [0]})


@dataclass(frozen=True)
class Point:
    """The cost of one append.

    Attributes:
        commits: The commits of the table before the window.
        cpu_ms: CPU time of all threads, in user mode and in the kernel, milliseconds.
        wall_ms: Elapsed time, milliseconds.
    """

    commits: int
    cpu_ms: float
    wall_ms: float


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="appends", description=__doc__)
    parser.add_argument("--catalog", choices=("hadoop", "sqlite"), default="hadoop")
    parser.add_argument("--library", choices=("icefloe", "pyiceberg"), default="icefloe")
    parser.add_argument("--commits", type=int, default=1_000, help="the last point (default 1000)")
    parser.add_argument("--directory", help="the directory of the warehouse (default: that of temporary files)")
    parser.add_argument("--property", action="append", default=[], metavar="NAME=VALUE", help="a property of the table")
    parser.add_argument("--profile", help="write a profile of the last window to this file")
    return parser.parse_args()


def load(library: str, catalog: str, directory: str) -> Any:
    """Return a catalog of a library with the namespace `appends`."""
    properties = {"warehouse": f"{directory}/warehouse"}
    if catalog == "sqlite":
        properties |= {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db"}
    else:
        properties["type"] = catalog
    if library == "icefloe":
        from icefloe.catalog import load_catalog
    else:
        from pyiceberg.catalog import load_catalog  # type: ignore[assignment]
    loaded: Any = load_catalog("appends", **properties)
    loaded.create_namespace("appends")
    return loaded


def append(table: Any) -> Point:
    """Append one row, and return its cost."""
    cpu, started = time.process_time(), time.perf_counter()
    table.append(ROWS)
    wall, used = time.perf_counter() - started, time.process_time() - cpu
    return Point(commits=0, cpu_ms=used * 1000, wall_ms=wall * 1000)


def window(table: Any, commits: int) -> Point:
    """Make the appends of a window and return their medians."""
    points = [append(table) for _ in range(WINDOW)]
    return Point(
        commits=commits,
        cpu_ms=statistics.median(point.cpu_ms for point in points),
        wall_ms=statistics.median(point.wall_ms for point in points),
    )


def measured(catalog: Any, options: argparse.Namespace) -> list[Point]:
    """Return the cost of an append at each point up to the last."""
    # Old metadata files are deleted: 10,000 of them have 40 GB.
    properties = {"write.metadata.delete-after-commit.enabled": "true"}
    properties |= dict(text.split("=", 1) for text in options.property)
    warm = catalog.create_table("appends.warm", ROWS.schema, properties=properties)
    for _ in range(WARM_UP):
        warm.append(ROWS)
    table = catalog.create_table("appends.measured", ROWS.schema, properties=properties)
    points: list[Point] = []
    commits = 0
    for goal in [point for point in POINTS if point < options.commits] + [options.commits]:
        while commits < goal - WINDOW:
            table.append(ROWS)
            commits += 1
        is_profiled = options.profile is not None and goal == options.commits
        profile = cProfile.Profile() if is_profiled else None
        with profile if profile is not None else nullcontext():
            points.append(window(table, goal))
        commits += WINDOW
        if profile is not None:
            profile.dump_stats(options.profile)
    return points


def main() -> int:
    options = arguments()
    title = f"{options.library}, {options.catalog}: one append, median of {WINDOW}, load {os.getloadavg()[0]:.1f}"
    report = Table(title=title)
    for heading in ("commits before", "CPU ms", "wall ms", "CPU to first", "wall to first"):
        report.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory(prefix="appends-", dir=options.directory) as directory:
        Path(directory, "warehouse").mkdir()
        points = measured(load(options.library, options.catalog, directory), options)
    first = points[0]
    for point in points:
        figures = (point.cpu_ms, point.wall_ms, point.cpu_ms / first.cpu_ms, point.wall_ms / first.wall_ms)
        report.add_row(str(point.commits), *(f"{figure:.2f}" for figure in figures))
    Console(width=None if sys.stdout.isatty() else 120).print(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
