"""Types: their texts, their JSON, their identity."""

from __future__ import annotations

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
def test_type_survives_json_and_pickle(kind: IcebergType) -> None:
    assert type_from_json(kind.to_json_value()) == kind
    assert pickle.loads(pickle.dumps(kind)) == kind
    assert hash(type_from_json(kind.to_json_value())) == hash(kind)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_type_is_a_singleton_spelled_as_in_the_spec(text: str) -> None:
    assert str(type_from_text(text)) == text
    assert type(type_from_text(text))() is type_from_text(text)


@pytest.mark.parametrize("text", ["decimal(9,2)", "decimal(9, 2)", "decimal( 9 , 2 )"])
def test_decimal_is_read_with_any_spaces_and_written_with_one(text: str) -> None:
    assert str(type_from_text(text)) == "decimal(9, 2)"


@pytest.mark.parametrize("text", ["decimal(39,2)", "decimal(2,3)", "fixed[0]", "fixed", "", "decimal(9;2)"])
def test_impossible_type_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        type_from_text(text)


def test_variant_is_refused_as_unsupported() -> None:
    with pytest.raises(FeatureUnsupportedError, match="variant"):
        type_from_text("variant")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"id": 1, "name": "a", "type": "int"}, "`required` of field 'a' is missing"),
        ({"id": "1", "name": "a", "type": "int", "required": True}, "`id` of field 'a' must be an integer"),
        ({"id": True, "name": "a", "type": "int", "required": True}, "`id` of field 'a' must be an integer"),
        ({"id": 1, "type": "int", "required": True}, "`name` of a field is missing"),
        ({"id": 1, "name": "a", "required": True}, "a type is text or an object"),
        ({"id": 1, "name": "a", "required": True, "type": {"type": "list"}}, "`element-id` of a list is missing"),
    ],
)
def test_field_says_what_is_missing_or_of_the_wrong_kind(value: object, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        field_from_json(value)


def test_types_nested_beyond_reason_are_refused() -> None:
    value: object = "int"
    for _ in range(500):
        value = {"type": "list", "element-id": 1, "element-required": True, "element": value}
    with pytest.raises(ValidationError, match="nested"):
        type_from_json(value)


def test_field_takes_the_names_that_pyiceberg_takes() -> None:
    assert NestedField(field_id=1, name="a", field_type="long") == NestedField(id=1, name="a", type=LongType())
    assert NestedField(1, "a", StringType()).optional
