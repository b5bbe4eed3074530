"""What the pipeline shows: steps with a clock, tables, and a verdict."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console


class Step:
    """One step while it runs."""

    def __init__(self) -> None:
        self.rows: int | None = None
        self.note = ""
        self.seconds = 0.0


class Report:
    """Prints to a console and remembers times and differences."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.differences: list[str] = []
        self._times: list[tuple[str, Step]] = []

    @contextmanager
    def step(self, title: str, *, watch: Path | None = None) -> Iterator[Step]:
        """Show a bar while a block runs, then its time; rows and a note can be set on the step.

        Args:
            title: What is being done.
            watch: Directory whose growth is shown meanwhile.
        """
        step, done = Step(), threading.Event()
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[size]}"),
            TimeElapsedColumn(),
        )
        start = time.perf_counter()
        with Progress(*columns, console=self.console, transient=True) as progress:
            task = progress.add_task(title, total=None, size="")
            if watch is not None:
                threading.Thread(target=_show_size, args=(progress, task, watch, done), daemon=True).start()
            try:
                yield step
            finally:
                done.set()
        step.seconds = time.perf_counter() - start
        self._times.append((title, step))
        self.console.print(
            Text.assemble(
                ("✓ ", "green"), f"{title} ", (f"{step.seconds:.1f} s", "cyan"), f"  {_rate(step)}{step.note}"
            )
        )

    def compare(self, what: str, found: Any, expected: Any) -> bool:
        """Note whether two things are equal; return it."""
        equal = bool(found == expected)
        if not equal:
            self.differences.append(what)
        mark, style = ("equal", "green") if equal else ("DIFFERENT", "bold red")
        self.console.print(Text.assemble("  ", (mark, style), f"  {what}"))
        return equal

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table."""
        table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
        for name in columns:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*[str(value) for value in row])
        self.console.print(table)

    def times(self) -> None:
        """Print how long every step took."""
        rows = [
            (title, f"{step.seconds:.2f}", "" if step.rows is None else f"{step.rows:,}", _rate(step).strip())
            for title, step in self._times
        ]
        self.table("Times", ("step", "seconds", "rows", "rate"), rows)

    def verdict(self) -> int:
        """Print whether everything agreed; return the exit code."""
        if self.differences:
            self.console.print(
                Text(f"✗ {len(self.differences)} differences: {'; '.join(self.differences)}", style="bold red")
            )
            return 1
        self.console.print(Text("✓ Everything agrees", style="bold green"))
        return 0


def _rate(step: Step) -> str:
    if step.rows is None or step.seconds == 0:
        return ""
    return f"{step.rows / step.seconds:,.0f} rows/s  "


def _show_size(progress: Progress, task: Any, folder: Path, done: threading.Event) -> None:
    while not done.wait(0.5):
        files = [path for path in folder.rglob("*.parquet") if not path.name.startswith(".")] if folder.exists() else []
        total = sum(path.stat().st_size for path in files)
        progress.update(task, size=f"{len(files)} files, {total / 1e6:,.0f} MB")
