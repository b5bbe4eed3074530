"""Single values: bytes, JSON, order, and bounds cut to a width."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.conversions import from_bytes, from_json_value, to_bytes, to_json_value
from icefloe.types import type_from_text

from tests.unit.vectors.vector_cases import cases, column, schema_of


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, the sign of a zero included; NaN is itself."""
    if isinstance(left, float) and isinstance(right, float):
        return (math.isnan(left) and math.isnan(right)) or (
            left == right and math.copysign(1, left) == math.copysign(1, right)
        )
    return type(left) is type(right) and left == right


def test_binary_forms_are_those_of_the_vectors() -> None:
    for case in cases("single_value"):
        kind, stored = type_from_text(case["type"]), bytes.fromhex(case["hex"])
        value = from_json_value(kind, case["value"])
        if case["type"] == "float":
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        assert same(from_bytes(kind, stored), value), case
        read = json.loads(_core.single_value_from_bytes(case["type"], stored))
        assert to_bytes(kind, from_json_value(kind, read)) == to_bytes(kind, value), case
        if not case.get("decode_only"):
            assert to_bytes(kind, value) == stored, case
            assert _core.single_value_to_bytes(case["type"], json.dumps(case["value"])) == stored, case
        written = json.loads(json.dumps(to_json_value(kind, value), allow_nan=False))
        assert same(from_json_value(kind, written), value), case


def test_columns_are_sorted_as_in_the_vectors(tmp_path: Path) -> None:
    """Written files have the least and the greatest value as bounds: what order says they are."""
    for number, case in enumerate(cases("order")):
        values = [value for value in case["ascending"] if value != "NaN"]
        if not values or case["type"].endswith("_ns"):
            continue
        for at in range(len(values) - 1):
            pair = column(case["type"], [values[at + 1], values[at]])
            lower, upper = written_bounds(tmp_path / f"{number}-{at}", case["type"], pair, "full")
            kind = type_from_text(case["type"])
            assert json.loads(_core.single_value_from_bytes(case["type"], lower)) == plain(case["type"], values[at])
            assert json.loads(_core.single_value_from_bytes(case["type"], upper)) == plain(case["type"], values[at + 1])
            assert from_bytes(kind, lower) is not None


def plain(kind: str, value: Any) -> Any:
    """The form in which the core writes a JSON single value."""
    return json.loads(_core.single_value_from_bytes(kind, _core.single_value_to_bytes(kind, json.dumps(value))))


def written_bounds(directory: Path, kind: str, values: pa.Array, mode: str) -> tuple[bytes | None, bytes | None]:
    """Write a file of one column and return the bounds in its metrics."""
    written = _core.write_data_files(
        _core.FileIo({}),
        pa.table({"x": values}),
        schema=json.dumps(schema_of(kind)),
        spec=json.dumps({"spec-id": 0, "fields": []}),
        sort_order=None,
        table_location=str(directory),
        properties={"write.metadata.metrics.default": mode},
        operation_id="op",
        partition_id=0,
        task_id=0,
    )
    (row,) = written.to_pylist()
    return dict(row["lower_bounds"] or []).get(1), dict(row["upper_bounds"] or []).get(1)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 16])
def test_written_bounds_are_cut_as_in_the_vectors(tmp_path: Path, width: int) -> None:
    for number, case in enumerate(case for case in cases("bound_truncation") if case["width"] == width):
        kind = case["type"]
        value = column(kind, [case["value"]])
        lower, upper = written_bounds(tmp_path / str(number), kind, value, f"truncate({width})")
        assert lower == _core.single_value_to_bytes(kind, json.dumps(case["lower"])), case
        expected = None if case["upper"] is None else _core.single_value_to_bytes(kind, json.dumps(case["upper"]))
        assert upper == expected, case
