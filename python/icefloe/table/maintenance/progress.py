"""A progress bar on the terminal for maintenance of more than one second."""

from __future__ import annotations

import sys
from threading import Lock
from typing import TYPE_CHECKING, Any

from icefloe.table.environment import SYSTEM
from icefloe.table.scan.progress import QUIET_SECONDS, is_interactive, progress_bar

if TYPE_CHECKING:
    from typing_extensions import Self


class MaintenanceProgress:
    """Counts rows or files that several threads work on, and draws them in interactive sessions and for the command.

    Args:
        total: The number of rows or files.
        action: What is done with them.
        unit: What is counted.
    """

    def __init__(self, total: int, action: str, unit: str) -> None:
        self._total, self._action, self._unit = total, action, unit
        self._done = 0
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

    def advance(self, count: int) -> None:
        """Count rows or files."""
        with self._lock:
            self._done += count
            if not self._draws or SYSTEM.monotonic() - self._begun < QUIET_SECONDS:
                return
            if self._bar is None:
                self._bar = progress_bar(self._unit)
                self._bar.add_task(self._action, total=self._total)
                self._bar.start()
            self._bar.update(self._bar.task_ids[0], completed=self._done)
