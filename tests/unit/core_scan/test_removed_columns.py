"""Equality deletes by a column that no schema has any more: each file stores the type that the column had when it was written."""

from __future__ import annotations

import itertools
import json
import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc

from tests.unit.core_scan.avro_tables import avro_field, write_avro
from tests.unit.core_write.write_cases import write as write_files
from tests.unit.scan_tables import ID, UNPARTITIONED, arrow_field, delete_file, field, read, schema, task, write

CURRENT = schema(ID, schema_id=9)
FORMATS = ["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)]
PROMOTIONS = [
    pytest.param(("int", pa.int32()), ("long", pa.int64()), [1, -2, 3], [1 + 2**32, -(2**60)], id="int-long"),
    pytest.param(("float", pa.float32()), ("double", pa.float64()), [0.5, -2.25, 3.0], [0.1, 1e300], id="float-double"),
    pytest.param(
        ("decimal(9, 2)", pa.decimal128(9, 2)),
        ("decimal(20, 2)", pa.decimal128(20, 2)),
        [Decimal("0.01"), Decimal("-1.10"), Decimal("3.00")],
        [Decimal("123456789012345.67"), Decimal("-99999999.99")],
        id="decimal",
    ),
]


class Files:
    """Writes data and delete files of a column ``k`` of field id 2."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.numbers = itertools.count()

    def data(self, kind: tuple[Any, pa.DataType], values: list[Any], file_format: str = "parquet") -> dict[str, Any]:
        """Return the task of a data file whose ids are the positions of the values."""
        columns = {"id": pa.array(range(len(values)), pa.int64()), "k": pa.array(values, kind[1])}
        location = self._write(columns, schema(ID, field(2, "k", kind[0])), file_format)
        return task(location, file_format=file_format.upper(), record_count=len(values), deletes=[])

    def keys(self, kind: tuple[Any, pa.DataType], values: list[Any], file_format: str = "parquet") -> dict[str, Any]:
        """Return an equality delete file with the values as its keys."""
        location = self._write({"k": pa.array(values, kind[1])}, schema(field(2, "k", kind[0])), file_format)
        return {**delete_file(location, 2, len(values), [2]), "file_format": file_format.upper()}

    def _write(self, columns: dict[str, pa.Array], of_schema: dict[str, Any], file_format: str) -> str:
        directory = self.directory / str(next(self.numbers))
        (written,) = write_files(directory, pa.table(columns), of_schema, write__format__default=file_format)
        return str(written["file_path"])


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def ids_left(data: list[dict[str, Any]], deletes: list[dict[str, Any]], **options: Any) -> list[list[int]]:
    """Return the ids of each data file that the delete files, which all apply to each, leave."""
    everything = [{"first": row, "count": 1} for row in range(len(deletes))]
    return [
        read([{**one, "deletes": everything}], CURRENT, deletes=deletes, **options)["id"].to_pylist() for one in data
    ]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("first_is_wide", [False, True])
@pytest.mark.parametrize(("narrow", "wide", "small", "large"), PROMOTIONS)
def test_keys_of_a_promoted_column_delete_rows_of_both_types(
    files, narrow, wide, small, large, first_is_wide, file_format
):
    deletes = [files.keys(narrow, [small[0], None], file_format), files.keys(wide, [small[1], large[0]], file_format)]
    data = [
        files.data(narrow, [*small, None], file_format),
        files.data(wide, [large[1], *small, None, large[0]], file_format),
    ]
    assert ids_left(data, deletes[::-1] if first_is_wide else deletes) == [[2], [0, 3]]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize(("narrow", "wide", "small", "large"), PROMOTIONS)
def test_keys_delete_rows_of_data_files_after_a_promotion(files, narrow, wide, small, large, file_format):
    deletes = [files.keys(narrow, small[:2], file_format)]
    # The lower halves of 1 and 1 + 2**32 are equal.
    data = [files.data(wide, [large[0], *small, large[1]], file_format), files.data(wide, large, file_format)]
    assert ids_left(data, deletes) == [[0, 3, 4], [0, 1]]


@pytest.mark.parametrize("first_is_wide", [False, True])
def test_keys_of_a_promoted_field_of_a_struct_delete_rows(files, first_is_wide):
    def of(kind: str, arrow: pa.DataType) -> tuple[Any, pa.DataType]:
        return {"type": "struct", "fields": [field(3, "x", kind)]}, pa.struct([("x", arrow)])

    narrow, wide = of("int", pa.int32()), of("long", pa.int64())
    deletes = [files.keys(narrow, [{"x": 1}]), files.keys(wide, [{"x": 2**40}])]
    deletes = [{**keys, "equality_ids": [3]} for keys in (deletes[::-1] if first_is_wide else deletes)]
    data = [files.data(narrow, [{"x": 1}, {"x": 2}]), files.data(wide, [{"x": 1}, {"x": 2**40}, None])]
    assert ids_left(data, deletes) == [[1], [2]]


@pytest.mark.recent_pyarrow
@pytest.mark.parametrize(
    "formats", [("orc", "avro", "parquet"), ("avro", "parquet", "orc"), ("parquet", "orc", "avro")]
)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (("time", pa.time64("us")), [time(1, 2, 3, 4), time(5), time(6), time(7)]),
        (("uuid", pa.binary(16)), [uuid.UUID(int=number).bytes for number in range(4)]),
        (("fixed[3]", pa.binary(3)), [b"abc", b"abd", b"\0\0\0", b"\xff\0\0"]),
        (("binary", pa.binary()), [b"abc", b"", b"\0", b"\xff"]),
        (("date", pa.date32()), [date(2020, 1, day) for day in range(1, 5)]),
        (("timestamp", pa.timestamp("us")), [datetime(2020, 1, day, 1, 2, 3, 4) for day in range(1, 5)]),
        (("timestamptz", pa.timestamp("us", "UTC")), [datetime(2020, 1, day, tzinfo=UTC) for day in range(1, 5)]),
        (("decimal(5, 1)", pa.decimal128(5, 1)), [Decimal(number) for number in range(4)]),
        (("string", pa.string()), ["a", "", "c", "d"]),
        (("boolean", pa.bool_()), [True, None, True, False]),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_keys_in_files_of_all_formats_form_one_set(files, kind, values, formats):
    deletes = [files.keys(kind, [value], name) for name, value in zip(formats, values[:3], strict=True)]
    data = [files.data(kind, values, name) for name in formats]
    assert ids_left(data, deletes) == [[3]] * 3


@pytest.mark.recent_pyarrow
def test_keys_in_orc_of_a_time_delete_rows_of_parquet(files):
    kind = ("time", pa.time64("us"))
    assert ids_left([files.data(kind, [time(1), time(2)])], [files.keys(kind, [time(2)], "orc")]) == [[0]]


@pytest.mark.recent_pyarrow
def test_keys_in_orc_of_a_timestamp_are_microseconds(files):
    kind = ("timestamp", pa.timestamp("us"))
    keys = files.keys(kind, [datetime(2020, 1, 1)], "orc")
    # Nanoseconds end in the year 2262.
    assert ids_left([files.data(kind, [datetime(2020, 1, 1), datetime(9999, 1, 1)])], [keys]) == [[1]]


@pytest.mark.recent_pyarrow
@pytest.mark.parametrize(("unit", "left"), [("NANOS", [1]), ("MICROS", [])])
def test_keys_in_orc_have_the_unit_that_the_file_states(files, tmp_path, unit, left):
    attributes = {"iceberg.id": "2", "iceberg.timestamp-unit": unit}
    keys = pa.table(
        [pa.array([1_000], pa.timestamp("ns"))], pa.schema([pa.field("k", pa.timestamp("ns"), metadata=attributes)])
    )
    orc.write_table(keys, str(tmp_path / "e.orc"))
    delete = {**delete_file(str(tmp_path / "e.orc"), 2, 1, [2]), "file_format": "ORC"}
    assert ids_left([files.data(("timestamp_ns", pa.timestamp("ns")), [1_000, 1_001])], [delete]) == [left]


def test_keys_without_a_type_have_the_type_of_another_file(files, tmp_path):
    null = write_avro(tmp_path / "null.avro", [avro_field(2, "k", "null")], [{"k": None}])
    nulls = {**delete_file(null, 2, 1, [2]), "file_format": "AVRO"}
    text = ("string", pa.string())
    data = [files.data(text, ["a", "b", None])]
    assert ids_left(data, [nulls, files.keys(text, ["a"])]) == [[1]]
    with pytest.raises(pa.ArrowInvalid, match="equality_ids: expected ids of primitive columns, got 2"):
        ids_left(data, [nulls])


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ([("int", pa.int32()), ("string", pa.string())], "column k: the data does not fit; expected long, got string"),
        ([("string", pa.string()), ("int", pa.int32())], "column k: the data does not fit; expected string, got int32"),
        (
            [("decimal(5, 1)", pa.decimal128(5, 1)), ("decimal(5, 2)", pa.decimal128(5, 2))],
            r"column k: the data does not fit; expected decimal\(38, 1\), got decimal128\(5, 2\)",
        ),
    ],
)
def test_keys_of_types_that_no_type_holds_are_refused(files, kinds, message):
    deletes = [files.keys(kind, [None]) for kind in kinds]
    with pytest.raises(pa.ArrowInvalid, match=message) as raised:
        ids_left([files.data(kinds[0], [None])], deletes)
    assert deletes[1]["file_path"] in str(raised.value)


@pytest.mark.parametrize(("narrow", "wide", "small", "large"), PROMOTIONS)
def test_keys_of_a_column_whose_last_schema_was_removed_delete_rows(files, narrow, wide, small, large):
    known = schema(ID, field(2, "k", narrow[0]))
    context = json.dumps({"schema": CURRENT, "schemas": [known, CURRENT], "partition-specs": [UNPARTITIONED]})
    deletes = [files.keys(narrow, [small[0]]), files.keys(wide, [large[0]])]
    data = [files.data(narrow, small), files.data(wide, [*large, small[0]])]
    assert ids_left(data, deletes, scan_context=context) == [[1, 2], [1]]


def test_keys_of_a_dropped_column_equal_its_default(tmp_path):
    known = schema(ID, {**field(2, "k", "float"), "initial-default": 0.1})
    context = json.dumps({"schema": CURRENT, "schemas": [known, CURRENT], "partition-specs": [UNPARTITIONED]})
    without = write(tmp_path / "a.parquet", {arrow_field(1, "id", pa.int64()): [0, 1]})
    keys = write(tmp_path / "e.parquet", {arrow_field(2, "k", pa.float32()): [0.1]})
    assert ids_left([task(without)], [delete_file(keys, 2, 1, [2])], scan_context=context) == [[]]
