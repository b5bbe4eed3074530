"""A progress bar on the terminal for rewrites of more than one second."""

from __future__ import annotations

import sys
from threading import Lock
from typing import TYPE_CHECKING, Any

from icefloe.table.environment import SYSTEM
from icefloe.table.scan.progress import QUIET_SECONDS, is_interactive, progress_bar

if TYPE_CHECKING:
    from typing_extensions import Self


class RewriteProgress:
    """Counts rows that several threads read, and draws them in interactive sessions.

    Args:
        rows: The number of rows to read.
    """

    def __init__(self, rows: int) -> None:
        self._total = rows
        self._rows = 0
        self._lock = Lock()
        self._draws = is_interactive() and sys.stderr.isatty()
        self._bar: Any = None
        self._begun = 0.0

    def __enter__(self) -> Self:
        self._begun = SYSTEM.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, rows: int) -> None:
        """Count rows."""
        with self._lock:
            self._rows += rows
            if not self._draws or SYSTEM.monotonic() - self._begun < QUIET_SECONDS:
                return
            if self._bar is None:
                self._bar = progress_bar()
                self._bar.add_task("rewriting", total=self._total)
                self._bar.start()
            self._bar.update(self._bar.task_ids[0], completed=self._rows)
