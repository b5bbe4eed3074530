"""Bits of deleted rows have exactly the deleted rows of few files."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from icefloe.spark.reader.deletion_bits import deletion_bits

ROWS = st.lists(st.tuples(st.sampled_from([0, 7, 2**33 - 1]), st.integers(0, 1000)), max_size=50)


def table(rows):
    columns = {"key": [row[0] for row in rows], "pos": [row[1] for row in rows]}
    return pa.table(columns, schema=pa.schema([("key", pa.int64()), ("pos", pa.int64())]))


def rows_of(bits):
    found = []
    for file, first, end in zip(bits.files.tolist(), bits.firsts.tolist(), bits.ends.tolist(), strict=True):
        assert first % 64 == 0
        words = bits.words.tolist()
        found += [(file, row) for row in range(end) if words[(first + row) >> 6] >> ((first + row) & 63) & 1]
    return found


@given(ROWS)
def test_deletion_bits_have_one_bit_for_each_row(rows):
    bits = deletion_bits(table([*rows, *rows[:3]]), most_files=3, most_words=3 * 16)
    assert sorted(rows_of(bits)) == sorted(set(rows))
    assert sum(word.bit_count() for word in (bits.words.view("u8")).tolist()) == len(set(rows))


def test_deletion_bits_use_the_sign_bit_of_a_word():
    bits = deletion_bits(table([(3, 63), (3, 64), (3, 127)]), most_files=1, most_words=2)
    assert bits.words.tolist() == [-(2**63), -(2**63) + 1]


@pytest.mark.parametrize(("most_files", "most_words"), [(1, 100), (2, 3)])
def test_deletes_of_more_files_or_rows_have_no_bits(most_files, most_words):
    rows = table([(1, 64), (2, 64)])
    assert deletion_bits(rows, most_files=most_files, most_words=most_words) is None
    assert deletion_bits(rows, most_files=2, most_words=4) is not None
