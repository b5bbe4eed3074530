"""The pairs of rows that a join without keys compares, as indices of both sides, a bounded number at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.io.arrow_values import int_scalar, row_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.row_level.bound_join import BlockKey

PAIRS_AT_ONCE = 1 << 18
"""Pairs whose columns are in memory at the same time."""


class EveryPair:
    """All pairs of a part of a table and a source.

    Args:
        count: Number of the source's rows.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self.part_rows = max(1, PAIRS_AT_ONCE // max(1, count))
        """Most rows of a part."""

    def pairs(self, part: pa.Table) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield indices of a part and of the source."""
        for start in range(0, self._count, PAIRS_AT_ONCE):
            width = int_scalar(min(PAIRS_AT_ONCE, self._count - start), pa.int64())
            numbers = row_numbers(part.num_rows * width.as_py())
            left = pc.divide(numbers, width)
            right = pc.subtract(numbers, pc.multiply(left, width))
            yield left, pc.add(right, int_scalar(start, pa.int64()))


class EqualValues:
    """The pairs of a part of a table and a source that have an equal value.

    Args:
        source: The source's rows.
        key: The values of both sides.
    """

    def __init__(self, source: pa.Table, key: BlockKey) -> None:
        self._key = key
        values = _one_zero(key.of_source.evaluate(source).combine_chunks())
        distinct = pc.unique(values)
        self._values = distinct if key.null_safe else distinct.drop_null()
        codes = pc.index_in(values, value_set=self._values)
        # Codes are in the order of their first rows, and so are the counts.
        counts = pc.value_counts(codes.drop_null()).field("counts")
        ends = pc.cumulative_sum(counts)
        offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
        rows = pc.array_sort_indices(codes).cast(pa.int64()).slice(0, len(codes) - codes.null_count)
        self._rows = pa.LargeListArray.from_arrays(offsets, rows)
        largest = pc.max(counts).as_py()
        self.part_rows = max(1, PAIRS_AT_ONCE // (1 if largest is None else largest))
        """Most rows of a part."""

    def pairs(self, part: pa.Table) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield indices of a part and of the source."""
        values = _one_zero(self._key.of_target.evaluate(part).combine_chunks())
        codes = pc.index_in(values, value_set=self._values)
        found = pc.indices_nonzero(pc.is_valid(codes)).cast(pa.int64())
        rows = self._rows.take(codes.drop_null())
        yield found.take(pc.list_parent_indices(rows)), rows.flatten()


def _one_zero(values: pa.Array) -> pa.Array:
    """Return floating-point values with 0.0 for -0.0; other values unchanged."""
    return pc.add(values, pa.scalar(0.0, values.type)) if pa.types.is_floating(values.type) else values
