"""Tables that the Java reference wrote in Avro, ORC and mixed formats, and the rows that it reads from them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from icefloe.table import StaticTable

pytestmark = pytest.mark.recent_pyarrow

GOLDEN = Path(__file__).parents[3] / "golden" / "formats"
# The location at which the tables were written, which their metadata and delete files contain.
PLACE = Path("/tmp/icefloe-golden-formats/db")
EXPECTED = json.loads((GOLDEN / "rows.json").read_text(encoding="utf-8"))


@pytest.fixture(params=sorted(EXPECTED))
def golden(request) -> tuple[StaticTable, list[dict[str, object]]]:
    name = request.param
    link = PLACE / name
    # The tables may have been written at a directory of this machine.
    if link.is_symlink() or not link.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        # Another test run may read through the link at the same time: the link always leads to a checkout.
        fresh = PLACE / f"{name}-{os.getpid()}"
        fresh.symlink_to(GOLDEN / name, target_is_directory=True)
        fresh.replace(link)
    return StaticTable.from_metadata(str(link)), EXPECTED[name]


def as_json(table) -> list[dict[str, object]]:
    return json.loads(json.dumps(table.sort_by("id").to_pylist(), default=str))


def test_scan_returns_the_rows_of_java(golden):
    table, expected = golden
    assert as_json(table.scan().to_arrow()) == expected
    assert table.scan().count() == len(expected)


@pytest.mark.parametrize(
    "row_filter", ["id > 5", "gone = 1", "point.label = 'p4'", "cost <= 1.25 and day > '1970-01-01'"]
)
def test_scan_filter_agrees_with_a_filter_afterwards(golden, row_filter):
    table, _ = golden
    ids = set(table.scan(row_filter, selected_fields=("id",)).to_arrow()["id"].to_pylist())
    rows = table.scan().to_arrow().to_pylist()
    kept = {
        "id > 5": lambda row: row["id"] > 5,
        "gone = 1": lambda row: row["gone"] == 1,
        "point.label = 'p4'": lambda row: row["point"] is not None and row["point"]["label"] == "p4",
        "cost <= 1.25 and day > '1970-01-01'": lambda row: row["cost"] <= 1.25 and str(row["day"]) > "1970-01-01",
    }[row_filter]
    assert ids == {row["id"] for row in rows if kept(row)}
    assert ids


def test_scan_reads_single_columns(golden):
    table, expected = golden
    whole = table.scan().to_arrow().sort_by("id")
    for name in whole.column_names:
        alone = table.scan(selected_fields=("id", name)).to_arrow().sort_by("id")
        assert alone[name].to_pylist() == whole[name].to_pylist()
    positions = table.scan(selected_fields=("_file", "_pos")).to_arrow()
    assert positions.num_rows == len(expected) == len(set(map(str, positions.to_pylist())))
