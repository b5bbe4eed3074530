"""The limits of a micro-batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that one micro-batch reads; None for no limit. A micro-batch has at least one file.

    Args:
        files: Data files.
        rows: Rows of the files, before deletes and the filter.
        size: Bytes of the files.
    """

    files: int | None = None
    rows: int | None = None
    size: int | None = None

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit."""
        return self.files is None and self.rows is None and self.size is None

    def count_within(self, rows: np.ndarray, sizes: np.ndarray, *, is_first: bool) -> int:
        """Return the number of leading files within the limits.

        Args:
            rows: Rows of each file.
            sizes: Bytes of each file.
            is_first: The micro-batch has no file yet, so one file is within the limits whatever its size.
        """
        within = np.ones(len(rows), dtype=bool)
        if self.files is not None:
            within &= np.arange(1, len(rows) + 1) <= self.files
        if self.rows is not None:
            within &= np.cumsum(rows) <= self.rows
        if self.size is not None:
            within &= np.cumsum(sizes) <= self.size
        count = int(np.argmin(within)) if not bool(np.all(within)) else len(rows)
        return max(count, 1) if is_first and len(rows) > 0 else count

    def without(self, files: int, rows: int, size: int) -> Limits:
        """Return the limits of the rest of a micro-batch that has these files, rows and bytes; a limit may become negative."""
        return Limits(
            files=None if self.files is None else self.files - files,
            rows=None if self.rows is None else self.rows - rows,
            size=None if self.size is None else self.size - size,
        )
