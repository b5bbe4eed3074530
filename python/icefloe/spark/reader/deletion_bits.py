"""Deleted rows of a few files as one array of bits, for a condition that looks each row up.

The bits of a file reach to its last deleted row and begin with a word of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.spark.reader.deletion_blocks import WORD_ROWS_LOG2

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

WORD_ROWS = 1 << WORD_ROWS_LOG2
"""Number of rows in a word."""


@dataclass(frozen=True, kw_only=True)
class DeletionBits:
    """The bits of the deleted rows of some files.

    Args:
        files: Keys of the files, distinct.
        firsts: The bit of each file's first row, a multiple of 64.
        ends: Position behind the last deleted row of each file: later rows have no bit.
        words: Words of 64 bits, the lowest bit of a word for its first row; 1 for a deleted row.
    """

    files: Longs
    firsts: Longs
    ends: Longs
    words: Longs


def deletion_bits(deleted: pa.Table, *, most_files: int, most_words: int) -> DeletionBits | None:
    """Return the bits of deleted rows; None if more files or words than the given numbers are needed.

    Args:
        deleted: Columns `key`, the file of each row, and `pos`, its position in the file, both int64 without nulls. Rows may be in
            any order and occur twice.
        most_files: Most files with deleted rows, >= 1.
        most_words: Most words of all files together, >= 0.

    Examples:
        >>> bits = deletion_bits(pa.table({"key": [9, 9, 5], "pos": [0, 65, 3]}), most_files=2, most_words=3)
        >>> bits.files.tolist(), bits.firsts.tolist(), bits.ends.tolist(), bits.words.tolist()
        ([9, 5], [0, 128], [66, 4], [1, 2, 8])
    """
    files = deleted.group_by("key", use_threads=False).aggregate([("pos", "max")])
    if files.num_rows > most_files:
        return None
    ends = files.column("pos_max").to_numpy() + 1
    words = -(-ends // WORD_ROWS)
    if words.sum() > most_words:
        return None
    firsts = (np.cumsum(words) - words) * WORD_ROWS
    keys = files.column("key").combine_chunks()
    rows = pc.index_in(deleted.column("key"), value_set=keys).to_numpy()
    bits = np.zeros(int(words.sum()) * WORD_ROWS, dtype=bool)
    bits[firsts[rows] + deleted.column("pos").to_numpy()] = True
    packed = np.packbits(bits, bitorder="little").view("<i8").astype(np.int64, copy=False)
    return DeletionBits(files=keys.to_numpy(), firsts=firsts, ends=ends, words=packed)
