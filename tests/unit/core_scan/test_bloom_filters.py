"""Row groups whose bloom filters say that a value is absent are not read."""

from __future__ import annotations

import datetime as dt
import json
import random
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from icefloe import _core

from tests.unit.scan_tables import DELETES, FILES, ID, arrow_field, context, field, leaf, read, schema, task, write

pytestmark = pytest.mark.recent_pyarrow


def explain(location: str, residual: dict[str, Any], current: dict[str, Any]) -> dict[str, Any]:
    files = pa.RecordBatch.from_pylist([task(location, residual=json.dumps(residual))], FILES)
    deletes = pa.RecordBatch.from_pylist([], DELETES)
    [found] = _core.explain_read(
        _core.FileIo({}), context(current), files, deletes, projection=json.dumps(current)
    ).to_pylist()
    return found


def decimal(precision: int) -> tuple[pa.DataType, Any, str]:
    scale = Decimal(10) ** (precision - 7)
    return pa.decimal128(precision, 2), lambda n: (n - 1000) * scale / 4, f"decimal({precision}, 2)"


MILLIS = dt.timedelta(milliseconds=1)
# Written type, the value of a number, the table's type.
KINDS: dict[str, tuple[pa.DataType, Any, str]] = {
    "int": (pa.int32(), lambda n: n - 1000, "int"),
    "long": (pa.int64(), lambda n: (n - 1000) * 10**12, "long"),
    "int as long": (pa.int32(), lambda n: n - 1000, "long"),
    "string": (pa.string(), lambda n: f"v{n}", "string"),
    "binary": (pa.binary(), lambda n: n.to_bytes(3, "big"), "binary"),
    "fixed": (pa.binary(5), lambda n: n.to_bytes(5, "big"), "fixed[5]"),
    "uuid": (pa.binary(16), lambda n: uuid.UUID(int=n * 10**20).bytes, "uuid"),
    "date": (pa.date32(), lambda n: dt.date(2000, 1, 1) + dt.timedelta(n), "date"),
    "time": (pa.time64("us"), lambda n: (dt.datetime(2000, 1, 1) + dt.timedelta(seconds=n)).time(), "time"),
    "timestamp": (pa.timestamp("us"), lambda n: dt.datetime(2000, 1, 1) + n * MILLIS, "timestamp"),
    "milliseconds": (pa.timestamp("ms"), lambda n: dt.datetime(2000, 1, 1) + n * MILLIS, "timestamp"),
    "decimal(8, 2)": decimal(8),
    "decimal(16, 2)": decimal(16),
    "decimal(30, 2)": decimal(30),
}


def text(value: Any, kind: str) -> Any:
    if kind == "uuid":
        return str(uuid.UUID(bytes=value))
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def file(folder: Path, kind: str, **options: Any) -> tuple[str, list[Any]]:
    """1,000 rows in four row groups: every second of 2,000 values, in any order."""
    arrow, make, _ = KINDS[kind]
    numbers = list(range(0, 2000, 2))
    random.Random(kind).shuffle(numbers)
    values = [make(n) for n in numbers]
    filters = {"v": {"ndv": 250, "fpp": 0.001}}
    columns = {arrow_field(1, "id", pa.int64()): list(range(1000)), arrow_field(2, "v", arrow): values}
    return write(
        folder / "v.parquet", columns, row_group_size=250, **{"bloom_filter_options": filters, **options}
    ), values


@pytest.mark.parametrize("stored", ["bytes", "integers"])
@pytest.mark.parametrize("kind", KINDS)
def test_row_groups_without_a_value_are_not_read(tmp_path: Path, kind: str, stored: str) -> None:
    _, make, written = KINDS[kind]
    location, values = file(tmp_path, kind, store_decimal_as_integer=stored == "integers")
    current = schema(ID, field(2, "v", written))
    kept = {"present": 0, "absent": 0}
    for n in range(900, 940):
        value = make(n)
        sought = leaf("eq", "v", text(value, written))
        found = explain(location, sought, current)
        kept["absent" if n % 2 else "present"] += found["row_groups_kept"]
        assert "bloom filter" in (found["reason"] or "")
        rows = read([task(location, residual=json.dumps(sought))], current, projection=schema(ID))
        assert rows["id"].to_pylist() == [row for row, has in enumerate(values) if has == value]
    assert 20 <= kept["present"] <= 24
    assert kept["absent"] <= 4


def test_sets_and_trees_of_conditions(tmp_path: Path) -> None:
    location, _ = file(tmp_path, "string")
    current = schema(ID, field(2, "v", "string"))
    absent, present = leaf("eq", "v", "v901"), leaf("eq", "v", "v902")
    some, every = leaf("gt-eq", "id", 300), leaf("gt-eq", "id", -1)
    cases = [
        ({"type": "in", "term": "v", "values": ["v901", "v903"]}, 0),
        ({"type": "in", "term": "v", "values": ["v901", "v902"]}, 1),
        ({"type": "and", "left": every, "right": absent}, 0),
        ({"type": "or", "left": absent, "right": present}, 1),
        ({"type": "or", "left": absent, "right": some}, 4),
        ({"type": "not", "child": absent}, 4),
        ({"type": "not-in", "term": "v", "values": ["v901", "v902"]}, 4),
    ]
    for predicate, groups in cases:
        assert explain(location, predicate, current)["row_groups_kept"] == groups, predicate


def test_integer_that_the_file_cannot_hold_is_absent(tmp_path: Path) -> None:
    location, _ = file(tmp_path, "int as long")
    current = schema(ID, field(2, "v", "long"))
    sought = {"type": "in", "term": "v", "values": [-(2**40), 2**40]}
    assert explain(location, sought, current)["row_groups_kept"] == 0


def test_filters_are_not_asked_of_floats(tmp_path: Path) -> None:
    columns = {arrow_field(1, "v", pa.float64()): [-1.0, -0.0, 1.0]}
    location = write(tmp_path / "v.parquet", columns, bloom_filter_options={"v": {"ndv": 10, "fpp": 0.01}})
    current = schema(field(1, "v", "double"))
    assert read([task(location, residual=json.dumps(leaf("eq", "v", 0.0)))], current).num_rows == 1


def test_damaged_filter_rules_nothing_out(tmp_path: Path) -> None:
    location, values = file(tmp_path, "string")
    clean = Path(location).read_bytes()
    current = schema(ID, field(2, "v", "string"))
    filters = [at for at in range(len(clean)) if clean.startswith(HEADER, at)]
    assert len(filters) == 4
    damaged = bytearray(clean)
    for at in filters:
        damaged[at : at + len(HEADER)] = b"\xff" * len(HEADER)
    Path(location).write_bytes(damaged)
    sought = json.dumps(leaf("eq", "v", "v902"))
    rows = read([task(location, residual=sought)], current, projection=schema(ID))
    assert rows["id"].to_pylist() == [values.index("v902")]


# Algorithm, hash and compression of a filter, each a union of one empty struct.
HEADER = bytes([0x1C, 0x1C, 0x00, 0x00, 0x1C, 0x1C, 0x00, 0x00, 0x1C, 0x1C, 0x00, 0x00])
