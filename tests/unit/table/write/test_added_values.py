"""Existing Parquet files whose footers do not show that their values fit the table: the columns in doubt are read."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import CorruptFileError, SchemaMismatchError
from icefloe.schema import Schema
from icefloe.types import (
    IcebergType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    type_from_text,
)

POINT = StructType(NestedField(10, "x", LongType(), required=True))
LONGS = ListType(11, LongType(), element_required=True)
PLAIN_POINT = pa.struct([("x", pa.int64())])

NESTED = {
    "field of an optional struct": (POINT, PLAIN_POINT, "c.x", [None, {"x": 1}], {"x": None}),
    "list element": (LONGS, pa.list_(pa.int64()), "c.element", [None, [], [1]], [1, None]),
    "map value": (
        MapType(12, StringType(), 13, LongType(), value_required=True),
        pa.map_(pa.string(), pa.int64()),
        "c.value",
        [None, [], [("a", 1)]],
        [("a", None)],
    ),
    "struct in a list": (
        ListType(14, POINT, element_required=True),
        pa.list_(PLAIN_POINT),
        "c.element",
        [None, [], [{"x": 1}]],
        [None],
    ),
    "field of a struct in a list": (
        ListType(14, POINT, element_required=False),
        pa.list_(PLAIN_POINT),
        "c.element.x",
        [None, [], [{"x": 1}, None]],
        [{"x": None}],
    ),
    "list in a struct": (
        StructType(NestedField(15, "l", LONGS, required=True)),
        pa.struct([("l", pa.list_(pa.int64()))]),
        "c.l",
        [None, {"l": []}, {"l": [1]}],
        {"l": None},
    ),
    "field of a map's value": (
        MapType(16, StringType(), 17, POINT, value_required=False),
        pa.map_(pa.string(), PLAIN_POINT),
        "c.value.x",
        [None, [], [("a", {"x": 1}), ("b", None)]],
        [("a", {"x": None})],
    ),
}


def table_of(catalog, kind: IcebergType, *, required: bool = False):
    return catalog.create_table("db.t", Schema(NestedField(1, "c", kind, required=required)))


def file_of(tmp_path, values: pa.Array, name: str = "f", **options) -> str:
    path = str(tmp_path / f"{name}.parquet")
    pq.write_table(pa.table({"c": values}), path, **options)
    return path


@pytest.mark.parametrize("case", NESTED)
@pytest.mark.parametrize("statistics", [True, False])
def test_nulls_in_nested_required_fields_are_refused(catalog, tmp_path, case, statistics):
    kind, plain, name, good, bad = NESTED[case]
    table = table_of(catalog, kind)
    path = file_of(tmp_path, pa.array([*good, bad], plain), write_statistics=statistics)
    with pytest.raises(SchemaMismatchError) as caught:
        table.add_files([path])
    assert path in str(caught.value)
    assert f"column {name}: " in str(caught.value)
    assert "replace them in the file, or make the field optional" in str(caught.value)
    assert table.refresh().snapshots() == []


@pytest.mark.parametrize("case", NESTED)
def test_nulls_around_nested_required_fields_are_accepted(catalog, tmp_path, case):
    kind, plain, _, good, _ = NESTED[case]
    table = table_of(catalog, kind)
    table.add_files([file_of(tmp_path, pa.array(good, plain), row_group_size=1)])
    assert table.scan().to_arrow()["c"].to_pylist() == good


def test_required_struct_of_null_fields_is_accepted(catalog, tmp_path):
    kind = StructType(NestedField(10, "x", LongType()))
    table = table_of(catalog, kind, required=True)
    plain = pa.array([{"x": None}, {"x": None}], PLAIN_POINT)
    table.add_files([file_of(tmp_path, plain)])
    assert table.scan().to_arrow()["c"].to_pylist() == [{"x": None}, {"x": None}]
    with pytest.raises(SchemaMismatchError, match=r"column c: .*a required struct"):
        table.add_files([file_of(tmp_path, pa.array([{"x": None}, None], PLAIN_POINT), "nulls")])


def test_required_column_without_statistics_is_read(catalog, tmp_path):
    table = table_of(catalog, LongType(), required=True)
    table.add_files([file_of(tmp_path, pa.array([1, 2]), write_statistics=False)])
    assert table.scan().to_arrow()["c"].to_pylist() == [1, 2]
    with pytest.raises(SchemaMismatchError, match="a required long"):
        table.add_files([file_of(tmp_path, pa.array([1, None]), "nulls", write_statistics=False)])


@pytest.mark.parametrize("nulls", ["list", "field"])
def test_absent_required_field_of_a_struct_in_a_list_is_refused(catalog, tmp_path, nulls):
    inner = StructType(NestedField(10, "x", LongType(), required=True), NestedField(11, "y", LongType()))
    table = table_of(catalog, ListType(14, inner) if nulls == "list" else inner)
    row = {"y": 1}
    path = file_of(tmp_path, pa.array([[row] if nulls == "list" else row]))
    name = "c.element.x" if nulls == "list" else "c.x"
    with pytest.raises(SchemaMismatchError, match=rf"column {name}: .*required column {name}.*a file without it"):
        table.add_files([path])


def big(digits: str, precision: int) -> pa.Array:
    kind = pa.decimal128(precision, 2) if precision <= 38 else pa.decimal256(precision, 2)
    return pa.array([Decimal("1.25"), None, Decimal(digits)], kind)


FIRST = dt.datetime(2020, 5, 6, 7, 8, 9)
VALUES = {
    "decimal of 9 digits": ("decimal(5, 2)", big("123.45", 9), big("1234567.89", 9), "more than 5 digits"),
    "decimal of 18 digits": ("decimal(5, 2)", big("123.45", 18), big("1234567.89", 18), "more than 5 digits"),
    "decimal of 30 digits": ("decimal(5, 2)", big("123.45", 30), big("1234567.89", 30), "more than 5 digits"),
    "decimal of 50 digits": ("decimal(5, 2)", big("123.45", 50), big("1234567.89", 50), "more than 5 digits"),
    "milliseconds": (
        "timestamp",
        pa.array([FIRST, None], pa.timestamp("ms")),
        pa.array([0, 2**60]).cast(pa.timestamp("ms")),
        "64 bits of microseconds",
    ),
    "bytes of a fixed length": (
        "fixed[3]",
        pa.array([b"abc", None, b"\x00\x01\x02"]),
        pa.array([b"abc", b"abcd"]),
        "another length",
    ),
    "UUIDs": ("uuid", pa.array([b"a" * 16, None]), pa.array([b"a" * 16, b"b" * 15]), "another length"),
    "texts without an annotation": (
        "string",
        pa.array([b"abc", None, "ü".encode()]),
        pa.array([b"abc", b"\xff\xfe"]),
        "not UTF-8",
    ),
}


@pytest.mark.parametrize("case", VALUES)
@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("dictionary", [True, False])
def test_values_outside_the_type_of_the_table_are_refused(catalog, tmp_path, case, statistics, dictionary):
    text, good, bad, message = VALUES[case]
    kind: IcebergType = type_from_text(text)
    table = table_of(catalog, kind)
    options = {"write_statistics": statistics, "use_dictionary": dictionary, "store_schema": False}
    table.add_files([file_of(tmp_path, good, **options)])
    assert table.scan().to_arrow()["c"].null_count == 1
    path = file_of(tmp_path, bad, "bad", **options)
    with pytest.raises(SchemaMismatchError, match=message) as caught:
        table.add_files([path])
    assert path in str(caught.value)
    assert f"column c: the data does not fit; expected {text}, got " in str(caught.value)
    assert table.refresh().scan().count() == len(good)


@pytest.mark.parametrize("kind", [pa.int64(), pa.time64("us"), pa.time64("ns"), pa.time32("ms")], ids=str)
@pytest.mark.parametrize("seconds", [-1, 86_400])
def test_times_outside_a_day_are_refused_by_the_statistics(catalog, tmp_path, kind, seconds):
    units = {"time64[ns]": 10**9, "time32[ms]": 10**3}.get(str(kind), 10**6)
    stored = pa.int32() if kind == pa.time32("ms") else pa.int64()
    table = table_of(catalog, type_from_text("time"))
    good = pa.array([0, 86_399 * units, None], stored).cast(kind)
    table.add_files([file_of(tmp_path, good, store_schema=False)])
    bad = file_of(tmp_path, pa.array([1, seconds * units], stored).cast(kind), "bad", store_schema=False)
    with pytest.raises(SchemaMismatchError, match=r"column c: .*expected time, got .* with times outside a day"):
        table.add_files([bad])
    assert table.refresh().scan().count() == 3


def test_values_in_lists_are_checked(catalog, tmp_path):
    table = table_of(catalog, ListType(2, type_from_text("decimal(5, 2)"), element_required=False))
    good = pa.array([[Decimal("1.25"), None], None, []], pa.list_(pa.decimal128(9, 2)))
    table.add_files([file_of(tmp_path, good)])
    bad = pa.array([[Decimal("1.25"), Decimal("12345.67")]], pa.list_(pa.decimal128(9, 2)))
    with pytest.raises(SchemaMismatchError, match=r"column c\.element: .*more than 5 digits"):
        table.add_files([file_of(tmp_path, bad, "bad")])


def test_damaged_column_in_doubt_is_a_corrupt_file(catalog, tmp_path):
    table = table_of(catalog, LONGS)
    path = file_of(tmp_path, pa.array([[1], [2]]), write_statistics=False)
    data = (tmp_path / "f.parquet").read_bytes()
    (tmp_path / "f.parquet").write_bytes(data[:4] + b"\xff" * 40 + data[44:])
    with pytest.raises(CorruptFileError, match=r"f\.parquet"):
        table.add_files([path])
