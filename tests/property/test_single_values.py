"""Single values: bytes and JSON round-trip, and Python and the core agree on values, bytes, JSON and order."""

from __future__ import annotations

import json
import math
import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe import _core
from icefloe.conversions import from_bytes, from_json_value, to_bytes, to_json_value
from icefloe.exceptions import IcebergError
from icefloe.types import type_from_text

from tests.property.documents import MICROS_PER_DAY, is_no_nan, ordinals, primitive_types

bounded = settings(max_examples=150)


def native(kind: str, ordinal: Any) -> Any:
    """Return the Python value of an ordinal: decimals have a scale."""
    if kind.startswith("decimal"):
        scale = int(kind[:-1].split(",")[1])
        return Decimal((int(ordinal < 0), tuple(map(int, str(abs(ordinal)))), -scale))
    return ordinal


def typed_values() -> st.SearchStrategy[tuple[str, Any]]:
    return primitive_types.flatmap(lambda kind: st.tuples(st.just(kind), ordinals(kind)))


def same(left: Any, right: Any) -> bool:
    return left == right or (isinstance(left, float) and math.isnan(left) and math.isnan(right))


@bounded
@given(typed_values())
def test_bytes_round_trip_in_python_and_the_core(case: tuple[str, Any]) -> None:
    kind, value = type_from_text(case[0]), native(*case)
    stored = to_bytes(kind, value)
    assert same(from_bytes(kind, stored), value)
    crossed = json.loads(_core.single_value_from_bytes(case[0], stored))
    assert same(from_json_value(kind, crossed), value)
    if is_no_nan(value):  # many NaN bit patterns have one text
        assert _core.single_value_to_bytes(case[0], json.dumps(crossed)) == stored


@bounded
@given(typed_values())
def test_json_round_trips_in_python_and_the_core(case: tuple[str, Any]) -> None:
    kind, value = type_from_text(case[0]), native(*case)
    written = json.dumps(to_json_value(kind, value), allow_nan=False)
    assert same(from_json_value(kind, json.loads(written)), value)
    if is_no_nan(value):
        assert _core.single_value_to_bytes(case[0], written) == to_bytes(kind, value)


def python_value(kind: str, stored: bytes) -> Any:
    """Return the value of bytes in Python; None if they are refused."""
    try:
        return from_bytes(type_from_text(kind), stored)
    except IcebergError:
        return None


def core_value(kind: str, stored: bytes) -> Any:
    """Return the JSON value of bytes in the core; None if they are refused."""
    try:
        return json.loads(_core.single_value_from_bytes(kind, stored))
    except IcebergError:
        return None


def accepted_by_the_core_alone(kind: str, stored: bytes) -> bool:
    """Return whether bytes are a truncated bound of a fixed column, or a 128-bit integer of more digits than a decimal."""
    if kind.startswith("fixed"):
        return len(stored) < int(kind[6:-1])
    return kind.startswith("decimal") and 10**38 <= abs(int.from_bytes(stored, "big", signed=True)) < 2**127


def is_time_of_another_day(kind: str, value: Any) -> bool:
    """Return whether a value is microseconds that no time of day has: the core refuses their bytes."""
    return kind == "time" and not 0 <= value < MICROS_PER_DAY


any_bytes = st.one_of(st.binary(max_size=20), *(st.binary(min_size=size, max_size=size) for size in (4, 8, 16)))


@bounded
@given(primitive_types, any_bytes)
def test_bytes_are_accepted_by_python_and_the_core_alike(kind: str, stored: bytes) -> None:
    value = python_value(kind, stored)
    accepted = value is not None and not is_time_of_another_day(kind, value)
    assert (core_value(kind, stored) is not None) == (accepted or accepted_by_the_core_alone(kind, stored))


@bounded
@given(primitive_types, any_bytes)
def test_bytes_have_the_same_value_in_python_and_the_core(kind: str, stored: bytes) -> None:
    value, crossed = python_value(kind, stored), core_value(kind, stored)
    if value is None:
        return
    if kind.startswith("decimal"):
        # A bound may have more digits than the type; its JSON value is refused then.
        assert Decimal(crossed) == value
    elif is_time_of_another_day(kind, value):
        assert crossed is None
    else:
        assert same(from_json_value(type_from_text(kind), crossed), value)


def key_of(kind: str) -> Any:
    """Return the key by which Python orders a type's ordinals as the specification does."""
    if kind in {"float", "double"}:
        return lambda value: (value, math.copysign(1.0, value))
    keys = {"string": str.encode, "uuid": lambda value: value.bytes}
    return keys.get(kind, lambda value: value)


ORDERED = ["boolean", "int", "long", "date", "time", "timestamp", "string", "uuid", "binary", "fixed[3]", "double"]
ORDERED += ["decimal(9, 2)", "decimal(38, 10)", "float"]
ARROW = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "string": pa.string(),
    "uuid": pa.binary(16),
    "binary": pa.binary(),
    "fixed[3]": pa.binary(3),
    "double": pa.float64(),
    "float": pa.float32(),
    "decimal(9, 2)": pa.decimal128(9, 2),
    "decimal(38, 10)": pa.decimal128(38, 10),
}


@pytest.mark.parametrize("kind", ORDERED)
@settings(max_examples=15)
@given(data=st.data())
def test_bounds_of_a_written_file_are_the_extremes_in_python(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    values = data.draw(st.lists(ordinals(kind).filter(is_no_nan), min_size=1, max_size=6))
    plain = [native(kind, value) for value in values]
    column = [value.bytes if isinstance(value, uuid.UUID) else value for value in plain]
    written = _core.write_data_files(
        _core.FileIo({}),
        pa.table({"x": pa.array(column, ARROW[kind])}),
        schema=json.dumps({"type": "struct", "fields": [{"id": 1, "name": "x", "required": False, "type": kind}]}),
        spec=json.dumps({"spec-id": 0, "fields": []}),
        sort_order=None,
        table_location=str(tmp_path_factory.mktemp("t")),
        properties={"write.metadata.metrics.default": "full"},
        operation_id="op",
        partition_id=0,
        task_id=0,
    )
    (row,) = written.to_pylist()
    ordered = sorted(values, key=key_of(kind))
    least, greatest = (native(kind, ordered[at]) for at in (0, -1))
    found = [from_bytes(type_from_text(kind), dict(row[name])[1]) for name in ("lower_bounds", "upper_bounds")]
    assert found == [least, greatest]
    if kind in {"float", "double"} and found[0] == 0.0:
        assert math.copysign(1.0, found[0]) == -1.0
