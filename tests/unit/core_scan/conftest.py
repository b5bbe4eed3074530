"""Data files that several tests of the scan read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.unit.scan_tables import (
    arrow_field,
    write,
)


@pytest.fixture
def numbers(tmp_path):
    """1,000 rows in 10 row groups: id 0..999, name n<id>, every seventh name null."""
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(1000)),
        arrow_field(2, "name", pa.string()): [None if i % 7 == 0 else f"n{i}" for i in range(1000)],
    }
    return write(tmp_path / "numbers.parquet", columns, row_group_size=100)


NESTED = pa.struct([arrow_field(11, "x", pa.int32()), arrow_field(12, "y", pa.string())])
ELEMENT = pa.struct([arrow_field(41, "x", pa.int32()), arrow_field(42, "y", pa.string())])
LIST = pa.list_(arrow_field(21, "element", ELEMENT))
MAP = pa.map_(
    arrow_field(31, "key", pa.string(), nullable=False),
    arrow_field(32, "value", pa.struct([arrow_field(33, "v", pa.int32()), arrow_field(34, "w", pa.int32())])),
)


@pytest.fixture
def nested(tmp_path):
    columns = {
        arrow_field(1, "s", NESTED): [{"x": 1, "y": "a"}, None, {"x": None, "y": "c"}],
        arrow_field(2, "l", LIST): [[{"x": 1, "y": "p"}, None], [], None],
        arrow_field(3, "m", MAP): [[("k", {"v": 1, "w": 2})], None, []],
    }
    return write(tmp_path / "nested.parquet", columns)
