"""A progress bar for reads that take long, for whoever sits at a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

QUIET_SECONDS = 1.0
"""A read that ends sooner draws nothing."""


def watched(
    batches: Iterator[pa.RecordBatch], planned_rows: int | None, *, show: bool | None
) -> Iterator[pa.RecordBatch]:
    """Yield batches, and tell how many rows there have been once it takes long.

    Args:
        batches: Rows.
        planned_rows: How many rows there are at most, None if nobody knows.
        show: Whether to draw a bar; None draws it in interactive sessions. Without a terminal there is never one.
    """
    if not (is_interactive() if show is None else show) or not sys.stderr.isatty():
        yield from batches
        return
    begun = time.monotonic()
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        yield batch
        if time.monotonic() - begun >= QUIET_SECONDS:
            yield from _drawn(batches, rows, planned_rows)
            return


def is_interactive() -> bool:
    """Return whether somebody types into this process: an interactive interpreter or IPython."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive)


def _drawn(batches: Iterator[pa.RecordBatch], rows: int, total: int | None) -> Iterator[pa.RecordBatch]:
    with _bar() as bar:
        task = bar.add_task("reading", total=total, completed=rows)
        for batch in batches:
            bar.update(task, advance=batch.num_rows)
            yield batch
        bar.update(task, total=bar.tasks[task].completed)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
