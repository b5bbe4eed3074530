"""Types: text, JSON and identity."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.types import (
    DecimalType,
    FixedType,
    IcebergType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    field_from_json,
    type_from_json,
    type_from_text,
)

PLAIN = [
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timestamp_ns",
    "timestamptz_ns",
    "string",
    "uuid",
    "binary",
    "unknown",
]

primitives = st.one_of(
    st.sampled_from(PLAIN).map(type_from_text),
    st.integers(1, 38).flatmap(
        lambda precision: st.integers(0, precision).map(lambda scale: DecimalType(precision, scale))
    ),
    st.integers(1, 1000).map(FixedType),
)


def nested(inner: st.SearchStrategy[IcebergType]) -> st.SearchStrategy[IcebergType]:
    ids = st.integers(1, 10_000)
    field = st.builds(
        NestedField, ids, st.text(min_size=1, max_size=5), inner, st.booleans(), st.none() | st.text(max_size=5)
    )
    return st.one_of(
        st.lists(field, max_size=4).map(lambda fields: StructType(*fields)),
        st.builds(ListType, ids, inner, st.booleans()),
        st.builds(MapType, ids, inner, ids, inner, st.booleans()),
    )


any_type = st.recursive(primitives, nested, max_leaves=10)


@given(any_type)
def test_type_round_trips_through_json_and_pickle(kind: IcebergType) -> None:
    assert type_from_json(kind.to_json_value()) == kind
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert hash(type_from_json(kind.to_json_value())) == hash(kind)


@pytest.mark.parametrize("text", PLAIN)
def test_type_without_parameters_is_a_singleton_with_the_name_of_the_spec(text: str) -> None:
    assert str(type_from_text(text)) == text
    assert type(type_from_text(text))() is type_from_text(text)


@pytest.mark.parametrize("text", ["decimal(9,2)", "decimal(9, 2)", "decimal( 9 , 2 )"])
def test_decimal_text_accepts_any_spaces_and_has_one(text: str) -> None:
    assert str(type_from_text(text)) == "decimal(9, 2)"


@pytest.mark.parametrize(
    "text", ["decimal(39,2)", "decimal(0,0)", "decimal(9,200)", "fixed[0]", "fixed", "", "decimal(9;2)"]
)
def test_type_from_text_refuses_invalid_types(text: str) -> None:
    with pytest.raises(ValidationError):
        type_from_text(text)


def test_type_from_text_refuses_variant_as_unsupported() -> None:
    with pytest.raises(FeatureUnsupportedError, match="variant"):
        type_from_text("variant")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"id": 1, "name": "a", "type": "int"}, "`required` of field 'a' is missing"),
        ({"id": "1", "name": "a", "type": "int", "required": True}, "`id` of field 'a' must be an integer"),
        ({"id": True, "name": "a", "type": "int", "required": True}, "`id` of field 'a' must be an integer"),
        ({"id": 1, "type": "int", "required": True}, "`name` of a field is missing"),
        ({"id": 1, "name": "a", "required": True}, "expected text or an object, got None"),
        ({"id": 1, "name": "a", "required": True, "type": {"type": "list"}}, "`element-id` of a list is missing"),
    ],
)
def test_field_error_names_the_key_and_the_field(value: object, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        field_from_json(value)


def test_type_from_json_refuses_deep_nesting() -> None:
    value: object = "int"
    for _ in range(500):
        value = {"type": "list", "element-id": 1, "element-required": True, "element": value}
    with pytest.raises(ValidationError, match="nested"):
        type_from_json(value)


def test_field_accepts_the_keywords_of_pyiceberg() -> None:
    assert NestedField(field_id=1, name="a", field_type="long") == NestedField(id=1, name="a", type=LongType())
    assert NestedField(1, "a", StringType()).optional


def test_fixed_of_the_greatest_length_is_read_as_it_is_written():
    assert type_from_text(str(FixedType(2**31 - 1))) == FixedType(2**31 - 1)


@pytest.mark.parametrize("kind", [DecimalType(9, 2), FixedType(3), LongType(), type_from_text("geometry(EPSG:4326)")])
def test_equal_primitive_types_are_the_same_object(kind: IcebergType) -> None:
    assert type_from_text(str(kind)) is kind
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert copy.deepcopy(kind) is kind


def test_primitive_type_parameters_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        DecimalType(9, 2).precision = 10


def test_nested_types_accept_json_keys_as_keywords() -> None:
    field = NestedField(id=1, name="a", type="long", required=True)
    assert field == NestedField(1, "a", LongType(), required=True)
    assert StructType(type="struct", fields=[field.to_json_value()]) == StructType(field)
    assert ListType(**{"type": "list", "element-id": 2, "element": "string", "element-required": False}) == ListType(
        2, StringType(), element_required=False
    )
    assert MapType(key_id=2, key="string", value_id=3, value="long") == MapType(2, StringType(), 3, LongType())


def test_nested_type_refuses_unknown_keywords() -> None:
    with pytest.raises(ValidationError, match="unknown properties of a list: element-typ"):
        ListType(2, "string", **{"element-typ": 1})
    with pytest.raises(ValidationError, match="`type` of a map must be 'map'"):
        MapType(2, "string", 3, "long", type="list")


def test_types_print_as_pyiceberg_prints_them() -> None:
    assert repr(ListType(2, "string")) == (
        "ListType(type='list', element_id=2, element_type=StringType(), element_required=True)"
    )
    assert repr(NestedField(1, "a", "long", doc="d")) == (
        "NestedField(field_id=1, name='a', field_type=LongType(), required=False)"
    )


def test_nested_types_have_the_methods_of_pydantic_models() -> None:
    struct = StructType(NestedField(1, "a", "long"))
    assert StructType.model_validate_json(struct.model_dump_json()) == struct
    assert struct.fields[0].model_copy(update={"name": "b"}) == NestedField(1, "b", "long")
    with pytest.raises(ValidationError, match="not JSON"):
        StructType.model_validate_json("{")
