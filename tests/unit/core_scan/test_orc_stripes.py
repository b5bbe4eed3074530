"""Stripes of ORC files that their statistics rule out: never one with a row that is wanted."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from icefloe import _core
from pyarrow import orc

from tests.unit.core_scan.orc_footers import get, parsed, rewritten
from tests.unit.core_scan.test_orc_files import orc_field, orc_task
from tests.unit.scan_tables import DELETES, FILES, POS, context, field, leaf, read, schema

pytestmark = pytest.mark.recent_pyarrow

KINDS = {
    "b": (pa.bool_(), "boolean", st.booleans()),
    "i": (pa.int32(), "int", st.integers(-5, 5)),
    "l": (pa.int64(), "long", st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)),
    "f": (pa.float32(), "float", st.floats(width=32, allow_infinity=False)),
    "d": (pa.float64(), "double", st.floats(allow_infinity=False) | st.sampled_from([0.0, -0.0, math.nan])),
    "s": (pa.string(), "string", st.text(max_size=3) | st.sampled_from(["é" * 900, "\U0010ffff" * 2])),
    "y": (pa.date32(), "date", st.dates()),
    "t": (
        pa.timestamp("ns"),
        "timestamp",
        st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1)),
    ),
    "z": (
        pa.timestamp("ns", "UTC"),
        "timestamptz",
        st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1), timezones=st.just(dt.UTC)),
    ),
}
COLUMNS = [orc_field(n, name, kind) for n, (name, (kind, _, _)) in enumerate(KINDS.items(), 1)]
TABLE = schema(
    *(field(n, name, kind) for n, (name, (_, kind, _)) in enumerate(KINDS.items(), 1)),
    field(20, "p", {"type": "struct", "fields": [field(21, "x", "long")]}),
)
PAD = orc_field(30, "pad", pa.string())
"""Text that does not compress: a writer ends a stripe by the bytes that it has."""
PAIR = orc_field(20, "p", pa.struct([orc_field(21, "x", pa.int64())]))


def spelled(value: object) -> object:
    """A value as the JSON of a filter has it."""
    return value.isoformat() if isinstance(value, dt.date) else value


@st.composite
def stripes(draw):
    """Rows of some stripes, in each of which columns vary little, and a question that one of their values answers."""
    names = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3, unique=True))
    made = []
    for _ in range(draw(st.integers(1, 4))):
        columns = {name: draw(st.lists(st.none() | KINDS[name][2], min_size=1, max_size=3)) for name in names}
        made.append([{name: draw(st.sampled_from(columns[name])) for name in names} for _ in range(3)])
    name = draw(st.sampled_from(names))
    values = [row[name] for stripe in made for row in stripe if row[name] is not None and not is_nan(row[name])]
    ops = ["lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"] if values else []
    unary = ["is-null", "not-null", *(["is-nan", "not-nan"] if name in "fd" else [])]
    op = draw(st.sampled_from([*ops, *unary]))
    if op in unary:
        return made, {"type": op, "term": name}
    return made, leaf(op, name, spelled(draw(st.sampled_from(values))))


def written(path: Path, made: list[list[dict[str, object]]], compressed: bool = False) -> str:
    """A file of these stripes."""
    target, noise = pa.schema([*COLUMNS, PAIR, PAD]), random.Random(1)
    with orc.ORCWriter(
        str(path), stripe_size=1, batch_size=len(made[0]), compression="zlib" if compressed else "uncompressed"
    ) as writer:
        for stripe in made:
            rows = [
                {**row, "p": None if n % 2 else {"x": n}, "pad": noise.randbytes(300).hex()}
                for n, row in enumerate(stripe)
            ]
            writer.write(pa.Table.from_pylist(rows, target))
    if not compressed:
        assert orc.ORCFile(str(path)).nstripes == len(made)
    return str(path)


def explained(location: str, rows: int, residual: dict[str, object], **overrides: object) -> tuple[object, ...]:
    tasks = [orc_task(location, rows, residual=json.dumps(residual), **overrides)]
    files, deletes = pa.RecordBatch.from_pylist(tasks, FILES), pa.RecordBatch.from_pylist([], DELETES)
    found = _core.explain_read(_core.FileIo({}), context(TABLE), files, deletes, projection=json.dumps(TABLE))
    assert (found["bytes_to_read"][0].as_py() > 0) == (found["row_groups_kept"][0].as_py() > 0)
    columns = ("row_groups", "row_groups_kept", "rows", "rows_selected", "reason")
    return tuple(found.to_pylist()[0][column] for column in columns)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stripes(), st.booleans())
def test_no_stripe_with_a_wanted_row_is_left_out(tmp_path, made, compressed):
    made, residual = made
    location = written(tmp_path / "a.orc", made, compressed=compressed)
    rows = sum(map(len, made))
    # Beside a question that no statistics answer, every stripe is decoded.
    either = {"type": "or", "left": residual, "right": leaf("eq", "p.x", 10**9)}
    blind = {"type": "and", "left": residual, "right": {"type": "or", "left": residual, "right": residual}}
    found = read([orc_task(location, rows, residual=json.dumps(residual))], TABLE, projection=schema(POS))
    for same in (either, blind):
        other = read([orc_task(location, rows, residual=json.dumps(same))], TABLE, projection=schema(POS))
        assert other["_pos"].to_pylist() == found["_pos"].to_pylist()
    every = read([orc_task(location, rows)], TABLE).to_pylist()
    name, op = residual["term"], residual["type"]
    assert found["_pos"].to_pylist() == [n for n, row in enumerate(every) if holds(op, row[name], residual)]


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def holds(op: str, value: object, residual: dict[str, object]) -> bool:
    """Whether a row's value answers the question."""
    if op in ("is-null", "not-null"):
        return (value is None) == (op == "is-null")
    if op in ("is-nan", "not-nan"):
        return is_nan(value) == (op == "is-nan")
    if value is None:
        return False
    if is_nan(value):
        return op == "not-eq"
    wanted = residual["value"]
    if isinstance(value, dt.date):
        wanted = type(value).fromisoformat(str(wanted))
    return {
        "lt": value < wanted,
        "lt-eq": value <= wanted,
        "gt": value > wanted,
        "gt-eq": value >= wanted,
        "eq": value == wanted,
        "not-eq": value != wanted,
    }[op]


