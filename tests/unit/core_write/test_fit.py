"""Arrow data that a table accepts, and the errors for data that it refuses."""

import datetime as dt
import decimal
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import SchemaMismatchError

from tests.unit.core_write.write_cases import field, leaves, schema_of, write

WIDENINGS = [
    pytest.param("long", pa.array([1, None], pa.int8()), [1, None], id="int8-to-long"),
    pytest.param("long", pa.array([2**32 - 1], pa.uint32()), [2**32 - 1], id="uint32-to-long"),
    pytest.param("int", pa.array([65535], pa.uint16()), [65535], id="uint16-to-int"),
    pytest.param("double", pa.array([0.5], pa.float32()), [0.5], id="float-to-double"),
    pytest.param("string", pa.array(["a", None], pa.large_string()), ["a", None], id="large-string"),
    pytest.param("string", pa.array(["a", None], pa.string_view()), ["a", None], id="string-view"),
    pytest.param("string", pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"], id="dictionary"),
    pytest.param("long", pa.array([5, None, 5], pa.int64()).dictionary_encode(), [5, None, 5], id="int-dictionary"),
    pytest.param("binary", pa.array([b"x"], pa.large_binary()), [b"x"], id="large-binary"),
    pytest.param("fixed[2]", pa.array([b"xy"], pa.binary()), [b"xy"], id="binary-to-fixed"),
    pytest.param(
        "decimal(20, 2)",
        pa.array([decimal.Decimal("1.25")], pa.decimal128(5, 2)),
        [decimal.Decimal("1.25")],
        id="decimal",
    ),
    pytest.param(
        "decimal(9, 2)",
        pa.array([decimal.Decimal("-1.2"), None], pa.decimal128(8, 1)),
        [decimal.Decimal("-1.20"), None],
        id="decimal-of-fewer-places",
    ),
    pytest.param("date", pa.array([dt.date(2020, 1, 1)], pa.date64()), [dt.date(2020, 1, 1)], id="date64"),
    pytest.param("time", pa.array([dt.time(1, 2, 3)], pa.time32("ms")), [dt.time(1, 2, 3)], id="time32"),
    pytest.param(
        "timestamp", pa.array([dt.datetime(2020, 1, 1)], pa.timestamp("ns")), [dt.datetime(2020, 1, 1)], id="ns"
    ),
    pytest.param(
        "timestamp", pa.array([dt.datetime(2020, 1, 1)], pa.timestamp("s")), [dt.datetime(2020, 1, 1)], id="s"
    ),
    pytest.param(
        "timestamptz",
        pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)], pa.timestamp("ms", "America/New_York")),
        [dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)],
        id="zone",
    ),
    pytest.param(
        "uuid", pa.array([str(uuid.UUID(int=9))]), [uuid.UUID(int=9)], id="uuid-text", marks=pytest.mark.recent_pyarrow
    ),
    pytest.param("long", pa.nulls(2), [None, None], id="untyped-nulls"),
]


@pytest.mark.parametrize(("type_", "array", "expected"), WIDENINGS)
def test_types_that_hold_the_same_values_fit(tmp_path, type_, array, expected):
    (written,) = write(tmp_path, pa.table({"x": array}), schema_of(field(1, "x", type_)))
    assert pq.ParquetFile(written["file_path"]).read()["x"].to_pylist() == expected


MISMATCHES = [
    pytest.param(field(1, "x", "int"), pa.array([1], pa.int64()), "int64", id="long-to-int"),
    pytest.param(field(1, "x", "long"), pa.array([1], pa.uint64()), "uint64", id="uint64"),
    pytest.param(field(1, "x", "string"), pa.array([1]), "int64", id="int-to-string"),
    pytest.param(field(1, "x", "timestamp"), pa.array([0], pa.timestamp("us", "UTC")), "UTC", id="zone-to-local"),
    pytest.param(field(1, "x", "timestamptz"), pa.array([0], pa.timestamp("us")), "timestamp", id="local-to-zone"),
    pytest.param(field(1, "x", "decimal(9, 2)"), pa.array([decimal.Decimal("1.234")]), "3", id="scale"),
    pytest.param(
        field(1, "x", "decimal(9, 2)"),
        pa.array([decimal.Decimal("1.2")], pa.decimal128(9, 1)),
        "9, 1",
        id="whole digits",
    ),
    pytest.param(field(1, "x", "decimal(5, 2)"), pa.array([decimal.Decimal("12345.67")]), "7, 2", id="precision"),
    pytest.param(field(1, "x", "long", required=True), pa.array([1, None]), "nulls", id="null-in-required"),
    pytest.param(field(1, "y", "long"), pa.array([1]), "does not have", id="extra-column"),
    pytest.param(field(1, "x", "timestamp"), pa.array([1], pa.timestamp("ns")), "multiple", id="sub-microsecond"),
    pytest.param(field(1, "x", "uuid"), pa.array(["not one"]), "not one", id="uuid-text"),
    pytest.param(field(1, "x", "fixed[4]"), pa.array([b"toolong"]), "binary", id="fixed-length"),
    pytest.param(
        field(1, "x", {"type": "list", "element-id": 2, "element-required": True, "element": "long"}),
        pa.array([[1, None]]),
        "x.element",
        id="null-in-required-element",
    ),
    pytest.param(
        field(1, "x", {"type": "struct", "fields": [field(2, "a", "long", required=True)]}),
        pa.array([{"a": None}], pa.struct([("a", pa.int64())])),
        "x.a",
        id="null-in-required-field",
    ),
]


