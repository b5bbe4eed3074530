"""The pairs of rows that a join without keys compares, as indices of both sides, a bounded number at a time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
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
        for first, start in itertools.product(
            range(0, part.num_rows, self.part_rows), range(0, self._count, PAIRS_AT_ONCE)
        ):
            height, width = min(self.part_rows, part.num_rows - first), min(PAIRS_AT_ONCE, self._count - start)
            numbers = row_numbers(height * width)
            left = pc.divide(numbers, int_scalar(width, pa.int64()))
            right = pc.subtract(numbers, pc.multiply(left, int_scalar(width, pa.int64())))
            yield pc.add(left, int_scalar(first, pa.int64())), pc.add(right, int_scalar(start, pa.int64()))


class EqualValues:
    """The pairs of a part of a table and a source that have an equal value; all pairs of a part for whose rows the value fails.

    Args:
        source: The source's rows.
        key: The values of both sides.

    Raises:
        ValidationError: The value fails for a row of the source.
    """

    def __init__(self, source: pa.Table, key: BlockKey) -> None:
        self._key = key
        self._count = source.num_rows
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
        self._counts = counts
        self.part_rows = PAIRS_AT_ONCE
        """Most rows of a part."""

    def pairs(self, part: pa.Table) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield indices of a part and of the source: at most `PAIRS_AT_ONCE` pairs, and those of one row of the part more."""
        try:
            values = _one_zero(self._key.of_target.evaluate(part).combine_chunks())
        except ValidationError:
            # Terms before the equality may exclude the rows for which the value fails.
            yield from EveryPair(self._count).pairs(part)
            return
        codes = pc.index_in(values, value_set=self._values)
        found = pc.indices_nonzero(pc.is_valid(codes)).cast(pa.int64())
        codes = codes.drop_null()
        counts = self._counts.take(codes)
        starts = pc.subtract(pc.cumulative_sum(counts), counts)
        start = 0
        for end in pc.run_end_encode(pc.divide(starts, int_scalar(PAIRS_AT_ONCE, pa.int64()))).run_ends.to_pylist():
            rows = self._rows.take(codes.slice(start, end - start))
            yield found.slice(start, end - start).take(pc.list_parent_indices(rows)), rows.flatten()
            start = end


def candidate_pairs(source: pa.Table, key: BlockKey | None) -> EveryPair | EqualValues:
    """Return the pairs to compare with a source; without a key, and where its value fails for a row of the source, all pairs."""
    if key is not None:
        try:
            return EqualValues(source, key)
        except ValidationError:
            pass
    return EveryPair(source.num_rows)


def _one_zero(values: pa.Array) -> pa.Array:
    """Return floating-point values with 0.0 for -0.0; other values unchanged."""
    return pc.add(values, pa.scalar(0.0, values.type)) if pa.types.is_floating(values.type) else values
