"""Metrics of written files against what a naive count gives."""

import datetime as dt
import math
import struct
from collections import defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.core_write.write_cases import EVERY_TYPE, every_type_table, field, schema_of, write


def encode(type_, value):
    if type_ == "boolean":
        return struct.pack("<?", value)
    if type_ == "int":
        return struct.pack("<i", value)
    if type_ == "date":
        return struct.pack("<i", (value - dt.date(1970, 1, 1)).days)
    if type_ == "long":
        return struct.pack("<q", value)
    if type_ == "time":
        return struct.pack("<q", ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond)
    if type_.startswith("timestamp"):
        epoch = dt.datetime(1970, 1, 1, tzinfo=value.tzinfo)
        return struct.pack("<q", (value - epoch) // dt.timedelta(microseconds=1))
    if type_ in ("float", "double"):
        return struct.pack("<f" if type_ == "float" else "<d", value)
    if type_.startswith("decimal"):
        unscaled = int(value.scaleb(int(type_[:-1].split(",")[1])))
        length = 1
        while not -(1 << (8 * length - 1)) <= unscaled < 1 << (8 * length - 1):
            length += 1
        return unscaled.to_bytes(length, "big", signed=True)
    return value.encode() if isinstance(value, str) else value


def test_metrics_of_every_type_match_a_naive_count(tmp_path):
    table = every_type_table()
    (written,) = write(tmp_path, table, EVERY_TYPE, write__metadata__metrics__default="full")
    lower, upper = dict(written["lower_bounds"]), dict(written["upper_bounds"])
    values, nulls = dict(written["value_counts"]), dict(written["null_value_counts"])
    flat = [one for one in EVERY_TYPE["fields"] if isinstance(one["type"], str)]
    columns = {one["id"]: (one["type"], table[one["name"]].to_pylist()) for one in flat}
    points = table["point"].to_pylist()
    columns[23] = ("double", [None if one is None else one["x"] for one in points])
    columns[24] = ("string", [None if one is None else one["tag"] for one in points])
    assert set(values) == set(nulls) == set(lower) == set(upper) == set(columns)
    for field_id, (type_, expected) in columns.items():
        present = [one for one in expected if one is not None]
        assert values[field_id] == len(expected)
        assert nulls[field_id] == len(expected) - len(present)
        smallest, greatest = encode(type_, min(present)), encode(type_, max(present))
        if type_ == "double" and max(present) == 0:
            greatest = encode(type_, 0.0)
        assert lower[field_id] == smallest or (min(present) == 0 and lower[field_id] == encode(type_, -0.0)), type_
        assert upper[field_id] == greatest, type_
    sizes = dict(written["column_sizes"])
    assert set(sizes) == set(columns) | {18, 20, 21}
    assert set(dict(written["nan_value_counts"])) == {4, 5, 23}


@pytest.mark.parametrize(
    ("values", "nans", "lower", "upper"),
    [
        pytest.param([1.0, math.nan, 3.0], 1, 1.0, 3.0, id="nan-beside-values"),
        pytest.param([math.nan, math.nan], 2, None, None, id="only-nan"),
        pytest.param([None, None], 0, None, None, id="only-null"),
        pytest.param([0.0, 5.0], 0, -0.0, 5.0, id="positive-zero-below"),
        pytest.param([-0.0, 5.0], 0, -0.0, 5.0, id="negative-zero-below"),
        pytest.param([-5.0, -0.0], 0, -5.0, 0.0, id="negative-zero-above"),
        pytest.param([-math.inf, math.nan, math.inf], 1, -math.inf, math.inf, id="infinities"),
        pytest.param([-math.nan, 2.0], 1, 2.0, 2.0, id="negative-nan"),
    ],
)
@pytest.mark.parametrize(("type_", "arrow", "code"), [("float", pa.float32(), "<f"), ("double", pa.float64(), "<d")])
def test_float_bounds_leave_out_nan_and_order_zeros(tmp_path, type_, arrow, code, values, nans, lower, upper):
    table = pa.table({"x": pa.array(values, arrow)})
    (written,) = write(tmp_path, table, schema_of(field(1, "x", type_)))
    assert dict(written["nan_value_counts"]) == {1: nans}
    for bounds, bound in ((written["lower_bounds"], lower), (written["upper_bounds"], upper)):
        assert dict(bounds or []) == ({} if bound is None else {1: struct.pack(code, bound)})


@pytest.mark.parametrize(
    ("value", "width", "lower", "upper"),
    [
        ("イロハニホヘト", 2, "イロ", "イヮ"),
        ("イロハニホヘト", 7, "イロハニホヘト", "イロハニホヘト"),
        ("\U0010ffff\U0010ffff", 1, "\U0010ffff", None),
        ("\U0001f602" * 3, 1, "\U0001f602", "\U0001f603"),
        ("a\U0010ffffc", 2, "a\U0010ffff", "b"),
        ("x" * 500, 16, "x" * 16, "x" * 15 + "y"),
        ("\U0010ffff" * 200, 16, "\U0010ffff" * 16, None),
    ],
)
def test_string_bounds_are_truncated_by_code_points(tmp_path, value, width, lower, upper):
    table = pa.table({"s": [value]})
    mode = f"truncate({width})"
    (written,) = write(tmp_path, table, schema_of(field(1, "s", "string")), write__metadata__metrics__column__s=mode)
    assert dict(written["lower_bounds"]) == {1: lower.encode()}
    assert dict(written["upper_bounds"] or []) == ({} if upper is None else {1: upper.encode()})


@pytest.mark.parametrize(
    ("value", "upper"),
    [("010102", "0102"), ("0101ff02", "0102"), ("ffffff02", None), ("ff" * 100, None)],
)
def test_binary_bounds_are_truncated_by_bytes(tmp_path, value, upper):
    table = pa.table({"b": [bytes.fromhex(value)]})
    schema = schema_of(field(1, "b", "binary"))
    (written,) = write(tmp_path, table, schema, write__metadata__metrics__default="truncate(2)")
    assert dict(written["lower_bounds"]) == {1: bytes.fromhex(value[:4])}
    assert dict(written["upper_bounds"] or []) == ({} if upper is None else {1: bytes.fromhex(upper)})


def test_full_bounds_of_long_strings_and_fixed_are_whole(tmp_path):
    table = pa.table({"s": ["a" * 300, "b" * 3000], "f": pa.array([b"c" * 100, b"d" * 100], pa.binary(100))})
    schema = schema_of(field(1, "s", "string"), field(2, "f", "fixed[100]"))
    (written,) = write(tmp_path, table, schema, write__metadata__metrics__column__s="full")
    assert dict(written["lower_bounds"]) == {1: b"a" * 300, 2: b"c" * 100}
    assert dict(written["upper_bounds"]) == {1: b"b" * 3000, 2: b"d" * 100}


def test_modes_none_and_counts_keep_what_they_say(tmp_path):
    table = pa.table({"a": [1, 2], "b": [1, 2], "c": [1, 2]})
    schema = schema_of(*(field(number, name, "long") for number, name in enumerate("abc", 1)))
    modes = {"write__metadata__metrics__column__a": "none", "write__metadata__metrics__column__b": "counts"}
    (written,) = write(tmp_path, table, schema, **modes)
    assert set(dict(written["column_sizes"])) == {2, 3}
    assert set(dict(written["value_counts"])) == {2, 3}
    assert set(dict(written["lower_bounds"])) == {3}


def test_metrics_over_several_row_groups(tmp_path):
    table = pa.table({"x": pa.array(range(300_000), pa.int64()), "s": [f"{n:08}" for n in range(300_000)]})
    schema = schema_of(field(1, "x", "long"), field(2, "s", "string"))
    (written,) = write(tmp_path, table, schema, write__parquet__row_group_size_bytes="200000")
    metadata = pq.ParquetFile(written["file_path"]).metadata
    assert metadata.num_row_groups > 3
    assert len(written["split_offsets"]) == metadata.num_row_groups
    assert written["split_offsets"] == sorted(written["split_offsets"])
    assert dict(written["value_counts"]) == {1: 300_000, 2: 300_000}
    assert dict(written["lower_bounds"]) == {1: struct.pack("<q", 0), 2: b"00000000"}
    assert dict(written["upper_bounds"]) == {1: struct.pack("<q", 299_999), 2: b"00299999"}
    sizes = defaultdict(int)
    for group in range(metadata.num_row_groups):
        for column, field_id in enumerate((1, 2)):
            sizes[field_id] += metadata.row_group(group).column(column).total_compressed_size
    assert dict(written["column_sizes"]) == dict(sizes)
