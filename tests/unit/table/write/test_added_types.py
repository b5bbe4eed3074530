"""Columns of existing Parquet files in types that other writers choose."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.schema import Schema
from icefloe.types import IcebergType, ListType, LongType, MapType, NestedField, StringType, type_from_text

LONGS = ListType(10, LongType(), element_required=False)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (ListType(2, LONGS, element_required=False), [[1, None], None, []]),
        (ListType(2, ListType(3, LONGS, element_required=False), element_required=False), [[[1]], []]),
        (MapType(2, StringType(), 3, LONGS, value_required=False), [("a", [1]), ("b", None)]),
        (ListType(2, MapType(3, StringType(), 4, LongType()), element_required=False), [[("a", 1)], None]),
    ],
    ids=str,
)
@pytest.mark.parametrize("ids", [False, True])
def test_lists_and_maps_within_lists_and_maps_are_added(catalog, tmp_path, kind, value, ids):
    table = catalog.create_table("db.nested", Schema(NestedField(1, "c", kind)))
    rows = pa.Table.from_pylist([{"c": value}, {"c": None}], schema=table.schema().as_arrow())
    path = str(tmp_path / "nested.parquet")
    pq.write_table(rows if ids else without_ids(rows), path)
    table.add_files([path])
    assert table.scan().to_arrow()["c"].to_pylist() == [value, None]


def without_ids(rows: pa.Table) -> pa.Table:
    """Return rows with a column whose fields have no metadata."""
    return pa.table({"c": pa.array(rows["c"].to_pylist(), _plain(rows["c"].type))})


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _plain(kind.item_type))
    return pa.list_(_plain(kind.value_type)) if pa.types.is_list(kind) else kind


@pytest.mark.parametrize(
    ("kind", "column", "expected"),
    [
        ("time", pa.array([1_000_000_999, None, 5], pa.time64("ns")), [dt.time(0, 0, 1), None, dt.time(0)]),
        ("binary", pa.array([b"abc", None, b"\xff\x00\x01"], pa.binary(3)), [b"abc", None, b"\xff\x00\x01"]),
    ],
    ids=["times in nanoseconds", "bytes of a fixed length"],
)
@pytest.mark.parametrize("dictionary", [False, True])
def test_values_of_other_types_are_read(catalog, tmp_path, kind, column, expected, dictionary):
    primitive: IcebergType = type_from_text(kind)
    table = catalog.create_table("db.other", Schema(NestedField(1, "id", LongType()), NestedField(2, "c", primitive)))
    path = str(tmp_path / "other.parquet")
    pq.write_table(pa.table({"id": [0, 1, 2], "c": column}), path, use_dictionary=dictionary)
    table.add_files([path])
    assert table.scan().to_arrow()["c"].to_pylist() == expected
    assert table.scan().to_polars()["c"].to_list() == expected
    assert table.scan("c is not null").to_arrow()["id"].to_pylist() == [0, 2]
    equal = "c = '00:00:01'" if kind == "time" else "c = X'616263'"
    assert table.scan(equal).to_arrow()["id"].to_pylist() == [0]


@pytest.mark.parametrize("kind", ["timestamp", "timestamptz"])
@pytest.mark.parametrize("file_zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns", "int96"])
def test_timestamps_of_another_unit_and_zone_are_read(catalog, tmp_path, kind, file_zone, unit):
    table = catalog.create_table("db.times", Schema(NestedField(1, "c", type_from_text(kind))))
    path = str(tmp_path / "times.parquet")
    arrow_unit = "us" if unit == "int96" else unit
    value = dt.datetime(2024, 1, 2, 3, 4, 5, 123000)
    column = pa.array([value, None], pa.timestamp("us")).cast(pa.timestamp(arrow_unit))
    rows = pa.table({"c": column.cast(pa.timestamp(arrow_unit, file_zone))})
    pq.write_table(rows, path, use_deprecated_int96_timestamps=unit == "int96")
    table.add_files([path])
    expected = value if kind == "timestamp" else value.replace(tzinfo=dt.timezone.utc)
    assert table.scan().to_arrow()["c"].to_pylist() == [expected, None]
