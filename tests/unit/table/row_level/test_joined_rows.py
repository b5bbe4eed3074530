"""Source rows of a join."""

import pyarrow as pa
import pytest
from icefloe.table.row_level.joined_rows import rows_of

SOURCE = pa.table({"n": pa.chunked_array([[10, 11, 12], [13, 14]])})


@pytest.mark.parametrize(
    "numbers", [[[1, 2, 3]], [[1], [2, 3, 4]], [[0]], [[]], [[2, 1]], [[1, 3]], [[1, 1, 3]], [[0, 2, 1, 3]]]
)
def test_rows_of_returns_the_rows_in_the_order_of_their_numbers(numbers):
    chosen = pa.chunked_array(numbers, pa.uint32())
    assert rows_of(SOURCE, chosen).to_pydict() == {"n": [10 + number for part in numbers for number in part]}


def test_rows_of_consecutive_numbers_share_the_memory_of_the_source():
    source = pa.table({"n": pa.array(range(1000))})
    found = rows_of(source, pa.chunked_array([range(100, 200)], pa.uint32()))
    assert found.column("n").chunk(0).buffers()[1].address == source.column("n").chunk(0).buffers()[1].address
