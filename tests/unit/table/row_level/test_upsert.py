"""The rows that an upsert rewrites."""

from __future__ import annotations

import struct
from datetime import datetime, timezone
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError
from icefloe.schema import Schema
from icefloe.types import LongType, NestedField, StructType

NAN = float("nan")
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0001))[0]
PAIR = pa.struct([("a", pa.float64()), ("b", pa.list_(pa.string()))])
MAP = pa.map_(pa.string(), pa.float64())


def upserted(catalog, kind, before, after, after_kind=None):
    """Return the number of rows that an upsert of one column updates, and the column afterwards."""
    ids = list(range(len(before)))
    table = catalog.create_table("db.u", pa.schema([("id", pa.int64()), ("v", kind)]))
    table.append(pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array(before, kind)}))
    column = after if isinstance(after, pa.Array) else pa.array(after, after_kind or kind)
    result = table.upsert(pa.table({"id": pa.array(ids, pa.int64()), "v": column}), join_cols=["id"])
    assert result.rows_inserted == 0
    assert len(table.snapshots()) == (1 if result.rows_updated == 0 else 2)
    return result.rows_updated, table.scan().to_arrow().sort_by("id").column("v").to_pylist()


UNCHANGED = [
    (pa.float64(), [NAN, None, 1.5]),
    (pa.float32(), [NAN, None, 1.5]),
    (pa.string(), ["", None, "a"]),
    (pa.binary(), [b"", None, b"\x00\xff"]),
    (pa.binary(3), [b"abc", None]),
    (pa.bool_(), [True, None, False]),
    (pa.decimal128(10, 2), [Decimal("1.50"), None]),
    (pa.timestamp("us", "UTC"), [datetime(2026, 1, 1, tzinfo=timezone.utc), None]),
    (PAIR, [None, {"a": None, "b": None}, {"a": NAN, "b": ["x", None]}, {"a": 1.0, "b": []}]),
    (pa.list_(pa.float64()), [None, [], [NAN, None], [1.0]]),
    (pa.list_(pa.list_(pa.int64())), [None, [], [[]], [[1, None], None]]),
    (MAP, [None, [], [("a", NAN), ("b", None)]]),
    (pa.list_(PAIR), [None, [None, {"a": NAN, "b": None}]]),
]


@pytest.mark.parametrize(
    ("kind", "values"), UNCHANGED, ids=lambda one: str(one) if isinstance(one, pa.DataType) else ""
)
def test_upsert_does_not_rewrite_unchanged_rows(catalog, kind, values):
    assert upserted(catalog, kind, values, values)[0] == 0


CHANGED = [
    (pa.float64(), [NAN, None, 1.0, 1.0], [1.0, NAN, NAN, None]),
    (pa.string(), ["a", None, ""], [None, "", "b"]),
    (pa.binary(), [b"", None], [None, b""]),
    (
        PAIR,
        [None, {"a": 1.0, "b": ["x"]}, {"a": NAN, "b": ["x"]}],
        [{}, {"a": 1.0, "b": ["y"]}, {"a": 1.0, "b": ["x"]}],
    ),
    (pa.list_(pa.float64()), [None, [], [1.0], [1.0]], [[], [None], [1.0, 2.0], [NAN]]),
    (MAP, [None, [("a", 1.0)], [("a", 1.0)]], [[], [("b", 1.0)], [("a", NAN)]]),
]


@pytest.mark.parametrize(
    ("kind", "before", "after"), CHANGED, ids=lambda one: str(one) if isinstance(one, pa.DataType) else ""
)
def test_upsert_rewrites_every_changed_row(catalog, kind, before, after):
    assert upserted(catalog, kind, before, after)[0] == len(before)


def test_upsert_treats_all_nan_as_equal(catalog):
    assert upserted(catalog, pa.float64(), [NAN], [OTHER_NAN])[0] == 0


def test_upsert_distinguishes_negative_zero(catalog):
    updated, values = upserted(catalog, pa.float64(), [0.0, -0.0], [-0.0, -0.0])
    assert updated == 1
    assert [str(value) for value in values] == ["-0.0", "-0.0"]


def test_upsert_compares_decimals_of_another_scale_by_value(catalog):
    given = pa.array([Decimal("1.5000"), Decimal("2.1000")], pa.decimal128(12, 4))
    assert upserted(catalog, pa.decimal128(10, 2), [Decimal("1.50"), Decimal("2.00")], given) == (
        1,
        [Decimal("1.50"), Decimal("2.10")],
    )


@pytest.mark.parametrize(
    ("kind", "values"),
    [(pa.string(), ["a", None, "b"]), (pa.binary(), [b"a", None]), (pa.decimal128(9, 2), [Decimal(1)])],
)
def test_upsert_of_dictionary_encoded_data_compares_values(catalog, kind, values):
    assert upserted(catalog, kind, values, pa.array(values, kind).dictionary_encode())[0] == 0


def test_upsert_of_large_and_view_layouts_compares_values(catalog):
    assert upserted(catalog, pa.string(), ["a", None], ["a", None], pa.large_string())[0] == 0
    catalog.drop_table("db.u")
    assert upserted(catalog, pa.list_(pa.int64()), [[1], None], [[1], None], pa.large_list(pa.int64()))[0] == 0


