"""Values that Spark's hash partitioning sends to a chosen shuffle partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    UInts = NDArray[np.uint32]

_SEED = 42


def slots(count: int) -> list[int]:
    """Return for each of `count` shuffle partitions an int whose rows `DataFrame.repartition(count, column)` sends there.

    Spark has no shuffle by partition number before 4.1. Its hash partitioning takes the remainder of a Murmur3 hash.

    Examples:
        >>> len(set(slots(3)))
        3
    """
    found: dict[int, int] = {}
    first, width = 0, 16 * count
    while len(found) < count:
        numbers = np.arange(first, first + width, dtype=np.uint32)
        remainders = _hashes(numbers).astype(np.int32).astype(np.int64) % count
        places, rows = np.unique(remainders, return_index=True)
        for place, row in zip(places.tolist(), rows.tolist(), strict=True):
            found.setdefault(place, int(numbers[row]))
        first += width
    return [found[place] for place in range(count)]


def _hashes(numbers: UInts) -> UInts:
    """Return the Murmur3 hashes, 32 bits, of ints with Spark's seed."""
    mixed = _rotated(numbers * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    hashes: UInts = _rotated(np.uint32(_SEED) ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    hashes ^= np.uint32(4)
    hashes ^= hashes >> np.uint32(16)
    hashes *= np.uint32(0x85EBCA6B)
    hashes ^= hashes >> np.uint32(13)
    hashes *= np.uint32(0xC2B2AE35)
    hashes ^= hashes >> np.uint32(16)
    return hashes


def _rotated(numbers: UInts, bits: int) -> UInts:
    rotated: UInts = (numbers << np.uint32(bits)) | (numbers >> np.uint32(32 - bits))
    return rotated
