"""The Python warnings that a procedure issues: its result has the columns of the Java runtime, and none for a message."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from icefloe.table.maintenance.display import count_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STACK_LEVEL = 4
"""From this module to the caller of `call`, and to the statement of `sql`."""


def warn(texts: Iterable[str]) -> None:
    """Issue a `UserWarning` for each text."""
    for text in texts:
        warnings.warn(text, stacklevel=_STACK_LEVEL)


def warn_of_failed_deletes(table_name: str, failures: Sequence[tuple[str, str]]) -> None:
    """Issue a `UserWarning` if files could not be deleted.

    Args:
        table_name: The table's name with dots.
        failures: `(location, reason)` of each file that could not be deleted.
    """
    if failures:
        _, reason = failures[0]
        files = count_text(len(failures), "file")
        warn([f"{table_name}: {files} could not be deleted, and the next remove_orphan_files finds them: {reason}"])