@pytest.mark.parametrize(
    ("kind", "stored", "given"),
    [
        (pa.int32(), [1, 2], pa.array([2.0, 3.0, 4.0])),
        (pa.int64(), [1, 2], pa.array([Decimal(2), Decimal(3), Decimal(4)], pa.decimal128(5, 0))),
        (pa.string(), ["1", "2"], pa.array([2, 3, 4])),
        (pa.float32(), [0.1, 0.2], pa.array([0.2, 0.3, 0.4], pa.float64())),
        (pa.date32(), [1, 2], pa.array([2 * 86_400, 3 * 86_400, 4 * 86_400], pa.timestamp("s"))),
    ],
    ids=str,
)
def test_upsert_compares_keys_as_they_would_be_stored(catalog, kind, stored, given):
    table = catalog.create_table("db.k", pa.schema([("key", kind), ("part", pa.int64()), ("v", pa.int64())]))
    table.append(pa.table({"key": pa.array(stored, kind), "part": [1, 1], "v": [0, 0]}))
    rows = pa.table({"key": given, "part": [1, 1, 1], "v": [7, 8, 9]})
    for keys in (["key"], ["key", "part"]):
        result = table.upsert(rows, join_cols=keys)
        expected = (1, 2) if keys == ["key"] else (0, 0)
        assert (result.rows_updated, result.rows_inserted) == expected
    with pytest.raises(ValueError, match="several rows have the key"):
        table.upsert(pa.concat_tables([rows, rows]), join_cols=["key", "part"])


def test_upsert_refuses_missing_columns_and_empty_keys(catalog):
    table = catalog.create_table("db.u", pa.schema([("id", pa.int64()), ("v", pa.string()), ("w", pa.string())]))
    with pytest.raises(ResolveError, match="upsert: the data has no column 'w'; expected every column of the table"):
        table.upsert(pa.table({"id": [1], "v": ["a"]}), ["id"])
    with pytest.raises(ValidationError, match=r"upsert: no key columns; expected join_cols=\['id', ...\], got \[\]"):
        table.upsert(pa.table({"id": [1], "v": ["a"], "w": ["b"]}), [])
    assert table.snapshots() == []


@pytest.mark.parametrize(
    "names",
    [("id", "v", "extra"), ("id", "v", "V"), ("id", "v", "v"), ("id", "v", "id")],
    ids=",".join,
)
def test_upsert_refuses_columns_as_an_append_does(catalog, names):
    table = catalog.create_table("db.u", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    table.append(pa.table({"id": [1], "v": ["a"]}))
    rows = pa.table([pa.array([1, 2]), pa.array(["b", "c"]), pa.array(["d", "e"])], names=names)
    with pytest.raises(SchemaMismatchError) as of_append:
        table.append(rows)
    for data in (rows, rows.to_reader()):
        with pytest.raises(SchemaMismatchError) as of_upsert:
            table.upsert(data, ["id"])
        assert str(of_upsert.value) == str(of_append.value)
    assert table.scan().to_arrow().to_pylist() == [{"id": 1, "v": "a"}]


def test_upsert_ignoring_case_refuses_a_column_that_the_table_lacks(catalog):
    table = catalog.create_table("db.u", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    rows = pa.table({"ID": [1], "V": ["a"], "extra": ["b"]})
    with pytest.raises(SchemaMismatchError, match=r"column extra: .*a column that the table does not have"):
        table.upsert(rows, ["id"], case_sensitive=False)
    assert table.upsert(rows.drop_columns("extra"), ["id"], case_sensitive=False).rows_inserted == 1


def test_upsert_leaves_out_the_index_of_a_frame_that_has_no_name(catalog):
    table = catalog.create_table("db.u", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    frame = pd.DataFrame({"id": [1, 2, 3], "v": ["a", "b", "c"]}).iloc[[0, 2]]
    index = "__index_level_0__"
    assert index in pa.Table.from_pandas(frame, preserve_index=True).column_names
    for data in (frame, pa.Table.from_pandas(frame, preserve_index=True)):
        table.upsert(data, ["id"])
    assert table.scan().to_arrow().sort_by("id").to_pylist() == [{"id": 1, "v": "a"}, {"id": 3, "v": "c"}]


def test_upsert_refuses_keys_named_twice_and_fields_within_columns(catalog):
    place = StructType(NestedField(3, "zip", LongType(), required=True))
    schema = Schema(
        NestedField(1, "id", LongType()), NestedField(2, "place", place, required=True), identifier_field_ids=[3]
    )
    table = catalog.create_table("db.u", schema)
    rows = pa.Table.from_pylist([{"id": 1, "place": {"zip": 5}}], schema=schema.as_arrow())
    with pytest.raises(ValidationError, match="expected each key column once, got 'id' several times in join_cols"):
        table.upsert(rows, ["id", "id"])
    with pytest.raises(ValidationError, match="expected each key column once, got 'id' several times in join_cols"):
        table.upsert(rows, ["id", "ID"], case_sensitive=False)
    for keys in (None, ["place.zip"]):
        with pytest.raises(ValidationError, match=r"'place.zip' is a field within a column; expected join_cols with"):
            table.upsert(rows, keys)
    assert table.snapshots() == []
    merge = table.merge(rows, on="target.place.zip = source.place.zip")
    assert merge.when_matched_update().when_not_matched_insert().execute().rows_inserted == 1
