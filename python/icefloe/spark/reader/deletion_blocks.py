"""Deleted rows as blocks of bits, for a scan to look up which of its rows are gone.

A block is a run of rows of one file with a bit for each: 64 or 4,096 rows, whichever makes all blocks together smaller.
Neighbouring rows look the same block up, which is then at hand; as keys of their own, positions fill a table that no cache holds.
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
"""Lower bits of a block's key, which number the blocks of a file; the file's number is above them."""

WORD_ROWS_LOG2 = 6
"""log2 of the rows of a word."""

MAX_ROWS = 1 << (BLOCK_BITS + WORD_ROWS_LOG2)
"""More rows than this a file must not have."""

# log2 of the words of a block, and roughly the bytes that Spark needs for a block besides its words.
_WORDS_LOG2 = (0, 6)
_BLOCK_OVERHEAD = 64


@dataclass(frozen=True, kw_only=True)
class DeletionBlocks:
    """The blocks in which rows are deleted.

    Args:
        table: Columns ``block``, int64: ``file << BLOCK_BITS | row >> rows_log2``, and ``words``, list<int64>: the bits of the
            block's rows, the lowest bit of the first word for its first row.
        words_log2: log2 of the words of a block.
    """

    table: pa.Table
    words_log2: int

    @property
    def rows_log2(self) -> int:
        """log2 of the rows of a block."""
        return self.words_log2 + WORD_ROWS_LOG2


def deletion_blocks(files: Longs, positions: Longs) -> DeletionBlocks:
    """Return the blocks of deleted rows.

    Args:
        files: Number of each row's file, less than ``2**33``.
        positions: Position of each row in its file, less than ``MAX_ROWS``. A row may stand twice, rows in any order.

    Example:
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
    """Return the key of each word that has a bit set, as if it were a block, and the word; ordered by key."""
    keys = (files << BLOCK_BITS) | (positions >> WORD_ROWS_LOG2)
    bits = np.left_shift(np.uint64(1), (positions & ((1 << WORD_ROWS_LOG2) - 1)).astype(np.uint64))
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys)
        keys, bits = keys[order], bits[order]
    starts = np.flatnonzero(_firsts(keys))
    words = np.bitwise_or.reduceat(bits, starts) if len(starts) > 0 else bits
    return keys[starts], words.view(np.int64)


def _firsts(ordered: Longs) -> npt.NDArray[np.bool_]:
    """Return which values are the first of their kind; there are no negative ones."""
    firsts: npt.NDArray[np.bool_] = np.diff(ordered, prepend=-1) != 0
    return firsts


def _shifted(keys: Longs, words_log2: int) -> Longs:
    """Return the keys of the blocks that words belong to."""
    within = (1 << BLOCK_BITS) - 1
    return (keys & ~within) | ((keys & within) >> words_log2)