@pytest.mark.parametrize(("column", "array", "said"), MISMATCHES)
def test_data_that_does_not_fit_is_refused_and_leaves_no_file(tmp_path, column, array, said):
    with pytest.raises(SchemaMismatchError, match=r"(?s)column x.*expected") as raised:
        write(tmp_path, pa.table({"x": array}), schema_of(column))
    assert said in str(raised.value)
    assert leaves(tmp_path) == []


def test_missing_required_column_is_refused_and_missing_optional_is_null(tmp_path):
    table = pa.table({"a": [1]})
    with pytest.raises(SchemaMismatchError, match="column b"):
        write(tmp_path, table, schema_of(field(1, "a", "long"), field(2, "b", "long", required=True)))
    (written,) = write(tmp_path, table, schema_of(field(1, "a", "long"), field(2, "b", "string")))
    assert pq.ParquetFile(written["file_path"]).read().to_pylist() == [{"a": 1, "b": None}]
    assert dict(written["null_value_counts"]) == {1: 0, 2: 1}


def test_nulls_of_a_required_field_below_a_null_struct_are_no_nulls(tmp_path):
    struct_type = pa.struct([("a", pa.int64())])
    schema = schema_of(field(1, "x", {"type": "struct", "fields": [field(2, "a", "long", required=True)]}))
    (written,) = write(tmp_path, pa.table({"x": pa.array([None, {"a": 5}], struct_type)}), schema)
    assert pq.ParquetFile(written["file_path"]).read()["x"].to_pylist() == [None, {"a": 5}]
    assert dict(written["null_value_counts"]) == {2: 1}


PLACE = {"type": "struct", "fields": [field(2, "zip", "long", required=True), field(3, "city", "string")]}


@pytest.mark.parametrize("columns", [{}, {"place": pa.nulls(2)}], ids=["absent", "untyped nulls"])
@pytest.mark.parametrize("file_format", ["parquet", "avro"])
def test_required_fields_of_an_absent_struct_need_no_value(tmp_path, columns, file_format):
    schema = schema_of(field(1, "id", "long"), field(4, "place", PLACE))
    rows = pa.table({"id": [1, 2], **columns})
    (written,) = write(tmp_path, rows, schema, write__format__default=file_format)
    assert written["record_count"] == 2
    if file_format == "parquet":
        assert pq.ParquetFile(written["file_path"]).read()["place"].to_pylist() == [None, None]


def test_required_fields_of_an_absent_struct_need_a_value_where_the_struct_is_required(tmp_path):
    with pytest.raises(SchemaMismatchError, match="column place"):
        write(
            tmp_path, pa.table({"id": [1]}), schema_of(field(1, "id", "long"), field(4, "place", PLACE, required=True))
        )


LONGS = {"type": "list", "element-id": 2, "element-required": True, "element": "long"}
MOMENTS = {"type": "list", "element-id": 2, "element-required": True, "element": "timestamp"}
PAIRS = {"type": "map", "key-id": 2, "key": "string", "value-id": 3, "value-required": True, "value": "long"}
NULL_SECOND = pa.array([False, True, False])
BELOW_NULL = [
    pytest.param(LONGS, pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2)), [[1, 2], None, [3, 4]], id="fixed"),
    pytest.param(LONGS, pa.array([[9, 9], None, [3, 4]], pa.list_(pa.int64(), 2))[1:], [None, [3, 4]], id="sliced"),
    pytest.param(
        LONGS,
        pa.ListArray.from_arrays(pa.array([0, 1, 3, 4], pa.int32()), pa.array([1, None, 3, 4]), mask=NULL_SECOND),
        [[1], None, [4]],
        id="list",
    ),
    pytest.param(
        LONGS,
        pa.LargeListArray.from_arrays(pa.array([0, 1, 3, 4], pa.int64()), pa.array([1, None, 3, 4]), mask=NULL_SECOND),
        [[1], None, [4]],
        id="large list",
    ),
    pytest.param(
        MOMENTS,
        pa.ListArray.from_arrays(
            pa.array([0, 1, 2, 3], pa.int32()), pa.array([1000, 1, 0], pa.timestamp("ns")), mask=NULL_SECOND
        ),
        [[dt.datetime(1970, 1, 1, 0, 0, 0, 1)], None, [dt.datetime(1970, 1, 1)]],
        id="value that does not fit",
    ),
    pytest.param(
        PAIRS,
        pa.MapArray.from_arrays(
            pa.array([0, 1, 2, 3], pa.int32()), pa.array(["a", "b", "c"]), pa.array([1, None, 3]), mask=NULL_SECOND
        ),
        [[("a", 1)], None, [("c", 3)]],
        id="map",
    ),
]


@pytest.mark.parametrize(("type_", "array", "expected"), BELOW_NULL)
def test_values_below_a_null_list_or_map_are_no_values(tmp_path, type_, array, expected):
    (written,) = write(tmp_path, pa.table({"x": array}), schema_of(field(1, "x", type_)))
    assert pq.ParquetFile(written["file_path"]).read()["x"].to_pylist() == expected
