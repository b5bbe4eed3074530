"""Delete files of one data file are requested together: requests wait for one another here, and one alone waits in vain."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table.read_context import schema_json, spec_json

from tests.storage.servers import Gate
from tests.storage.test_s3_table import make_catalog

ROWS, FILES = 1_000, 12
THREADS = 2
COLUMNS = pa.schema([("id", pa.int64()), ("other", pa.int64())])


def key_file(table, column: str, keys: list[int]) -> pa.RecordBatch:
    """An equality delete file of values of one column."""
    field = table.schema().find_field(column)
    made = _core.write_data_files(
        table.io.core,
        pa.table({column: pa.array(keys, pa.int64())}),
        schema=schema_json(Schema(field)),
        spec=spec_json(UNPARTITIONED_PARTITION_SPEC),
        sort_order=None,
        table_location=table.location(),
        properties={},
        operation_id=f"keys-{column}-{keys[0]}",
        partition_id=0,
        task_id=0,
    )
    rows = [{**row, "content": 2, "equality_ids": [field.field_id]} for row in made.to_pylist()]
    return pa.RecordBatch.from_pylist(rows, schema=made.schema)


def delete_positions(table) -> None:
    for number in range(FILES):
        table.delete(f"id = {number}")


def delete_keys(table) -> None:
    for number in range(FILES):
        table.new_row_delta().add_deletes(key_file(table, "id", [number])).commit()


def delete_keys_of_two_kinds(table) -> None:
    delta = table.new_row_delta().add_deletes(key_file(table, "id", list(range(FILES // 2))))
    delta.add_deletes(key_file(table, "other", list(range(FILES // 2, FILES)))).commit()


@pytest.mark.parametrize(
    ("deleting", "part", "at_once"),
    [
        (delete_positions, "-deletes", FILES),
        (delete_keys, "keys-", 2 * THREADS),
        (delete_keys_of_two_kinds, "keys-", 2),
    ],
)
def test_delete_files_are_asked_for_at_once(s3, bucket, line, tmp_path, deleting, part, at_once):
    # Delete files of one data file alone are folded into one.
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    table = make_catalog(s3, bucket, tmp_path).create_table("db.t", COLUMNS, properties=properties)
    table.append(pa.table({"id": range(ROWS), "other": range(ROWS)}, schema=COLUMNS))
    deleting(table)
    far = make_catalog(s3, bucket, tmp_path, **{"s3.endpoint": line.endpoint}).load_table("db.t")
    plan = far.scan().plan()
    assert plan.files.num_rows == 1
    assert plan.deletes.num_rows >= 2
    line.fault = Gate(at_once, lambda request: part in request.path)
    stream = _core.read(
        far.io.core, plan.context, plan.files, plan.deletes, projection=plan.projection, threads=THREADS
    )
    found = pa.table(stream)
    assert sorted(found["id"].to_pylist()) == list(range(FILES, ROWS))
    assert len(line.seen("GET", part)) == plan.deletes.num_rows