@pytest.fixture
def numbers(tmp_path):
    """Ten stripes of 100 rows: i 0..999, even s null."""
    rows = [{"i": n, "s": f"text {n:04}" if n % 2 else None} for n in range(1_000)]
    return written(tmp_path / "a.orc", [rows[start : start + 100] for start in range(0, 1_000, 100)])


@pytest.mark.parametrize(
    ("residual", "kept", "rows"),
    [
        (leaf("gt-eq", "i", 850), 2, range(850, 1_000)),
        (leaf("eq", "i", 305), 1, [305]),
        (leaf("eq", "s", "text 0777"), 1, [777]),
        (leaf("lt", "i", 0), 0, []),
        ({"type": "is-null", "term": "i"}, 0, []),
        ({"type": "is-null", "term": "s"}, 10, range(0, 1_000, 2)),
        ({"type": "not-null", "term": "d"}, 0, []),
        (leaf("starts-with", "s", "text 02"), 1, range(201, 300, 2)),
    ],
)
def test_stripes_are_skipped_and_positions_stay(numbers, residual, kept, rows):
    found = explained(numbers, 1_000, residual)
    assert found == (10, kept, 1_000, 100 * kept, "statistics" if kept < 10 else None)
    found = read([orc_task(numbers, 1_000, residual=json.dumps(residual))], TABLE, projection=schema(POS))
    assert found["_pos"].to_pylist() == list(rows)


def test_each_stripe_belongs_to_one_part_of_a_file(numbers):
    size = Path(numbers).stat().st_size
    starts = [0, size // 3, size // 2, size - 10]
    parts = [{"start": start, "length": end - start} for start, end in zip(starts, [*starts[1:], size], strict=True)]
    tasks = [orc_task(numbers, 1_000, **part) for part in parts]
    found = read(tasks, TABLE, projection=schema(TABLE["fields"][1], POS))
    assert found["i"].to_pylist() == found["_pos"].to_pylist() == list(range(1_000))
    found = [explained(numbers, 1_000, leaf("gt-eq", "i", 850), **part) for part in parts]
    assert sum(each[0] for each in found) == 10
    assert sum(each[1] for each in found) == 2


def damaged_statistics(location: str) -> None:
    whole = bytearray(Path(location).read_bytes())
    postscript = parsed(bytes(whole[-1 - whole[-1] : -1]))
    end = len(whole) - 1 - whole[-1] - get(postscript, 1)
    start = end - get(postscript, 5)
    whole[start:end] = b"\xff" * (end - start)
    Path(location).write_bytes(whole)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda location: rewritten(Path(location), lambda end: end.lengths.update({6: 0})), id="too old"),
        pytest.param(damaged_statistics, id="damaged"),
    ],
)
def test_statistics_that_nobody_relies_on_rule_nothing_out(tmp_path, change):
    location = written(tmp_path / "a.orc", [[{"i": n}] * 50 for n in range(3)])
    residual = leaf("eq", "i", 2)
    assert explained(location, 150, residual)[:2] == (3, 1)
    change(location)
    assert explained(location, 150, residual)[:2] == (3, 3)
    found = read([orc_task(location, 150, residual=json.dumps(residual))], TABLE, projection=schema(POS))
    assert found["_pos"].to_pylist() == list(range(100, 150))
