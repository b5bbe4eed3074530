"""The report of what a scan will read, made from footers alone."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from icefloe import _core

from tests.unit.scan_tables import DELETES, FILES, ID, NAME, arrow_field, context, leaf, schema, task, write

CURRENT = schema(ID, NAME)
COLUMNS = ("row_groups", "row_groups_kept", "rows", "rows_selected", "reason")


def explain(tasks: list[dict[str, object]], *fields: dict[str, object]) -> pa.RecordBatch:
    files = pa.RecordBatch.from_pylist(tasks, FILES)
    deletes = pa.RecordBatch.from_pylist([], DELETES)
    return _core.explain_read(
        _core.FileIo({}), context(CURRENT), files, deletes, projection=json.dumps(schema(*fields))
    )


def file(folder: Path) -> str:
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(40)),
        arrow_field(2, "name", pa.string()): [f"name {n}" * 20 for n in range(40)],
    }
    return write(folder / "rows.parquet", columns, row_group_size=10)


def test_row_groups_that_statistics_rule_out_are_told(tmp_path: Path) -> None:
    location = file(tmp_path)
    filtered = task(location, residual=json.dumps(leaf("gt", "id", 25)))
    found = explain([task(location), filtered], ID).select(["file_path", *COLUMNS]).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        (location, 4, 4, 40, 40, None),
        (location, 4, 2, 40, 20, "statistics"),
    ]


def test_bytes_are_those_of_the_wanted_columns(tmp_path: Path) -> None:
    location = file(tmp_path)
    one, both = (explain([task(location)], *fields)["bytes_to_read"][0].as_py() for fields in ([ID], [ID, NAME]))
    assert 0 < one < both < Path(location).stat().st_size
