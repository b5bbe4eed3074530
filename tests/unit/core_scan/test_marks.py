"""Rows that delete files delete, marked in `_deleted` or returned alone, and the partition that rows are in."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError

from tests.unit.scan_tables import (
    DELETED,
    ID,
    POS,
    arrow_field,
    context,
    delete_file,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)

BY_POSITION = set(range(0, 1000, 37)) | set(range(300, 420))
BY_KEY = {*range(5), 333, 600, 601, 999}


@pytest.fixture
def deletes(numbers, tmp_path):
    """Positions, some of them a long run; keys of an equality delete."""
    keys = write(tmp_path / "keys.parquet", {arrow_field(1, "id", pa.int64()): sorted(BY_KEY)})
    positions = position_deletes(tmp_path / "p.parquet", [(numbers, one) for one in sorted(BY_POSITION)])
    return [positions, delete_file(keys, 2, len(BY_KEY), [1])]


SETS = {(): set(), (0,): BY_POSITION, (1,): BY_KEY, (0, 1): BY_POSITION | BY_KEY}


@pytest.mark.parametrize("applied", SETS)
@pytest.mark.parametrize("batch_size", [7, 65536])
@pytest.mark.parametrize("residual", [None, json.dumps(leaf("gt-eq", "id", 330))])
def test_deleted_rows_are_returned_and_told(numbers, deletes, applied, batch_size, residual):
    table = read(
        [task(numbers, deletes=list(applied), residual=residual)],
        schema(ID),
        deletes=deletes,
        projection=schema(DELETED, ID),
        batch_size=batch_size,
    )
    first = 0 if residual is None else 330
    assert table["id"].to_pylist() == list(range(first, 1000))
    assert table["_deleted"].to_pylist() == [row in SETS[applied] for row in range(first, 1000)]


@pytest.mark.parametrize("applied", SETS)
@pytest.mark.parametrize("marks", SETS)
@pytest.mark.parametrize("shown", [False, True])
def test_marks_select_among_the_rows_that_deletes_leave(numbers, deletes, applied, marks, shown):
    table = read(
        [task(numbers, deletes=list(applied), marks=list(marks), residual=json.dumps(leaf("not-eq", "id", 600)))],
        schema(ID),
        deletes=deletes,
        projection=schema(ID, POS, *([DELETED] if shown else [])),
    )
    left = [row for row in range(1000) if row not in SETS[applied] and row != 600]
    marked = [row for row in left if row in SETS[marks]]
    assert table["id"].to_pylist() == (left if shown else marked)
    assert table["_pos"].to_pylist() == table["id"].to_pylist()
    if shown:
        assert table.filter(table["_deleted"])["id"].to_pylist() == marked


def test_tasks_with_and_without_marks_are_read_together(numbers, deletes):
    tasks = [task(numbers, deletes=[0]), task(numbers, deletes=[0], marks=[1]), task(numbers)]
    found = read(tasks, schema(ID), deletes=deletes)["id"].to_pylist()
    left = [row for row in range(1000) if row not in BY_POSITION]
    assert found == left + sorted(BY_KEY - BY_POSITION) + list(range(1000))


def test_marks_need_the_count_of_rows(numbers, deletes):
    with pytest.raises(ValidationError, match="record count"):
        list(stream([task(numbers, marks=[0], record_count=-1)], schema(ID), deletes=deletes))


SPECS = [
    {"spec-id": 0, "fields": []},
    {"spec-id": 1, "fields": [{"source-id": 1, "field-id": 1000, "name": "b", "transform": "bucket[4]"}]},
    {
        "spec-id": 2,
        "fields": [
            {"source-id": 2, "field-id": 1001, "name": "name", "transform": "identity"},
            {"source-id": 1, "field-id": 1000, "name": "bucket", "transform": "bucket[4]"},
        ],
    },
]
TUPLE = schema(field(1000, "bucket", "int"), field(1001, "name", "string"))


def test_partition_has_the_fields_of_all_specs(numbers):
    fields = schema(field(1, "id", "long"), field(2, "name", "string"))
    rows = read(
        [
            task(numbers, spec_id=0, partition="[]"),
            task(numbers, spec_id=1, partition="[3]"),
            task(numbers, spec_id=2, partition='["x",2]'),
            task(numbers, spec_id=2, partition="[null,1]"),
        ],
        fields,
        projection=schema(field(2147483642, "_partition", TUPLE)),
        scan_context=context(fields, specs=SPECS),
    ).column("_partition")
    assert rows[::1000] == pa.chunked_array(
        [
            pa.array(
                [
                    {"bucket": None, "name": None},
                    {"bucket": 3, "name": None},
                    {"bucket": 2, "name": "x"},
                    {"bucket": 1, "name": None},
                ],
                rows.type,
            )
        ]
    )


def test_table_without_partition_fields_has_no_partition(numbers):
    rows = read([task(numbers)], schema(ID), projection=schema(field(2147483642, "_partition", schema())))
    assert rows["_partition"].null_count == 1000
