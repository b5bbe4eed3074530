"""Metrics of written files against naive counts: bounds enclose every value, whatever the mode and the row groups."""

from __future__ import annotations

import json
import math
import struct
import tempfile

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe import _core

MODES = ["none", "counts", "truncate(1)", "truncate(3)", "truncate(16)", "full"]
FIELDS = {1: ("number", "double"), 2: ("text", "string"), 3: ("bytes", "binary"), 4: ("whole", "long")}

numbers = st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1.5]) | st.floats(width=64)
letters = st.sampled_from("abé\ud7ff\ue000\uffff\U0001f602\U0010ffff")
texts = st.text(letters, max_size=6)
byte_strings = st.lists(st.sampled_from([0, 1, 127, 128, 254, 255]), max_size=6).map(bytes)
wholes = st.integers(-(2**63), 2**63 - 1)
columns = st.fixed_dictionaries(
    {
        "number": st.lists(st.none() | numbers, min_size=1, max_size=30),
        "text": st.lists(st.none() | texts, min_size=1, max_size=30),
        "bytes": st.lists(st.none() | byte_strings, min_size=1, max_size=30),
        "whole": st.lists(st.none() | wholes, min_size=1, max_size=30),
    }
)
TYPES = {"number": pa.float64(), "text": pa.string(), "bytes": pa.binary(), "whole": pa.int64()}


def written_metrics(values, modes, row_group_bytes):
    rows = max(map(len, values.values()))
    padded = {name: column + [None] * (rows - len(column)) for name, column in values.items()}
    table = pa.table({name: pa.array(column, TYPES[name]) for name, column in padded.items()})
    fields = [{"id": i, "name": name, "required": False, "type": kind} for i, (name, kind) in FIELDS.items()]
    properties = {f"write.metadata.metrics.column.{name}": mode for name, mode in modes.items()}
    with tempfile.TemporaryDirectory() as location:
        files = _core.write_data_files(
            _core.FileIo({}),
            table,
            schema=json.dumps({"type": "struct", "schema-id": 0, "fields": fields}),
            spec=json.dumps({"spec-id": 0, "fields": []}),
            sort_order=None,
            table_location=location,
            properties={**properties, "write.parquet.row-group-size-bytes": str(row_group_bytes)},
            operation_id="op",
            partition_id=0,
            task_id=0,
        )
    (metrics,) = files.to_pylist()
    return padded, {
        name: dict(metrics[name] or ())
        for name in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    }


def in_order(name, value):
    """A value as something that Python orders as the format does."""
    match name:
        case "number":
            # -0.0 comes before 0.0.
            return value, math.copysign(1, value)
        case "text":
            return [ord(letter) for letter in value]
        case _:
            return value


def decoded(name, bound):
    match name:
        case "number":
            return struct.unpack("<d", bound)[0]
        case "whole":
            return struct.unpack("<q", bound)[0]
        case "text":
            return bound.decode()
        case _:
            return bound


@settings(max_examples=150)
@given(
    columns,
    st.fixed_dictionaries({name: st.sampled_from(MODES) for name, _ in FIELDS.values()}),
    st.sampled_from([1, 256, 2**27]),
)
def test_counts_are_exact_and_bounds_enclose(values, modes, row_group_bytes):
    padded, metrics = written_metrics(values, modes, row_group_bytes)
    for field_id, (name, _) in FIELDS.items():
        column, mode = padded[name], modes[name]
        found = {what: of_fields.get(field_id) for what, of_fields in metrics.items()}
        if mode == "none":
            assert set(found.values()) == {None}
            continue
        present = [value for value in column if value is not None]
        ordered = [value for value in present if value == value]  # noqa: PLR0124  what is not NaN
        assert found["value_counts"] == len(column)
        assert found["null_value_counts"] == len(column) - len(present)
        assert found["nan_value_counts"] == (len(present) - len(ordered) if name == "number" else None)
        if mode == "counts" or not ordered:
            assert found["lower_bounds"] is None
            assert found["upper_bounds"] is None
            continue
        keys = [in_order(name, value) for value in ordered]
        lower, upper = found["lower_bounds"], found["upper_bounds"]
        assert in_order(name, decoded(name, lower)) <= min(keys)
        width = int(mode[9:-1]) if mode.startswith("truncate") else None
        if upper is None:
            # Nothing of the prefix can be incremented.
            most = max(ordered, key=lambda value: in_order(name, value))
            top = "\U0010ffff" if name == "text" else b"\xff"
            assert width is not None
            assert len(most) > width
            assert most[:width] == top * width
            continue
        assert in_order(name, decoded(name, upper)) >= max(keys)
        if name in ("number", "whole") or width is None:
            assert (decoded(name, lower), decoded(name, upper)) == (
                min(ordered, key=lambda value: in_order(name, value)),
                max(ordered, key=lambda value: in_order(name, value)),
            )
        else:
            assert len(decoded(name, lower)) <= width
            assert len(decoded(name, upper)) <= width
