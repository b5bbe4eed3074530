"""Data that is no table: columns and other objects."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.schema import Schema
from icefloe.table.write.arrow_input import to_stream, to_table
from icefloe.types import FixedType, ListType, LongType, NestedField, StructType, TimeType, UUIDType

COLUMNS = {
    "pyarrow": pa.chunked_array([[1]]),
    "Polars": pl.Series("id", [1]),
    "pandas": pd.Series([1], name="id"),
}


@pytest.mark.parametrize("library", COLUMNS)
def test_single_column_is_refused(library: str) -> None:
    with pytest.raises(ValidationError, match=r"cannot read a \w+ as (rows|Arrow data)"):
        to_stream(COLUMNS[library])


@pytest.mark.parametrize(
    "column", [pa.chunked_array([pa.array([{"id": 1}])]), pl.Series("x", [{"id": 1}])], ids=["pyarrow", "Polars"]
)
def test_column_of_structs_is_rows(column: Any) -> None:
    assert to_table(column).to_pydict() == {"id": [1]}


def test_nameless_index_of_a_data_frame_is_left_out(catalog):
    table = catalog.create_table("db.frames", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "v": ["a", "b", "c", "d"]})
    some = frame[frame["id"] != 3]
    arrow = pa.Table.from_pandas(some)
    assert arrow.column_names == ["id", "v", "__index_level_0__"]
    table.append(some)
    table.append(arrow)
    table.overwrite(arrow.to_reader(), "id = 1")
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2, 2, 2, 4, 4, 4]


def test_index_that_is_a_column_of_the_table_is_written(catalog):
    some = pd.DataFrame({"v": ["a", "b", "c"]}, index=[7, 9, 10])
    by_id = some.rename_axis("id")
    table = catalog.create_table("db.frames", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    table.append(by_id)
    assert table.scan().to_arrow().to_pydict() == {"id": [7, 9, 10], "v": ["a", "b", "c"]}
    nameless = catalog.create_table("db.nameless", pa.Table.from_pandas(some).schema)
    nameless.append(some)
    assert nameless.scan().to_arrow()["__index_level_0__"].to_pylist() == [7, 9, 10]


def test_named_index_of_consecutive_integers_is_written(catalog):
    # pandas makes a RangeIndex of the ids, which pyarrow stores in the metadata alone.
    frame = pd.DataFrame({"id": [1, 2, 3], "v": ["a", "b", "c"]}).set_index("id")
    table = catalog.create_table("db.frames", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    table.append(frame)
    assert table.scan().to_arrow().to_pydict() == {"id": [1, 2, 3], "v": ["a", "b", "c"]}
    result = table.upsert(frame.assign(v="z"), join_cols=["id"])
    assert (result.rows_updated, result.rows_inserted) == (3, 0)
    table.overwrite(frame.reset_index().set_index("id", drop=False))
    assert table.scan().to_arrow().to_pydict() == {"id": [1, 2, 3], "v": ["a", "b", "c"]}


def test_named_index_that_is_no_column_of_the_table_is_refused(catalog):
    table = catalog.create_table("db.frames", pa.schema([("v", pa.string())]))
    with pytest.raises(
        SchemaMismatchError, match="column id: the data does not fit; expected only columns of the table"
    ):
        table.append(pd.DataFrame({"v": ["a"]}, index=pd.RangeIndex(1, name="id")))
    assert table.current_snapshot() is None


def test_columns_of_nulls_of_polars_are_written(catalog):
    kinds = pa.schema([("id", pa.int64()), ("v", pa.string()), ("l", pa.list_(pa.int64()))])
    table = catalog.create_table("db.nulls", kinds)
    frame = pl.DataFrame({"id": [1, 2], "v": [None, None], "l": pl.Series([[], None], dtype=pl.List(pl.Null))})
    table.append(frame)
    expected = [{"id": 1, "v": None, "l": []}, {"id": 2, "v": None, "l": None}]
    assert table.scan().to_arrow().to_pylist() == expected
    table.upsert(frame, join_cols=["id"])
    assert table.scan().to_arrow().to_pylist() == expected


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"v": pd.Series(["a", 1], dtype=object)}),
        pd.DataFrame([["a", "b"]], columns=["v", "v"]),
        pd.DataFrame({"v": pd.arrays.SparseArray([1, 2])}),
        pd.DataFrame({"v": [1 << 70]}),
        pl.DataFrame({"v": pl.Series([1], dtype=pl.Int128)}),
    ],
)
def test_frames_that_arrow_cannot_hold_are_refused(catalog, frame):
    table = catalog.create_table("db.strange", pa.schema([("v", pa.string())]))
    with pytest.raises(ValidationError, match="cannot read a DataFrame as Arrow data"):
        table.append(frame)
    with pytest.raises(ValidationError, match="cannot read a DataFrame as Arrow data"):
        table.upsert(frame, join_cols=["v"])


BYTES = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "u", UUIDType()),
    NestedField(3, "f", FixedType(4)),
)


def test_uuids_and_fixed_bytes_that_polars_reads_are_written_again(catalog):
    table = catalog.create_table("db.bytes", BYTES)
    rows = [{"id": 1, "u": uuid.UUID(int=7), "f": b"1234"}, {"id": 2, "u": None, "f": None}]
    table.append(pa.table({"id": [1, 2], "u": [rows[0]["u"].bytes, None], "f": [b"1234", None]}))
    frame = table.scan().to_polars()
    table.append(frame)
    table.append(frame.to_arrow(compat_level=pl.CompatLevel.newest()))
    assert table.scan().to_arrow().sort_by("id").to_pylist() == [row for row in rows for _ in range(3)]
    table.overwrite(frame)
    table.upsert(frame.with_columns(f=pl.lit(b"5678")), join_cols=["u"])
    found = table.scan().to_arrow().sort_by("id").to_pylist()
    assert found[0] == {"id": 1, "u": uuid.UUID(int=7), "f": b"5678"}


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@pytest.mark.parametrize(("column", "length"), [("u", 15), ("u", 17), ("f", 3), ("f", 5)])
def test_binaries_of_another_length_than_the_column_are_refused(catalog, kind, column, length):
    table = catalog.create_table("db.bytes", BYTES)
    with pytest.raises(SchemaMismatchError, match=f"column {column}: the data does not fit"):
        table.append(pa.table({column: pa.array([b"x" * length], kind)}))
    assert table.current_snapshot() is None


DAY = 86_400_000_000
LAYOUTS = {
    "column": lambda times: times,
    "dictionary": lambda times: times.dictionary_encode(),
    "struct": lambda times: pa.StructArray.from_arrays([times], names=["x"]),
    "list": lambda times: pa.ListArray.from_arrays(pa.array([0, len(times)], pa.int32()), times),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("file_format", ["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)])
def test_times_outside_a_day_are_refused(catalog, file_format, layout):
    kind = {"struct": StructType(NestedField(2, "x", TimeType())), "list": ListType(2, TimeType(), False)}
    schema = Schema(NestedField(1, "t", kind.get(layout, TimeType())))
    table = catalog.create_table("db.times", schema, properties={"write.format.default": file_format})
    name = {"struct": "t.x", "list": "t.element"}.get(layout, "t")
    message = rf"column {name}: the data does not fit; expected microseconds since midnight from 0 to 86399999999, got "
    for unit, scale in [("us", 1), ("ns", 1_000)]:
        for micros in (-1, DAY, 2**62 // 1_000):
            times = pa.array([0, micros * scale], pa.int64()).view(pa.time64(unit))
            with pytest.raises(SchemaMismatchError, match=rf"{message}time64\[us\] \({micros} microseconds\)"):
                table.append(pa.table({"t": LAYOUTS[layout](times)}))
    assert table.current_snapshot() is None


def test_milliseconds_outside_a_day_are_refused(catalog):
    table = catalog.create_table("db.times", Schema(NestedField(1, "t", TimeType())))
    with pytest.raises(SchemaMismatchError, match=r"column t: .* microseconds since midnight"):
        table.append(pa.table({"t": pa.array([86_400_000], pa.int32()).view(pa.time32("ms"))}))
    assert table.current_snapshot() is None


def test_times_below_nulls_have_no_meaning(catalog):
    schema = Schema(NestedField(1, "t", TimeType()), NestedField(2, "s", StructType(NestedField(3, "x", TimeType()))))
    table = catalog.create_table("db.times", schema)
    times = pa.array([DAY - 1, 2**62], pa.int64()).view(pa.time64("us"))
    is_null = pa.array([False, True])
    null = pa.Array.from_buffers(times.type, 2, [pa.py_buffer(b"\x01"), times.buffers()[1]])
    struct = pa.StructArray.from_arrays([times], names=["x"], mask=is_null)
    table.append(pa.table({"t": null, "s": struct}))
    last = dt.time(23, 59, 59, 999_999)
    assert table.scan().to_arrow().to_pylist() == [{"t": last, "s": {"x": last}}, {"t": None, "s": None}]
