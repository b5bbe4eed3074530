"""Blocks of bits have exactly the deleted rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from icefloe.spark.reader.deletion_blocks import BLOCK_BITS, MAX_ROWS, deletion_blocks

ROWS = st.lists(st.tuples(st.integers(0, 2**33 - 1), st.integers(0, MAX_ROWS - 1)), max_size=50)


def rows_of(blocks):
    found = []
    for row in blocks.table.to_pylist():
        file, block = row["block"] >> BLOCK_BITS, row["block"] & ((1 << BLOCK_BITS) - 1)
        assert len(row["words"]) == 1 << blocks.words_log2
        for number, word in enumerate(row["words"]):
            found += [(file, (block << blocks.rows_log2) + number * 64 + bit) for bit in range(64) if word >> bit & 1]
    return found


def blocks_of(rows):
    columns = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return deletion_blocks(columns[:, 0], columns[:, 1])


@given(ROWS)
def test_deletion_blocks_have_one_bit_for_each_row(rows):
    assert rows_of(blocks_of([*rows, *rows[:3]])) == sorted(set(rows))


def test_deletion_blocks_use_the_sign_bit_of_a_word():
    assert rows_of(blocks_of([(3, 63), (3, 64), (3, 127)])) == [(3, 63), (3, 64), (3, 127)]


@pytest.mark.parametrize(("step", "words_log2"), [(2, 6), (100, 6), (5_000, 0)])
def test_deletion_blocks_are_larger_for_dense_deletes(step, words_log2):
    rows = [(1, position) for position in range(0, 2_000_000, step)]
    blocks = blocks_of(rows)
    assert blocks.words_log2 == words_log2
    assert rows_of(blocks) == rows
