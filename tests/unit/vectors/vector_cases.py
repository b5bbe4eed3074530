"""The shared vectors, and the values in them as Arrow columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from icefloe import _core
from icefloe.conversions import from_json_value
from icefloe.types import type_from_text

VECTORS = Path(__file__).parents[2] / "vectors"
ARROW = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", "UTC"),
    "string": pa.string(),
    "uuid": pa.binary(16),
    "binary": pa.binary(),
}


def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file, then the cases of the reference."""
    found: list[dict[str, Any]] = []
    paths = [VECTORS / f"{name}.json", VECTORS / "reference" / f"{name}.json"]
    assert any(path.exists() for path in paths), name
    for path in paths:
        if path.exists():
            found += json.loads(path.read_text(encoding="utf-8"))
    return found


def arrow_type(name: str) -> pa.DataType:
    """Return the Arrow type of an Iceberg type's name."""
    if name.startswith("decimal"):
        precision, scale = name[8:-1].split(",")
        return pa.decimal128(int(precision), int(scale))
    return pa.binary(int(name[6:-1])) if name.startswith("fixed") else ARROW[name]


def column(name: str, values: list[Any]) -> pa.Array:
    """Return JSON single values as a column."""
    kind, target = type_from_text(name), arrow_type(name)
    native = [from_json_value(kind, value) for value in values]
    if name == "uuid":
        native = [value if value is None else value.bytes for value in native]
    if pa.types.is_temporal(target):
        return pa.array(native, pa.int32() if name == "date" else pa.int64()).view(target)
    return pa.array(native, target)


def schema_of(kind: str, *, required: bool = False) -> dict[str, Any]:
    """Return the schema of one column x."""
    return {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": required, "type": kind}]}


def read_context(schema: dict[str, Any], specs: list[dict[str, Any]]) -> str:
    """Return what the planner needs to know of a table."""
    return json.dumps({"schema": schema, "schemas": [schema], "partition-specs": specs})


def bound(predicate: Any, schema: dict[str, Any]) -> Any:
    """Return a predicate bound to a schema, as JSON."""
    return json.loads(_core.validate_filter(read_context(schema, []), json.dumps(predicate)))
