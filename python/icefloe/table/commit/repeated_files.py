"""Files that a change adds more than once: a manifest has one entry for each, or their rows would be doubled."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence


def without_repeated(files: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return files without those whose path an earlier one has.

    Args:
        files: Files with the column ``file_path``.

    >>> a = pa.RecordBatch.from_pydict({"file_path": ["x", "y"]})
    >>> b = pa.RecordBatch.from_pydict({"file_path": ["y", "z"]})
    >>> [batch.column(0).to_pylist() for batch in without_repeated([a, b])]
    [['x', 'y'], ['z']]
    """
    paths = [batch.column("file_path").cast(pa.string()) for batch in files]
    if sum(map(len, paths)) < 2:
        return list(files)
    encoded = pa.concat_arrays(paths).dictionary_encode()
    if len(encoded.dictionary) == len(encoded):
        return list(files)
    rows = pa.array(range(len(encoded)))
    found = pa.table({"path": encoded.indices, "row": rows}).group_by("path").aggregate([("row", "min")])
    is_first = pc.is_in(rows, value_set=found.column("row_min").combine_chunks())
    starts = accumulate(map(len, paths), initial=0)
    return [batch.filter(is_first.slice(start, batch.num_rows)) for batch, start in zip(files, starts, strict=False)]
