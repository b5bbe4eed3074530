"""Transforms: the shared vectors, texts, and agreement of the scalar and the array form."""

from __future__ import annotations

import copy
import json
import pickle
import uuid
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from icefloe.conversions import from_json_value, to_ordinal
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.expressions import Literal, LiteralPredicate
from icefloe.partitioning import PartitionField, PartitionFieldValue, PartitionKey, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import (
    BucketTransform,
    IdentityTransform,
    Transform,
    TruncateTransform,
    UnknownTransform,
    VoidTransform,
    parse_transform,
)
from icefloe.typedef import Record
from icefloe.types import NestedField, PrimitiveType, type_from_text

VECTORS = Path(__file__).parent.parent.parent / "vectors"


def vectors(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    return cases


def plain(kind: PrimitiveType, value: Any) -> Any:
    """Return a value in the form that transforms return."""
    return to_ordinal(kind, value)


@pytest.mark.parametrize("case", vectors("transform"), ids=lambda case: f"{case['transform']}-{case['type']}")
def test_transform_of_a_value_agrees_with_the_vectors(case: dict[str, Any]) -> None:
    source, result = type_from_text(case["type"]), type_from_text(case["result_type"])
    transform = parse_transform(case["transform"])
    if not transform.can_transform(source):
        pytest.fail(f"{transform} must apply to {source}")
    assert str(transform.result_type(source)) == case["result_type"]
    apply = transform.transform(source)
    for value, expected in case["cases"]:
        wanted = plain(result, from_json_value(result, expected)) if expected is not None else None
        assert apply(from_json_value(source, value)) == wanted, (value, expected)


@pytest.mark.parametrize("case", vectors("human"), ids=lambda case: f"{case['transform']}-{case['text']}")
def test_human_text_agrees_with_the_vectors(case: dict[str, Any]) -> None:
    result = type_from_text(case["result_type"])
    value = from_json_value(result, case["value"])
    assert parse_transform(case["transform"]).to_human_string(type_from_text(case["type"]), value) == case["text"]


@pytest.mark.parametrize("case", vectors("transform_name"), ids=lambda case: case["text"])
def test_parse_transform_agrees_with_the_vectors(case: dict[str, Any]) -> None:
    if case.get("valid", True):
        assert str(parse_transform(case["text"])) == case["name"]
    else:
        with pytest.raises(ValidationError):
            parse_transform(case["text"])


@pytest.mark.parametrize("case", vectors("partition_path"), ids=lambda case: case["path"][:40])
def test_partition_path_agrees_with_the_vectors(case: dict[str, Any]) -> None:
    schema, spec = Schema(**case["schema"]), PartitionSpec(**case["spec"])
    kinds = [field.field_type for field in spec.partition_type(schema).fields]
    values = [from_json_value(kind, value) for kind, value in zip(kinds, case["partition"], strict=True)]  # type: ignore[arg-type]
    assert spec.partition_to_path(Record(*values), schema) == case["path"]


def test_pyarrow_transform_keeps_length_and_nulls() -> None:
    result = BucketTransform(16).pyarrow_transform(type_from_text("long"))(pa.array([34, None, -1]))
    assert result.to_pylist() == [3, None, 8]


def test_transform_refuses_types_that_it_does_not_apply_to() -> None:
    with pytest.raises(ValidationError, match=r"bucket\[4\] does not apply to values of type double"):
        BucketTransform(4).transform(type_from_text("double"))
    with pytest.raises(FeatureUnsupportedError, match="zorder: unknown name"):
        UnknownTransform("zorder").transform(type_from_text("int"))
    for width in (0, -1, 2**31):
        with pytest.raises(ValidationError, match="width must be from"):
            TruncateTransform(width)
    with pytest.raises(ValidationError, match="num_buckets must be a whole number"):
        BucketTransform("16")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "value"), [("int", 2**31), ("long", 2**63), ("date", "2017-11-16"), ("string", 5), ("fixed[2]", b"abc")]
)
def test_transform_refuses_values_of_another_type(kind: str, value: Any) -> None:
    with pytest.raises(ValidationError, match="is not a value of type"):
        BucketTransform(4).transform(type_from_text(kind))(value)


