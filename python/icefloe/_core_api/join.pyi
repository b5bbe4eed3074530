"""Joins of a source with rows of a table."""

from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import BatchLike
from icefloe._core_api.scan import ScanStream

@final
class SourceKeys:
    """The keys of a join's source rows, as hashes. Rows are numbered from 0 in the order of adding.

    NaN equals NaN and -0.0 equals 0.0; null equals null in null-safe columns and nothing in others.

    Args:
        null_safe: For each key column, whether null equals null.
        budget: Bytes of memory for the rows of one side; rows beyond it go to temporary files.
    """

    def __new__(cls, null_safe: list[bool], *, budget: int) -> SourceKeys: ...
    def add(self, keys: BatchLike) -> None:
        """Add rows, by their key columns.

        Raises:
            StorageError: The temporary file cannot be written.
        """

    def repeated(self) -> tuple[int, int] | None:
        """Return the numbers of two rows with equal keys, None if there are none. Nulls count as equal here."""

    def join(
        self, rows: ScanStream, paths: list[str], *, unmatched: bool = False
    ) -> tuple[pa.RecordBatch, pa.RecordBatch, pa.Array]:
        """Join the rows of a scan, which is read once. It can be called once.

        Args:
            rows: A scan of the key columns, ``_file`` and ``_pos``.
            paths: Locations of the scan's files; their order numbers them.
            unmatched: Return the scan's rows without a source row.

        Returns:
            The pairs by position (``__file_row`` int32, ``_pos`` int64, ``__source_row`` uint32), the scan's rows without a source row
            (``__file_row``, ``_pos``), and the numbers of source rows without a row of the scan, ascending.

        Raises:
            StorageError: A temporary file cannot be written or read.
        """
