"""Tables whose spec keeps a void field of a column that was dropped: specs of format version 1 keep every field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec

SPEC = PartitionSpec(PartitionField(2, 1000, "identity", "part"))
SCHEMA = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("part", pa.int32())])


@pytest.fixture(params=["version 1", "upgraded", "replaced"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A table of two rows, partitioned by `part` and by a void field of a column that does not exist any more."""
    catalog = load_catalog("dropped", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    made = catalog.create_table("db.t", SCHEMA, properties={"format-version": "1"})
    made.update_spec().add_identity("kind").add_identity("part").commit()
    made.append(pa.table({"id": [1, 2], "kind": ["a", "b"], "part": pa.array([1, 2], pa.int32())}))
    made.update_spec().remove_field("kind").commit()
    if request.param == "replaced":
        rows = made.scan(selected_fields=("id", "part")).to_arrow()
        with catalog.replace_table_transaction("db.t", rows.schema, partition_spec=SPEC) as transaction:
            transaction.append(rows)
        made.refresh()
    else:
        made.update_schema().delete_column("kind").commit()
    if request.param == "upgraded":
        made.transaction().upgrade_table_version(2).commit_transaction()
    assert [str(field.transform) for field in made.spec().fields] == ["void", "identity"]
    return made


def ids(table: Any) -> list[int]:
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def test_rows_are_appended_and_found_by_their_partition(table: Any) -> None:
    table.append(pa.table({"id": [3, 4], "part": pa.array([2, 3], pa.int32())}))
    assert ids(table) == [1, 2, 3, 4]
    assert sorted(table.scan("part = 2").to_arrow()["id"].to_pylist()) == [2, 3]
    newest = table.inspect.files().to_pylist()
    assert {file["partition"]["part"] for file in newest} == {1, 2, 3}


def test_partitions_are_overwritten_and_deleted(table: Any) -> None:
    table.append(pa.table({"id": [3, 4], "part": pa.array([2, 3], pa.int32())}))
    table.dynamic_partition_overwrite(pa.table({"id": [5], "part": pa.array([3], pa.int32())}))
    assert ids(table) == [1, 2, 3, 5]
    table.delete("part = 2")
    assert ids(table) == [1, 5]
    table.upsert(pa.table({"id": [5, 6], "part": pa.array([3, 3], pa.int32())}), join_cols=["id"])
    assert ids(table) == [1, 5, 6]


def test_files_are_compacted(table: Any) -> None:
    for number in (3, 4):
        table.append(pa.table({"id": [number], "part": pa.array([2], pa.int32())}))
    table.maintenance.execute(table.maintenance.rewrite_data_files().options(min_input_files=2).plan())
    assert ids(table) == [1, 2, 3, 4]
    assert len(table.inspect.files()) < 5
