"""Single values: both forms give them back, and Rust and Python give the same forms and the same order."""

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

from tests.property.documents import is_no_nan, ordinals, primitive_types

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
def test_bytes_give_the_value_back(case: tuple[str, Any]) -> None:
    kind, value = type_from_text(case[0]), native(*case)
    stored = to_bytes(kind, value)
    assert same(from_bytes(kind, stored), value)
    crossed = json.loads(_core.single_value_from_bytes(case[0], stored))
    assert same(from_json_value(kind, crossed), value)
    if is_no_nan(value):  # there are many NaN, and one text
        assert _core.single_value_to_bytes(case[0], json.dumps(crossed)) == stored


@bounded
@given(typed_values())
def test_json_gives_the_value_back(case: tuple[str, Any]) -> None:
    kind, value = type_from_text(case[0]), native(*case)
    written = json.dumps(to_json_value(kind, value), allow_nan=False)
    assert same(from_json_value(kind, json.loads(written)), value)
    if is_no_nan(value):
        assert _core.single_value_to_bytes(case[0], written) == to_bytes(kind, value)


@bounded
@given(primitive_types, st.binary(max_size=20))
def test_any_bytes_are_read_alike_or_refused_by_both(kind: str, stored: bytes) -> None:
    try:
        ours = from_bytes(type_from_text(kind), stored)
    except IcebergError:
        ours = None
    try:
        theirs = _core.single_value_from_bytes(kind, stored)
    except IcebergError:
        theirs = None
    if kind.startswith(("date", "time", "decimal", "fixed")):
        return  # Python has no dates so far away; decimals may have too many digits, a fixed bound too few bytes
    assert (ours is None) == (theirs is None)
    if theirs is not None:
        assert same(ours, from_json_value(type_from_text(kind), json.loads(theirs)))


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
def test_bounds_of_a_written_file_are_the_ends_of_pythons_order(
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
