"""Schemas: lookup, selection, renumbering and JSON."""

from __future__ import annotations

import pickle

import pyiceberg.schema as theirs
import pytest
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.schema import (
    Schema,
    assign_fresh_schema_ids,
    make_compatible_name,
    promote,
    prune_columns,
    sanitize_column_names,
)
from icefloe.types import (
    DecimalType,
    ListType,
    MapType,
    NestedField,
    StructType,
    type_from_text,
)


@pytest.fixture(scope="module")
def schema() -> Schema:
    point = StructType(NestedField(11, "x", "double", required=True), NestedField(12, "y", "double"))
    return Schema(
        NestedField(10, "id", "long", required=True, doc="key"),
        NestedField(20, "where", point),
        NestedField(30, "tags", ListType(31, "string", element_required=False)),
        NestedField(40, "places", MapType(41, "string", 42, point_of(50), value_required=False)),
        schema_id=3,
        identifier_field_ids=[10],
    )


def point_of(first_id: int) -> StructType:
    return StructType(NestedField(first_id, "x", "double"), NestedField(first_id + 1, "y", "double"))


def test_pyiceberg_reads_the_schema_json(schema: Schema) -> None:
    other = theirs.Schema.model_validate_json(schema.model_dump_json())
    assert Schema.model_validate_json(other.model_dump_json()) == schema
    assert other.schema_id == schema.schema_id
    assert other.identifier_field_ids == [10]


def test_schema_round_trips_through_pickle_and_json(schema: Schema) -> None:
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert Schema.model_validate_json(schema.model_dump_json()) == schema


@pytest.mark.parametrize(
    ("name", "field_id"),
    [
        ("id", 10),
        ("where.y", 12),
        ("tags.element", 31),
        ("places.key", 41),
        ("places.value", 42),
        ("places.value.x", 50),
        ("places.x", 50),
    ],
)
def test_find_field_accepts_full_and_short_names(schema: Schema, name: str, field_id: int) -> None:
    assert schema.find_field(name).field_id == field_id
    assert schema.find_field(name.upper(), case_sensitive=False).field_id == field_id


def test_find_column_name_returns_the_full_name(schema: Schema) -> None:
    assert schema.find_column_name(50) == "places.value.x"
    assert schema.find_column_name(99) is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [("ID", r"did you mean id\?"), ("wher", r"did you mean where\?"), ("nothing", "columns are id, where")],
)
def test_find_field_error_suggests_similar_names(schema: Schema, name: str, hint: str) -> None:
    with pytest.raises(ResolveError, match=f"Could not find field with name {name}, case_sensitive=True; {hint}"):
        schema.find_field(name)


def test_find_field_refuses_names_that_are_ambiguous_without_case() -> None:
    schema = Schema(NestedField(1, "a", "int"), NestedField(2, "A", "int"))
    assert schema.find_field("A").field_id == 2
    with pytest.raises(ResolveError, match="ambiguous"):
        schema.find_field("a", case_sensitive=False)


def test_schema_refuses_duplicate_ids_and_names() -> None:
    with pytest.raises(ValidationError, match="field id 1 is used by both 'a' and 'b'"):
        Schema(NestedField(1, "a", "int"), NestedField(1, "b", "int"))
    with pytest.raises(ValidationError, match="Invalid schema, multiple fields for name a: 1 and 2"):
        Schema(NestedField(1, "a", "int"), NestedField(2, "a", "int"))


@pytest.mark.parametrize(
    ("kind", "required", "why"),
    [
        ("int", False, "required"),
        ("double", True, "must not be float or double field"),
        (ListType(5, "int"), True, "primitive"),
    ],
)
def test_schema_refuses_invalid_identifier_fields(kind: object, required: bool, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Schema(NestedField(1, "a", kind, required=required), identifier_field_ids=[1])


def test_select_keeps_parents_and_children(schema: Schema) -> None:
    assert schema.select("where.y", "tags").field_ids == {20, 12, 30, 31}
    assert schema.select("where").field_ids == {20, 11, 12}
    assert schema.select("*") is schema
    with pytest.raises(ResolveError):
        schema.select("nope")


def test_prune_columns_without_full_types_keeps_only_selected_fields(schema: Schema) -> None:
    assert prune_columns(schema, {20}, select_full_types=False).field_ids == {20}


def test_assign_fresh_schema_ids_numbers_level_by_level(schema: Schema) -> None:
    fresh = assign_fresh_schema_ids(schema)
    names = {fresh.find_column_name(field_id): field_id for field_id in sorted(fresh.field_ids)}
    assert list(names) == [
        "id", "where", "tags", "places",
        "where.x", "where.y", "tags.element", "places.key", "places.value", "places.value.x", "places.value.y",
    ]  # fmt: skip
    assert list(names.values()) == list(range(1, 12))
    assert fresh.identifier_field_ids == [1]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("9x", "_9x"),
        ("a.b", "a_x2Eb"),
        ("☃", "_x2603"),
        ("a#b", "a_x23b"),
        ("incompatible-name", "incompatible_x2Dname"),
        ("ok_1", "ok_1"),
    ],
)
def test_make_compatible_name_agrees_with_the_java_reference(name: str, safe: str) -> None:
    assert make_compatible_name(name) == safe
    assert sanitize_column_names(Schema(NestedField(1, name, "int"))).fields[0].name == safe


@pytest.mark.parametrize(
    ("file", "read"), [("int", "long"), ("float", "double"), ("decimal(9, 2)", "decimal(18, 2)"), ("date", "date")]
)
def test_promote_returns_the_read_type(file: str, read: str) -> None:
    assert promote(type_from_text(file), type_from_text(read)) == type_from_text(read)


@pytest.mark.parametrize(
    ("file", "read"), [("long", "int"), ("int", "double"), ("decimal(9, 2)", "decimal(18, 3)"), ("int", "string")]
)
def test_promote_refuses_other_types(file: str, read: str) -> None:
    with pytest.raises(ResolveError, match="Cannot promote"):
        promote(type_from_text(file), type_from_text(read))


def test_schema_refuses_types_of_a_later_format_version() -> None:
    schema = Schema(NestedField(1, "t", "timestamp_ns"), NestedField(2, "d", DecimalType(9, 2)))
    schema.check_format_version_compatibility(3)
    with pytest.raises(ValidationError, match="column t: timestamp_ns needs format version 3"):
        schema.check_format_version_compatibility(2)


def test_accessor_returns_values_in_structs_and_none_for_null_structs(schema: Schema) -> None:
    accessor = schema.accessor_for_field(12)
    assert accessor.get((1, (0.5, 1.5), [], {})) == 1.5
    assert accessor.get((1, None, [], {})) is None
    with pytest.raises(ResolveError, match=r"Could not find accessor for field with id: 31"):
        schema.accessor_for_field(31)


def test_schema_copy_has_the_json_of_its_own_attributes() -> None:
    schema = Schema(NestedField(1, "id", "long"), schema_id=1)
    before = schema.model_dump_json()
    copied = schema.model_copy(update={"schema_id": 2})
    renamed = schema.model_copy(update={"fields": (NestedField(1, "key", "long"),)})
    assert copied.model_dump_json() == before.replace('"schema-id":1', '"schema-id":2')
    assert renamed.find_field("key").field_id == 1
    assert schema.model_dump_json() == before
