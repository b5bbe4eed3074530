"""Columns of a scan: found by field id, promoted, filled in, metadata columns."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.exceptions import (
    CorruptFileError,
    SchemaMismatchError,
)

from tests.unit.scan_tables import (
    FILE,
    ID,
    NAME,
    POS,
    SPEC_ID,
    arrow_field,
    context,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)


def test_columns_are_found_by_id_whatever_their_name_and_order(numbers):
    wanted = schema(field(2, "label", "string"), field(1, "key", "long"))
    table = read([task(numbers)], wanted)
    assert table.column_names == ["label", "key"]
    assert table["key"].to_pylist() == list(range(1000))
    assert table["label"][1].as_py() == "n1"


def test_added_column_is_null_and_a_dropped_one_is_not_read(numbers):
    table = read([task(numbers)], schema(ID, field(9, "extra", "decimal(9, 2)")))
    assert table.schema.field("extra").type == pa.decimal128(9, 2)
    assert table["extra"].null_count == 1000


def test_absent_required_column_is_a_corrupt_file(numbers):
    with pytest.raises(CorruptFileError, match=r"numbers\.parquet.*required column extra"):
        list(stream([task(numbers)], schema(field(9, "extra", "long", required=True))))


def test_promoted_types_are_widened(tmp_path):
    columns = {
        arrow_field(1, "i", pa.int32()): [1, None, -(2**31)],
        arrow_field(2, "f", pa.float32()): [1.5, None, float("inf")],
        arrow_field(3, "d", pa.decimal128(5, 2)): [Decimal("1.25"), None, Decimal("-999.99")],
    }
    wanted = schema(field(1, "i", "long"), field(2, "f", "double"), field(3, "d", "decimal(20, 2)"))
    table = read([task(write(tmp_path / "a.parquet", columns))], wanted)
    assert table.schema.types == [pa.int64(), pa.float64(), pa.decimal128(20, 2)]
    assert table.to_pylist()[2] == {"i": -(2**31), "f": float("inf"), "d": Decimal("-999.99")}


def test_type_that_cannot_become_the_tables_names_file_and_column(numbers):
    with pytest.raises(SchemaMismatchError, match=r"numbers\.parquet.*column name"):
        list(stream([task(numbers)], schema(field(2, "name", "int"))))


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_timestamps_of_any_unit_are_micros(tmp_path, unit):
    values = [dt.datetime(1969, 12, 31, 23, 59, 59, 999000), None]
    path = write(tmp_path / "a.parquet", {arrow_field(1, "t", pa.timestamp(unit)): values}, version="2.6")
    table = read([task(path)], schema(field(1, "t", "timestamp")))
    assert table.schema.field("t").type == pa.timestamp("us")
    assert table["t"].to_pylist() == values


def test_int96_is_read_beyond_the_range_of_nanoseconds(tmp_path):
    value = dt.datetime(2300, 1, 1, 12, 30)
    column = {arrow_field(1, "t", pa.timestamp("us")): [value]}
    path = write(tmp_path / "a.parquet", column, use_deprecated_int96_timestamps=True)
    table = read([task(path)], schema(field(1, "t", "timestamptz")))
    assert table.schema.field("t").type == pa.timestamp("us", tz="UTC")
    if value.year < 2262:  # pyarrow itself writes the date wrong beyond it
        assert table["t"].to_pylist() == [value.replace(tzinfo=dt.timezone.utc)]


def test_every_primitive_type_comes_back(tmp_path):
    rows = {
        "boolean": (pa.bool_(), [True, None]),
        "int": (pa.int32(), [1, None]),
        "long": (pa.int64(), [1, None]),
        "float": (pa.float32(), [0.5, None]),
        "double": (pa.float64(), [0.5, None]),
        "decimal(38, 10)": (pa.decimal128(38, 10), [Decimal("1.5000000000"), None]),
        "date": (pa.date32(), [dt.date(1969, 1, 1), None]),
        "time": (pa.time64("us"), [dt.time(1, 2, 3), None]),
        "timestamp": (pa.timestamp("us"), [dt.datetime(2020, 1, 1), None]),
        "timestamptz": (pa.timestamp("us", tz="UTC"), [dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc), None]),
        "string": (pa.string(), ["é☃😀", None]),
        "uuid": (pa.binary(16), [b"0123456789abcdef", None]),
        "fixed[3]": (pa.binary(3), [b"abc", None]),
        "binary": (pa.binary(), [b"\xff\x00", None]),
    }
    columns = {arrow_field(i, f"c{i}", kind): values for i, (kind, values) in enumerate(rows.values(), 1)}
    wanted = schema(*(field(i, f"c{i}", name) for i, name in enumerate(rows, 1)))
    table = read([task(write(tmp_path / "a.parquet", columns))], wanted)
    for i, (kind, values) in enumerate(rows.values(), 1):
        assert table.schema.field(f"c{i}").type == kind
        assert table[f"c{i}"].to_pylist() == values


def test_nested_fields_are_renamed_promoted_added_and_dropped(nested):
    struct = {"type": "struct", "fields": [field(12, "why", "string"), field(19, "new", "int"), field(11, "x", "long")]}
    element = {"type": "struct", "fields": [field(41, "ex", "long")]}
    entry = {"type": "struct", "fields": [field(34, "double-u", "long")]}
    wanted = schema(
        field(
            3,
            "m",
            {"type": "map", "key-id": 31, "key": "string", "value-id": 32, "value": entry, "value-required": False},
        ),
        field(1, "s", struct),
        field(2, "l", {"type": "list", "element-id": 21, "element": element, "element-required": False}),
    )
    rows = read([task(nested)], wanted).to_pylist()
    assert rows[0] == {
        "m": [("k", {"double-u": 2})],
        "s": {"why": "a", "new": None, "x": 1},
        "l": [{"ex": 1}, None],
    }
    assert rows[1] == {"m": None, "s": None, "l": []}
    assert rows[2] == {"m": [], "s": {"why": "c", "new": None, "x": None}, "l": None}


def test_struct_of_which_only_new_fields_are_wanted_keeps_its_nulls(nested):
    wanted = schema(field(1, "s", {"type": "struct", "fields": [field(19, "new", "int")]}))
    assert read([task(nested)], wanted)["s"].to_pylist() == [{"new": None}, None, {"new": None}]


def test_struct_of_nothing_but_maps_keeps_its_nulls(tmp_path):
    inner = pa.map_(pa.string(), arrow_field(22, "value", pa.map_(pa.string(), pa.int32())))
    struct = pa.struct([arrow_field(11, "m", inner)])
    path = write(tmp_path / "a.parquet", {arrow_field(1, "s", struct): [{"m": [("k", [("x", 1)])]}, None, {"m": None}]})
    wanted = schema(field(1, "s", {"type": "struct", "fields": [field(19, "new", "int")]}))
    assert read([task(path)], wanted)["s"].to_pylist() == [{"new": None}, None, {"new": None}]


def test_without_ids_columns_are_taken_by_position(tmp_path):
    path = write(tmp_path / "a.parquet", {pa.field("a", pa.int32()): [1], pa.field("b", pa.string()): ["x"]})
    assert read([task(path)], schema(field(2, "second", "string"))).to_pylist() == [{"second": "x"}]


def test_without_ids_a_name_mapping_decides(tmp_path):
    path = write(tmp_path / "a.parquet", {pa.field("b", pa.string()): ["x"], pa.field("a", pa.int32()): [1]})
    current = schema(field(1, "id", "long"), field(2, "name", "string"), field(3, "c", "int"))
    mapping = [{"field-id": 1, "names": ["id", "a"]}, {"field-id": 2, "names": ["b"]}]
    table = read([task(path)], current, scan_context=context(current, **{"name-mapping": mapping}))
    assert table.to_pylist() == [{"id": 1, "name": "x", "c": None}]


def test_identity_partition_fills_a_column_that_the_file_lacks(numbers):
    current = schema(ID, field(7, "day", "date"), field(8, "n", "int"))
    spec = {
        "spec-id": 3,
        "fields": [
            {"source-id": 7, "field-id": 1000, "name": "day", "transform": "identity"},
            {"source-id": 8, "field-id": 1001, "name": "n_bucket", "transform": "bucket[4]"},
        ],
    }
    tasks = [task(numbers, spec_id=3, partition='["2020-02-29", 1]', residual=json.dumps(leaf("lt", "id", 2)))]
    table = read(tasks, current, scan_context=context(current, specs=[spec]))
    assert table.to_pylist()[0] == {"id": 0, "day": dt.date(2020, 2, 29), "n": None}


@pytest.mark.parametrize(("value", "found"), [('"a"', "a"), ("null", None)])
def test_identity_partition_decides_before_a_default(numbers, value, found):
    named = {"source-id": 7, "field-id": 1000, "name": "kind", "transform": "identity"}
    current = schema(ID, {**field(7, "kind", "string"), "initial-default": "old"})
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [named]}]
    tasks = [task(numbers), task(numbers, spec_id=1, partition=f"[{value}]")]
    kinds = read(tasks, current, scan_context=context(current, specs=specs))["kind"].to_pylist()
    assert (set(kinds[:1000]), set(kinds[1000:])) == ({"old"}, {found})


def test_required_column_is_not_null_because_its_partition_is(numbers):
    spec = {
        "spec-id": 0,
        "fields": [{"source-id": 7, "field-id": 1000, "name": "kind", "transform": "identity"}],
    }
    current = schema(ID, {**field(7, "kind", "string", required=True), "initial-default": "old"})
    with pytest.raises(CorruptFileError, match=r"required column kind \(field id 7\) is absent"):
        list(stream([task(numbers, partition="[null]")], current, scan_context=context(current, specs=[spec])))


def test_metadata_columns_survive_pruning_and_filters(numbers):
    residual = json.dumps(leaf("gt-eq", "id", 895))
    table = read([task(numbers, residual=residual)], schema(ID, NAME), projection=schema(POS, FILE, SPEC_ID, ID))
    assert table["_pos"].to_pylist() == table["id"].to_pylist() == list(range(895, 1000))
    assert set(table["_file"].to_pylist()) == {numbers}
    assert set(table["_spec_id"].to_pylist()) == {0}


def test_metadata_columns_alone_locate_the_rows_that_are_left(numbers, tmp_path):
    deletes = [position_deletes(tmp_path / "d.parquet", [(numbers, 7)])]
    residual = json.dumps(leaf("lt", "id", 10))
    table = read(
        [task(numbers, residual=residual, deletes=[0])], schema(ID), deletes=deletes, projection=schema(FILE, POS)
    )
    assert table.to_pylist() == [{"_file": numbers, "_pos": i} for i in range(10) if i != 7]


def test_file_row_is_the_number_of_the_task(numbers, tmp_path):
    other = write(tmp_path / "other.parquet", {arrow_field(1, "id", pa.int64()): [7, 8]})
    last = json.dumps(leaf("gt-eq", "id", 998))
    projection = schema(ID, {"id": 2147483497, "name": "__file_row", "required": True, "type": "int"})
    table = read(
        [task(numbers, residual=last), task(other), task(numbers, residual=last)], schema(ID), projection=projection
    )
    assert table.schema.field("__file_row").type == pa.int32()
    assert table["__file_row"].to_pylist() == [0, 0, 1, 1, 2, 2]
    assert table["id"].to_pylist() == [998, 999, 7, 8, 998, 999]


def test_views_are_given_where_they_are_asked_for(numbers):
    table = read([task(numbers)], schema(NAME), string_views=True)
    assert table.schema.field("name").type == pa.string_view()
    assert table["name"].cast(pa.string()).equals(read([task(numbers)], schema(NAME))["name"])
