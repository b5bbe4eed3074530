"""One fingerprint of a set of rows, in whatever order and by whichever engine they come as Arrow batches.

Of each column: non-null values, and the sum of their 32-bit Murmur3 hashes. Of the rows: their number, and a sum that mixes all
columns of a row, so that values which ended up in the wrong row show. Hashing is by type and value: int and long, or a string and
a view of one, hash alike.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROWS = "(rows)"
_BUCKETS = 2**31 - 1
_MIX = np.uint64(0x9E3779B97F4A7C15)


def fingerprint(batches: Iterable[pa.RecordBatch]) -> dict[str, list[int]]:
    """Return count and checksum of each column and of the rows."""
    totals: dict[str, list[int]] = {}
    for batch in batches:
        for name, (count, checksum) in _of_batch(batch).items():
            total = totals.setdefault(name, [0, 0])
            total[0] += count
            total[1] = (total[1] + checksum) % 2**64
    return totals


def spark_fingerprint(frame: Any) -> dict[str, list[int]]:
    """Return the fingerprint of a DataFrame's rows, taken on the executors."""
    totals: dict[str, list[int]] = {}
    for row in frame.mapInArrow(_partial, "part string").collect():
        for name, (count, checksum) in json.loads(row["part"]).items():
            total = totals.setdefault(name, [0, 0])
            total[0] += count
            total[1] = (total[1] + checksum) % 2**64
    return totals


def _partial(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_pydict({"part": [json.dumps(fingerprint(batches))]})


def _of_batch(batch: pa.RecordBatch) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    rows = np.zeros(batch.num_rows, dtype=np.uint64)
    for index, name in sorted(enumerate(batch.schema.names), key=lambda one: one[1]):
        hashes = _hashes(batch.column(index))
        found[name] = (batch.num_rows - batch.column(index).null_count, int(hashes.sum(dtype=np.uint64)))
        rows = (rows ^ (rows >> np.uint64(29))) * _MIX + hashes
    found[ROWS] = (batch.num_rows, int(rows.sum(dtype=np.uint64)))
    return found


def _hashes(values: pa.Array) -> np.ndarray:
    from icefloe import _core

    if pa.types.is_string_view(values.type) or pa.types.is_large_string(values.type):
        values = values.cast(pa.string())
    return _core.bucket(values, _BUCKETS).fill_null(_BUCKETS).to_numpy(zero_copy_only=False).astype(np.uint64)
