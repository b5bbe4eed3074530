"""Sorting rows across files, and space-filling curves."""

from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import BatchLike

@final
class SortedStream:
    """Sorted rows as an Arrow stream, which can be read once."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class RowOrder:
    """The order of ``sort_rows``, to cut rows into ranges that are sorted apart from each other.

    Args:
        schema: Schema JSON of the rows.
        spec: Partition spec JSON.
        sort_order: Sort order JSON.
        curve: ``zorder`` or ``hilbert``.
        curve_columns: Field ids of the curve's columns.
        samples: Sampled rows of these columns, whose quantiles decide the ranks of values.

    Raises:
        ValidationError: A column does not exist, or has no order.
    """

    def __new__(
        cls,
        *,
        schema: str,
        spec: str,
        sort_order: str | None = None,
        curve: str | None = None,
        curve_columns: list[int] = ...,
        samples: BatchLike | None = None,
    ) -> RowOrder: ...
    def keys(self, rows: BatchLike) -> pa.Array:
        """Return the key of each row as ``binary``. Keys order by their bytes as the rows do, whatever the other columns are."""

    def ranges(self, rows: BatchLike, bounds: list[bytes]) -> pa.Array:
        """Return the range of each row, int32: the number of bounds that are at most its key.

        ``bounds`` are keys in ascending order. Rows with equal keys are in one range.
        """

def sort_rows(
    data: BatchLike,
    *,
    schema: str,
    spec: str,
    sort_order: str | None = None,
    curve: str | None = None,
    curve_columns: list[int] = ...,
    samples: BatchLike | None = None,
    memory_bytes: int,
) -> SortedStream:
    """Sort rows by partition, then by a sort order, then along a curve. Rows with equal keys keep their order.

    Rows over the memory limit are spilled to temporary files without a name, which vanish with the process.

    Args:
        data: Rows with the columns of the schema, in its order.
        schema: Schema JSON of the table.
        spec: Partition spec JSON.
        sort_order: Sort order JSON.
        curve: ``zorder`` or ``hilbert``.
        curve_columns: Field ids of the curve's columns.
        samples: Sampled rows of these columns, whose quantiles decide the ranks of values.
        memory_bytes: Most bytes of rows in memory, apart from one batch of ``data``.

    Raises:
        ValidationError: A column does not exist, or has no order.
    """

def curve_keys(curve: str, samples: BatchLike, columns: BatchLike) -> pa.Array:
    """Return the position of each row on a curve as ``fixed_size_binary(16)``, whose bytes order as the positions do.

    Args:
        curve: ``zorder`` or ``hilbert``.
        samples: Sampled rows, 1 to 16 primitive columns.
        columns: Rows with columns of the same types.
    """
