"""Transforms, of one value and of columns, their texts, and the hash that buckets are made of."""

from __future__ import annotations

from typing import Any

import pytest
from icefloe import _core
from icefloe.conversions import from_json_value, to_ordinal
from icefloe.exceptions import ValidationError
from icefloe.transforms import parse_transform
from icefloe.types import type_from_text

from tests.unit.vectors.vector_cases import cases, column

LARGEST = 2**31 - 1
NOT_BUCKETED = {"boolean", "float", "double"}


@pytest.mark.parametrize("case", cases("transform"), ids=lambda case: f"{case['transform']}-{case['type']}")
def test_one_value_and_a_column_give_the_results_of_the_vectors(case: dict[str, Any]) -> None:
    source, transform = type_from_text(case["type"]), parse_transform(case["transform"])
    assert transform.can_transform(source) == case.get("valid", True)
    if not transform.can_transform(source):
        with pytest.raises(ValidationError):
            transform.transform(source)
        return
    result = type_from_text(case["result_type"])
    assert str(transform.result_type(source)) == case["result_type"]
    apply = transform.transform(source)
    for value, expected in case["cases"]:
        wanted = to_ordinal(result, from_json_value(result, expected))
        found = apply(from_json_value(source, value))
        if case["type"] != "float":  # in Python a float is a double
            assert repr(found) == repr(wanted), (value, expected)
    values, results = zip(*case["cases"], strict=True)
    column_found = _core.transform(column(case["type"], list(values)), case["transform"], case["type"])
    expected_column = column(case["result_type"], list(results))
    assert column_found.type == expected_column.type
    assert repr(column_found.to_pylist()) == repr(expected_column.to_pylist())


@pytest.mark.parametrize("kind", sorted({case["type"] for case in cases("hash")} - NOT_BUCKETED))
def test_buckets_show_the_hashes_of_the_vectors(kind: str) -> None:
    rows = [case for case in cases("hash") if case["type"] == kind]
    found = _core.transform(column(kind, [row["value"] for row in rows]), f"bucket[{LARGEST}]", kind)
    assert found.to_pylist() == [(row["hash"] & LARGEST) % LARGEST for row in rows]


def test_human_text_is_that_of_the_vectors() -> None:
    different = []
    for case in cases("human"):
        value = from_json_value(type_from_text(case["result_type"]), case["value"])
        found = parse_transform(case["transform"]).to_human_string(type_from_text(case["type"]), value)
        if found != case["text"]:
            different.append((case, found))
    assert not different, "\n".join(map(str, different))


@pytest.mark.parametrize("case", cases("transform_name"), ids=lambda case: case["text"])
def test_text_is_parsed_as_in_the_vectors(case: dict[str, Any]) -> None:
    if case.get("valid", True):
        assert str(parse_transform(case["text"])) == case["name"]
    else:
        with pytest.raises(ValidationError):
            parse_transform(case["text"])
