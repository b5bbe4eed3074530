"""Updates and merges that set fields within structs."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ResolveError, SchemaMismatchError, ValidationError
from icefloe.schema import Schema
from icefloe.table.row_level.assignments import FieldValues, assignments
from icefloe.types import IntegerType, LongType, NestedField, StringType, StructType, UUIDType

INNER = StructType(NestedField(8, "z", LongType(), required=False))
PLACE = StructType(
    NestedField(4, "city", StringType(), required=False),
    NestedField(5, "zip", IntegerType(), required=False),
    NestedField(6, "key", UUIDType(), required=False),
    NestedField(7, "inner", INNER, required=False),
)
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "n", LongType(), required=False),
    NestedField(3, "place", PLACE, required=False),
    NestedField(9, "a.b", LongType(), required=False),
)
KEY = "f79c3e09-677c-4bbd-a479-3f349cb785e7"


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def table(catalog, request):
    modes = {f"write.{operation}.mode": request.param for operation in ("update", "merge")}
    made = catalog.create_table("db.s", SCHEMA, properties=modes)
    rows = [
        {"id": 1, "n": 10, "place": {"city": "Rome", "zip": 5, "key": None, "inner": {"z": 7}}, "a.b": 0},
        {"id": 2, "n": 20, "place": None, "a.b": 0},
        {"id": 3, "n": 30, "place": {"city": None, "zip": None, "key": None, "inner": None}, "a.b": 0},
    ]
    fields = [
        ("city", pa.string()),
        ("zip", pa.int32()),
        ("key", pa.binary(16)),
        ("inner", pa.struct([("z", pa.int64())])),
    ]
    schema = pa.schema([("id", pa.int64()), ("n", pa.int64()), ("place", pa.struct(fields)), ("a.b", pa.int64())])
    made.append(pa.Table.from_pylist(rows, schema))
    return made


def places(table):
    rows = table.scan().to_arrow().sort_by("id").to_pylist()
    return [None if row["place"] is None else tuple(row["place"].values()) for row in rows]


def test_update_of_a_field_keeps_the_other_fields_and_fills_a_null_struct(table):
    assert table.update("id < 3", {"place.city": "'x'", "n": "n + 1"}).rows_updated == 2
    assert places(table) == [("x", 5, None, {"z": 7}), ("x", None, None, None), (None, None, None, None)]
    assert sorted(table.scan().to_arrow().column("n").to_pylist()) == [11, 21, 30]


def test_update_of_inner_fields_reads_the_row_as_it_was(table):
    values = {"place.zip": "place.inner.z + 1", "place.inner.z": "place.zip", "place.key": f"'{KEY}'"}
    table.update("n >= 10", values)
    assert [(one[1], str(one[2]), one[3]) for one in places(table)] == [
        (8, KEY, {"z": 5}),
        (None, KEY, {"z": None}),
        (None, KEY, {"z": None}),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(9, 9), (None, None), (pc.field("target.n") + 1, 11), ("target.n / 4", 2), ("'12'", 12)],
    ids=str,
)
def test_update_of_a_field_accepts_every_form_of_a_value(table, value, expected):
    table.update("id = 1", {"place.zip": value})
    assert places(table)[0] == ("Rome", expected, None, {"z": 7})


def test_update_of_a_struct_within_a_struct_replaces_it(table):
    table.update("id <> 3", {"place.inner": {"z": 1}})
    assert [one[3] for one in places(table)] == [{"z": 1}, {"z": 1}, None]


def test_update_by_branches_reads_texts_within_structs(table):
    where = "case when place.zip = 5 then place.city = 'Rome' else place.city is null end"
    assert table.update(where, {"n": "case when place.city = 'Rome' then 1 else 2 end"}).rows_updated == 3
    assert sorted(table.scan().to_arrow().column("n").to_pylist()) == [1, 2, 2]


def test_update_and_delete_accept_a_null_struct_as_condition(table):
    assert table.update("place is null", {"place.zip": 1}).rows_updated == 1
    assert places(table)[1] == (None, 1, None, None)
    table.update("id = 1", {"place": None})
    table.delete("place is null and id < 5")
    merge = table.merge(pa.table({"id": [2, 3]}), "target.id = source.id and target.place is null")
    assert merge.when_not_matched_by_source_delete("target.id = 3").execute().rows_deleted == 1
    assert table.scan().to_arrow().column("id").to_pylist() == [2]


def test_update_prefers_a_column_whose_name_has_a_dot(table):
    table.update("id = 1", {"a.b": 5})
    assert sorted(table.scan().to_arrow().column("a.b").to_pylist()) == [0, 0, 5]


def test_merge_sets_fields_from_both_sides(table):
    source = pa.table({"id": [1, 2, 4], "city": ["Oslo", "Bern", "Lima"]})
    merge = table.merge(source, ["id"]).when_matched_update({"place.city": "source.city || '!'"}, "target.n < 0")
    merge.when_matched_update({"place.city": "source.city", "place.zip": "target.n"})
    result = merge.when_not_matched_by_source_update({"place.inner.z": "target.id"}).execute()
    assert result.rows_updated == 3
    assert places(table) == [
        ("Oslo", 10, None, {"z": 7}),
        ("Bern", 20, None, None),
        (None, None, None, {"z": 3}),
    ]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (
            {"place.nope": 1},
            SchemaMismatchError,
            "update: place has no field 'nope'; expected one of city, zip, key, inner",
        ),
        ({"place.inner.q": 1}, SchemaMismatchError, r"update: place.inner has no field 'q'; expected one of z"),
        ({"n.x": 1}, SchemaMismatchError, "expected a struct around 'x', got long: set the whole column 'n'"),
        ({"q.x": 1}, SchemaMismatchError, "the table has no column 'q.x' to set"),
        ({"place": "null", "place.city": "'x'"}, ValidationError, "place.city is set twice"),
        ({"place.inner.z": "1", "place.inner": "null"}, ValidationError, "place.inner is set twice"),
        ({"place.zip": "'x'"}, SchemaMismatchError, "value of field 'place.zip' \"'x'\": .*the text 'x' is no int"),
        ({"place.zip": "n / 0"}, ValidationError, "value of field 'place.zip' 'n / 0': .*division by zero"),
        ({"place.city": "nope"}, ResolveError, "value of field 'place.city' 'nope': .*quote it"),
    ],
)
def test_update_of_a_field_refuses_what_it_cannot_do(table, values, error, message):
    before = table.metadata_location
    with pytest.raises(error, match=message):
        table.update("id = 1", values)
    assert table.refresh().metadata_location == before


def test_insert_of_a_field_is_refused(table):
    merge = table.merge(pa.table({"id": [9]}), ["id"]).when_not_matched_insert({"id": "source.id", "place.city": "'x'"})
    with pytest.raises(FeatureUnsupportedError, match=r"an insert of the field place.city .*the whole column 'place'"):
        merge.execute()


def test_update_that_would_make_a_required_field_null_is_refused(catalog):
    fields = [pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.int64())]
    schema = pa.schema([("id", pa.int64()), ("s", pa.struct(fields))])
    table = catalog.create_table("db.required", schema)
    table.append(pa.Table.from_pylist([{"id": 1, "s": {"a": 1, "b": 2}}, {"id": 2, "s": None}], schema))
    assert table.update("id = 1", {"s.b": 3}).rows_updated == 1
    for where, values in (("id = 2", {"s.b": 3}), ("id = 1", {"s.a": None})):
        with pytest.raises(SchemaMismatchError, match="value of column 's': the required field 'a' would be null"):
            table.update(where, values)
    table.update("id = 2", {"s.a": 7, "s.b": 8})
    assert sorted(row["s"]["b"] for row in table.scan().to_arrow().to_pylist()) == [3, 8]


def test_assignments_group_the_fields_of_a_struct():
    columns = {"id": "long", "p": {"x": "int", "q": {"z": "int"}, "x.y": "int"}}
    found = assignments(
        {"p.x": 1, "p.q.z": 2, "id": 3, "p.x.y": 4}, columns, lambda kind: kind if isinstance(kind, dict) else None, "u"
    )
    assert found == {"p": FieldValues({"x": 1, "q": FieldValues({"z": 2}), "x.y": 4}), "id": 3}
