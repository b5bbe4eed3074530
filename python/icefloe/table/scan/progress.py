"""A progress bar on the terminal for reads of more than one second."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from icefloe.table.environment import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

QUIET_SECONDS = 1.0
"""Seconds without a progress bar at the start of a read."""
DRAWS_BARS: ContextVar[bool] = ContextVar("DRAWS_BARS", default=False)
"""Whether bars are drawn on a terminal although the session is not interactive, as the command does."""


def with_progress_bar(
    batches: Iterator[pa.RecordBatch], planned_rows: int | None, *, show: bool | None
) -> Iterator[pa.RecordBatch]:
    """Yield batches, and draw their number of rows as a progress bar after `QUIET_SECONDS`.

    Args:
        batches: The batches.
        planned_rows: The number of rows at most, None if unknown.
        show: Whether to draw a bar; None draws it in interactive sessions. Without a terminal there is never a bar.
    """
    if not (is_interactive() if show is None else show) or not sys.stderr.isatty():
        yield from batches
        return
    begun = SYSTEM.monotonic()
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        yield batch
        if SYSTEM.monotonic() - begun >= QUIET_SECONDS:
            yield from _draw(batches, rows, planned_rows)
            return


def is_interactive() -> bool:
    """Return whether this process is an interactive interpreter, IPython or the command."""
    return DRAWS_BARS.get() or hasattr(sys, "ps1") or bool(sys.flags.interactive)


def _draw(batches: Iterator[pa.RecordBatch], rows: int, total: int | None) -> Iterator[pa.RecordBatch]:
    with progress_bar() as bar:
        task = bar.add_task("reading", total=total, completed=rows)
        for batch in batches:
            bar.update(task, advance=batch.num_rows)
            yield batch
        bar.update(task, total=bar.tasks[task].completed)


def progress_bar(unit: str = "rows") -> Any:
    """Return a bar that counts rows or another unit; the caller starts it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