def test_identity_returns_the_value_and_void_returns_null() -> None:
    key = uuid.UUID(int=7)
    assert IdentityTransform().transform(type_from_text("uuid"))(key) == key
    assert IdentityTransform().transform(type_from_text("date"))(date(1970, 1, 3)) == 2
    assert VoidTransform().transform(type_from_text("uuid"))(key) is None
    assert IdentityTransform().transform(type_from_text("long"))(None) is None


def test_transform_properties() -> None:
    assert BucketTransform(4).supports_pyarrow_transform
    assert not UnknownTransform("z").supports_pyarrow_transform
    assert [parse_transform(name).dedup_name for name in ("year", "hour", "bucket[4]")] == ["time", "time", "bucket[4]"]
    assert [parse_transform(name).preserves_order for name in ("truncate[2]", "day", "bucket[4]")] == [
        True,
        True,
        False,
    ]
    assert parse_transform("year").granularity > parse_transform("hour").granularity  # type: ignore[attr-defined]


def test_satisfies_order_of_finer_transforms() -> None:
    day, month, identity = parse_transform("day"), parse_transform("month"), parse_transform("identity")
    assert day.satisfies_order_of(month)
    assert not month.satisfies_order_of(day)
    assert identity.satisfies_order_of(month)
    assert not identity.satisfies_order_of(BucketTransform(4))
    assert pickle.loads(pickle.dumps([day, BucketTransform(4), UnknownTransform("z")])) == [
        day,
        BucketTransform(4),
        UnknownTransform("z"),
    ]


def test_partition_key_returns_the_tuple_and_the_path() -> None:
    schema = Schema(NestedField(1, "id", "long"), NestedField(2, "at", "timestamp"))
    spec = PartitionSpec(PartitionField(1, 1000, "bucket[16]", "id_bucket"), PartitionField(2, 1001, "day", "at_day"))
    values = [PartitionFieldValue(spec.fields[0], 34), PartitionFieldValue(spec.fields[1], 86_400_000_000)]
    key = PartitionKey(values, spec, schema)
    assert key.partition == Record(3, 1)
    assert key.to_path() == "id_bucket=3/at_day=1970-01-02"


def test_partition_type_of_a_dropped_source_is_the_result_type_of_the_transform() -> None:
    spec = PartitionSpec(
        PartitionField(9, 1000, "bucket[4]", "b"),
        PartitionField(9, 1001, "day", "d"),
        PartitionField(9, 1002, "identity", "i"),
    )
    schema = Schema(NestedField(1, "a", "int"))
    assert [str(field.field_type) for field in spec.partition_type(schema).fields] == ["int", "date", "unknown"]


def test_spec_without_field_ids_is_numbered_and_round_trips_through_json() -> None:
    spec = PartitionSpec.model_validate(
        {"spec-id": 0, "fields": [{"name": "a", "transform": "Bucket[4]", "source-id": 1}]}
    )
    assert spec.fields[0].field_id == 1000
    assert PartitionSpec.model_validate_json(spec.model_dump_json()) == spec
    for ids in ([], 1):
        with pytest.raises(ValidationError, match="source-ids must be a list"):
            PartitionSpec(fields=[{"name": "a", "transform": "z", "source-ids": ids, "field-id": 1000}])
    with pytest.raises(FeatureUnsupportedError, match="several columns"):
        PartitionSpec(fields=[{"name": "a", "transform": "z", "source-ids": [1, 2], "field-id": 1000}])


def test_spec_of_void_fields_is_unpartitioned() -> None:
    assert PartitionSpec(PartitionField(1, 1000, "void", "a")).is_unpartitioned()
    assert not PartitionSpec(PartitionField(1, 1000, "day", "a")).is_unpartitioned()


@pytest.mark.parametrize("text", ["identity", "day", "void", "bucket[4]", "truncate[3]", "zorder"])
def test_equal_transforms_are_the_same_object(text: str) -> None:
    transform = parse_transform(text)
    assert parse_transform(text) is transform
    assert pickle.loads(pickle.dumps(transform)) is transform
    assert copy.deepcopy(transform) is transform
    assert (transform.root, transform.model_dump_json()) == (text, f'"{text}"')


def test_transform_and_literal_accept_type_parameters_in_annotations() -> None:
    assert Transform[int, int].__origin__ is Transform
    assert Literal[int].__origin__ is Literal
    assert LiteralPredicate[int].__origin__ is LiteralPredicate


def test_transform_parameters_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        BucketTransform(4)._num_buckets = 5
