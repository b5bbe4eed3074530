"""Files that a change adds more than once: a manifest has one entry for each, or their rows would be doubled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

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
    is_first = np.zeros(len(encoded), dtype=bool)
    is_first[np.unique(encoded.indices.to_numpy(), return_index=True)[1]] = True
    ends = np.cumsum([0, *map(len, paths)])
    return [batch.filter(pa.array(is_first[ends[n] : ends[n + 1]])) for n, batch in enumerate(files)]
