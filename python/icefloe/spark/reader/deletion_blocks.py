"""Deleted rows as blocks of bits, for a broadcast join with a scan.

A block has one bit for each of 64 or 4,096 consecutive rows of a file; the size that makes all blocks together smaller is used.
Neighbouring rows look up the same block, which stays in the processor's cache. A hash table of positions would not fit there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

BLOCK_BITS = 30
"""Number of lower bits of a block's key that number the blocks of a file; the upper bits are the file's key."""

WORD_ROWS_LOG2 = 6
"""log2 of the number of rows in a word."""

MAX_ROWS = 1 << (BLOCK_BITS + WORD_ROWS_LOG2)
"""Files must have fewer rows than this."""

# log2 of the number of words in a block, and the bytes that Spark needs for a block besides its words.
_WORDS_LOG2 = (0, 6)
_BLOCK_OVERHEAD = 64


@dataclass(frozen=True, kw_only=True)
class DeletionBlocks:
    """The blocks that have deleted rows.

    Args:
        table: Columns ``block``, int64: ``file << BLOCK_BITS | row >> rows_log2``, and ``words``, list<int64>: the bits of the
            block's rows, the lowest bit of the first word for its first row.
        words_log2: log2 of the number of words in a block.
    """

    table: pa.Table
    words_log2: int

    @property
    def rows_log2(self) -> int:
        """log2 of the number of rows in a block."""
        return self.words_log2 + WORD_ROWS_LOG2


def deletion_blocks(files: Longs, positions: Longs) -> DeletionBlocks:
    """Return the blocks of deleted rows.

    Args:
        files: Key of each row's file, less than ``2**33``.
        positions: Position of each row in its file, less than ``MAX_ROWS``. Rows may be in any order and occur twice.

    Examples:
        >>> blocks = deletion_blocks(np.array([5, 5]), np.array([0, 65]))
        >>> blocks.words_log2, (blocks.table["block"][0].as_py() == 5 << BLOCK_BITS)
        (0, True)
    """
    keys, words = _words(files, positions)
    firsts = {log2: _firsts(_shifted(keys, log2)) for log2 in _WORDS_LOG2}
    log2 = min(_WORDS_LOG2, key=lambda one: int(firsts[one].sum()) * ((8 << one) + _BLOCK_OVERHEAD))
    blocks = _shifted(keys, log2)[firsts[log2]]
    bits = np.zeros(len(blocks) << log2, dtype=np.int64)
    bits[(np.cumsum(firsts[log2]) - 1 << log2) + (keys & ((1 << log2) - 1))] = words
    ends = pa.array(np.arange(len(blocks) + 1, dtype=np.int32) << log2)
    lists = pa.ListArray.from_arrays(ends, pa.array(bits))
    return DeletionBlocks(table=pa.table({"block": pa.array(blocks), "words": lists}), words_log2=log2)


def _words(files: Longs, positions: Longs) -> tuple[Longs, Longs]:
    """Return the keys of the words that have a bit set, as of blocks of one word, and the words; ordered by key."""
    keys = (files << BLOCK_BITS) | (positions >> WORD_ROWS_LOG2)
    bits = np.left_shift(np.uint64(1), (positions & ((1 << WORD_ROWS_LOG2) - 1)).astype(np.uint64))
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys)
        keys, bits = keys[order], bits[order]
    starts = np.flatnonzero(_firsts(keys))
    words = np.bitwise_or.reduceat(bits, starts) if len(starts) > 0 else bits
    return keys[starts], words.view(np.int64)


def _firsts(ordered: Longs) -> npt.NDArray[np.bool_]:
    """Return a mask of the first of each run of equal values; values are not negative."""
    firsts: npt.NDArray[np.bool_] = np.diff(ordered, prepend=-1) != 0
    return firsts


def _shifted(keys: Longs, words_log2: int) -> Longs:
    """Return the keys of the blocks that words belong to."""
    within = (1 << BLOCK_BITS) - 1
    return (keys & ~within) | ((keys & within) >> words_log2)
