"""Arrow values that are made without pandas."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.io.arrow_values import empty_table, int_scalar, row_numbers, text_array


@pytest.mark.parametrize(
    ("value", "data_type"),
    [(0, pa.int32()), (-1, pa.int32()), (2**31 - 1, pa.int32()), (-(2**63), pa.int64()), (2**63 - 1, pa.int64())],
)
def test_int_scalar_equals_the_converted_number(value, data_type):
    made = int_scalar(value, data_type)
    assert made == pa.scalar(value, data_type)
    assert made.type == data_type


def test_int_scalar_refuses_a_number_beyond_its_type():
    with pytest.raises(OverflowError):
        int_scalar(2**31, pa.int32())


def test_empty_table_has_the_schema():
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), ("b", pa.list_(pa.string()))])
    assert empty_table(schema).equals(schema.empty_table())
    assert empty_table(schema).schema == schema


@pytest.mark.parametrize("texts", [[], ["a"], ["", "bc", "é", ""]])
def test_text_array_equals_the_converted_texts(texts):
    assert text_array(texts).equals(pa.array(texts, pa.string()))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_row_numbers_count_from_zero(count):
    assert row_numbers(count).equals(pa.array(range(count), pa.int64()))
