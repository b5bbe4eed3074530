"""Pages that the page index rules out are not decoded, and no wanted row is lost by it."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe import _core

from tests.unit.scan_tables import (
    DELETES,
    FILES,
    ID,
    NAME,
    POS,
    arrow_field,
    context,
    delete_file,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    task,
    write,
)

pytestmark = pytest.mark.recent_pyarrow

SMALL = {"write_page_index": True, "max_rows_per_page": 10, "write_batch_size": 5, "use_dictionary": False}
BOTH = schema(ID, NAME)


def explain(tasks: list[dict[str, Any]], current: dict[str, Any], projection: dict[str, Any] | None = None) -> Any:
    files = pa.RecordBatch.from_pylist(tasks, FILES)
    wanted = json.dumps(projection or current)
    deletes = pa.RecordBatch.from_pylist([], DELETES)
    found = _core.explain_read(_core.FileIo({}), context(current), files, deletes, projection=wanted)
    return found.to_pylist()


def sorted_file(folder: Path, **options: Any) -> str:
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(1000)),
        arrow_field(2, "name", pa.string()): [None if n // 100 % 2 else f"name {n:04}" for n in range(1000)],
    }
    return write(folder / "rows.parquet", columns, row_group_size=500, **{**SMALL, **options})


def both(left: Any, right: Any) -> dict[str, Any]:
    return {"type": "and", "left": left, "right": right}


def either(left: Any, right: Any) -> dict[str, Any]:
    return {"type": "or", "left": left, "right": right}


@pytest.mark.parametrize(
    ("predicate", "rows", "groups"),
    [
        (leaf("eq", "id", 123), 10, 1),
        ({"type": "in", "term": "id", "values": [5, 123, 777]}, 30, 2),
        (both(leaf("gt-eq", "id", 495), leaf("lt", "id", 515)), 30, 2),
        (either(leaf("lt", "id", 5), leaf("eq", "name", "name 0999")), 10, 1),
        (leaf("eq", "name", "name 0444"), 10, 1),
        (leaf("starts-with", "name", "name 000"), 10, 1),
        ({"type": "is-null", "term": "name"}, 500, 2),
        (both({"type": "not-null", "term": "name"}, leaf("lt", "id", 200)), 100, 1),
        # Pages of nulls alone.
        (leaf("not-eq", "name", "name 0444"), 500, 2),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else None,
)
def test_pages_are_ruled_out(tmp_path: Path, predicate: dict[str, Any], rows: int, groups: int) -> None:
    [found] = explain([task(sorted_file(tmp_path), residual=json.dumps(predicate))], BOTH)
    assert (found["rows_selected"], found["row_groups_kept"]) == (rows, groups)
    assert (found["pages"], found["pages_kept"]) == (groups * 100, rows * 2 // 10)
    assert ("page index" in (found["reason"] or "")) == (rows < groups * 500)


def test_fewer_bytes_are_read(tmp_path: Path) -> None:
    location = sorted_file(tmp_path)
    alone, filtered = explain([task(location), task(location, residual=json.dumps(leaf("eq", "id", 123)))], BOTH)
    assert filtered["bytes_to_read"] * 20 < alone["bytes_to_read"]
    assert alone["pages"] == alone["pages_kept"] == 200


def test_pages_are_unknown_without_an_index(tmp_path: Path) -> None:
    location = sorted_file(tmp_path, write_page_index=False)
    residual = json.dumps(leaf("eq", "id", 123))
    [found] = explain([task(location, residual=residual)], BOTH)
    assert (found["pages"], found["rows_selected"], found["reason"]) == (None, 500, "statistics")
    assert read([task(location, residual=residual)], BOTH)["id"].to_pylist() == [123]


def test_row_group_without_a_page_to_read_is_skipped(tmp_path: Path) -> None:
    columns = {arrow_field(1, "id", pa.int64()): [n * 2 + n // 10 * 100 for n in range(100)]}
    location = write(tmp_path / "gaps.parquet", columns, **SMALL)
    filtered = task(location, residual=json.dumps(leaf("eq", "id", 90)))
    [found] = explain([filtered], schema(ID))
    assert (found["row_groups_kept"], found["rows_selected"], found["bytes_to_read"]) == (0, 0, 0)
    assert read([filtered], schema(ID)).num_rows == 0


def test_positions_of_rows_are_those_of_the_file(tmp_path: Path) -> None:
    filtered = task(
        sorted_file(tmp_path), residual=json.dumps({"type": "in", "term": "id", "values": [5, 123, 499, 777]})
    )
    found = read([filtered], BOTH, projection=schema(POS, ID))
    assert found.to_pylist() == [{"_pos": n, "id": n} for n in (5, 123, 499, 777)]


def test_promoted_column_is_compared_as_the_table_has_it(tmp_path: Path) -> None:
    columns = {arrow_field(1, "id", pa.int32()): list(range(-50, 50))}
    filtered = task(write(tmp_path / "ints.parquet", columns, **SMALL), residual=json.dumps(leaf("gt", "id", 45)))
    assert explain([filtered], schema(ID))[0]["rows_selected"] == 10
    assert read([filtered], schema(ID))["id"].to_pylist() == [46, 47, 48, 49]


def test_values_inside_of_lists_rule_nothing_out(tmp_path: Path) -> None:
    kind = pa.list_(arrow_field(11, "element", pa.int64()))
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(100)),
        arrow_field(2, "list", kind): [list(range(n % 7)) for n in range(100)],
    }
    location = write(tmp_path / "lists.parquet", columns, **SMALL)
    element = {"type": "list", "element-id": 11, "element": "long", "element-required": False}
    found = read(
        [task(location, residual=json.dumps({"type": "in", "term": "id", "values": [31, 62]}))],
        schema(ID, field(2, "list", element)),
    )
    assert found["list"].to_pylist() == [list(range(31 % 7)), list(range(62 % 7))]


def test_fields_of_null_structs_are_null(tmp_path: Path) -> None:
    kind = pa.struct([arrow_field(11, "x", pa.int64())])
    columns = {arrow_field(1, "s", kind): [None if n < 50 else {"x": None if n < 60 else n} for n in range(100)]}
    current = schema(field(1, "s", {"type": "struct", "fields": [field(11, "x", "long")]}))
    location = write(tmp_path / "structs.parquet", columns, **SMALL)
    null, some = (
        task(location, residual=json.dumps({"type": kind, "term": "s.x"})) for kind in ("is-null", "not-null")
    )
    assert [found["rows_selected"] for found in explain([null, some], current)] == [60, 40]
    assert [read([one], current).num_rows for one in (null, some)] == [60, 40]


KINDS: dict[str, tuple[pa.DataType, Any]] = {
    "int": (pa.int32(), lambda n: n - 200),
    "long": (pa.int64(), lambda n: n * 10**10),
    "float": (pa.float32(), lambda n: math.nan if n % 17 == 0 else (n - 200) / 4),
    "double": (pa.float64(), lambda n: math.nan if n > 300 else -0.0 if n == 200 else n - 200.0),
    "boolean": (pa.bool_(), lambda n: n > 200),
    "string": (pa.string(), lambda n: f"{n:04}" + "ü" * (n % 3 * 100)),
    "binary": (pa.binary(), lambda n: n.to_bytes(2, "big") + b"\xff" * (n % 2 * 300)),
    "date": (pa.date32(), lambda n: dt.date(2020, 1, 1) + dt.timedelta(n)),
    "timestamp": (pa.timestamp("us"), lambda n: dt.datetime(2020, 1, 1) + dt.timedelta(hours=n)),
    "decimal(9, 2)": (pa.decimal128(9, 2), lambda n: Decimal(n - 200) / 4),
    "decimal(30, 2)": (pa.decimal128(30, 2), lambda n: Decimal((n - 200) * 10**20) / 4),
}
OPERATORS = {
    "lt": pc.less,
    "lt-eq": pc.less_equal,
    "gt": pc.greater,
    "gt-eq": pc.greater_equal,
    "eq": pc.equal,
    "not-eq": pc.not_equal,
}


def text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_filtering_while_reading_is_filtering_afterwards(tmp_path: Path, kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    arrow, make = KINDS[kind]
    order = list(range(400)) if seed == 0 else sorted(range(400), key=lambda n: n // 40 * 40 + rng.random() * 60)
    null_share = rng.choice([0.0, 0.3, 0.9])
    values = [None if rng.random() < null_share or 100 <= row < 125 else make(n) for row, n in enumerate(order)]
    columns = {arrow_field(1, "id", pa.int64()): list(range(400)), arrow_field(2, "v", arrow): values}
    options = {**SMALL, "max_rows_per_page": rng.choice([3, 7, 10]), "data_page_version": rng.choice(["1.0", "2.0"])}
    location = write(tmp_path / "v.parquet", columns, row_group_size=rng.choice([90, 400]), **options)
    current = schema(ID, field(2, "v", kind))
    whole = read([task(location)], current)
    skipped = 0
    for _ in range(12):
        name, wanted = rng.choice(list(OPERATORS)), make(rng.randrange(400))
        if isinstance(wanted, float) and math.isnan(wanted):
            continue
        predicate = both(leaf(name, "v", text(wanted)), leaf("gt-eq", "id", rng.choice([0, 0, 333])))
        mask = OPERATORS[name](whole["v"], pa.scalar(wanted, arrow))
        mask = pc.fill_null(mask, False)
        mask = pc.and_(mask, pc.greater_equal(whole["id"], predicate["right"]["value"]))
        filtered = task(location, residual=json.dumps(predicate))
        assert read([filtered], current)["id"].to_pylist() == whole.filter(mask)["id"].to_pylist(), predicate
        skipped += explain([filtered], current)[0]["rows_selected"] < 400
    assert skipped or kind == "boolean"


@pytest.mark.parametrize("scattered", [True, False])
def test_deletes_and_limits_meet_pages(tmp_path: Path, scattered: bool) -> None:
    location = sorted_file(tmp_path)
    gone = set(range(120, 620, 3) if scattered else range(115, 127))
    keys = write(tmp_path / "keys.parquet", {arrow_field(1, "id", pa.int64()): [130, 131, 777]})
    deletes = [
        position_deletes(tmp_path / "positions.parquet", [(location, position) for position in sorted(gone)]),
        delete_file(keys, 2, 3, [1]),
    ]
    wanted = both(leaf("gt-eq", "id", 110), leaf("lt", "id", 780))
    predicate = either(both(wanted, leaf("lt", "id", 140)), both(wanted, leaf("gt", "id", 610)))
    expected = [n for n in [*range(110, 140), *range(611, 780)] if n not in gone | {130, 131, 777}]
    filtered = task(location, residual=json.dumps(predicate), deletes=[0, 1])
    for limit in (None, 1, 7, 30, 1000):
        found = read([filtered], BOTH, deletes=deletes, projection=schema(ID, POS), limit=limit, batch_size=16)
        assert found["id"].to_pylist()[:limit] == found["_pos"].to_pylist()[:limit] == expected[:limit]


def test_parts_of_row_groups_have_their_pages(tmp_path: Path) -> None:
    rows = 600_000
    columns = {arrow_field(1, "id", pa.int64()): pa.array(range(rows))}
    location = write(tmp_path / "large.parquet", columns, **{**SMALL, "max_rows_per_page": 5_000})
    wanted = [0, 4_999, 199_999, 262_144, 400_003, 599_999]
    filtered = task(location, residual=json.dumps({"type": "in", "term": "id", "values": wanted}))
    assert explain([filtered], schema(ID))[0]["rows_selected"] == 25_000
    assert read([filtered], schema(ID), projection=schema(ID, POS), threads=3).to_pylist() == [
        {"id": n, "_pos": n} for n in wanted
    ]
