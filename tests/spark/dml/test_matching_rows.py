"""DELETE by a filter of the format, merge-on-read: tasks of the Rust reader find the rows and write their position deletes."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.snapshots import Operation


@pytest.fixture
def table(spark, new_table):
    frame = spark.range(40).selectExpr("id", "if(id % 10 = 3, null, id % 10) AS digit")
    made = new_table(frame.schema, write__delete__mode="merge-on-read")
    for start in range(0, 40, 10):
        icefloe.spark.write(frame.where(f"id >= {start} and id < {start + 10}").coalesce(1), made)
    return made


def ids(table):
    return sorted(table.refresh().scan().to_arrow()["id"].to_pylist())


def test_delete_by_filter_writes_one_delete_file_for_each_changed_file(spark, table):
    assert icefloe.spark.delete_from(table, "digit < 2 and id > 9", spark=spark) == MergeResult(0, 6, 0)
    assert ids(table) == [one for one in range(40) if one < 10 or one % 10 > 1]
    deletes = table.scan().plan_whole_files().deletes
    assert deletes.num_rows == 3
    assert sorted(deletes["record_count"].to_pylist()) == [2, 2, 2]


def test_delete_by_filter_repeats_older_positions(spark, table):
    for bound, rows in ((2, 8), (2, 0), (4, 4)):
        assert icefloe.spark.delete_from(table, f"digit < {bound}", spark=spark).rows_deleted == rows
    assert ids(table) == [one for one in range(40) if one % 10 > 2]
    assert table.scan().plan_whole_files().deletes.num_rows == 4


def test_delete_by_filter_removes_whole_files_beside_rows(spark, table):
    assert icefloe.spark.delete_from(table, "id < 13", spark=spark) == MergeResult(0, 13, 0)
    assert ids(table) == list(range(13, 40))
    assert table.scan().plan_whole_files().files.num_rows == 3


@pytest.mark.parametrize("mode", ["merge-on-read", "copy-on-write"])
@pytest.mark.parametrize(("where", "left"), [("id < 20", 20), ("id < 13", 27), ("true", 0)])
def test_deletes_are_snapshots_of_the_operation_of_the_java_runtime(spark, table, mode, where, left):
    """Streams skip or refuse snapshots by their operation: one that only removes files or marks rows is a delete."""
    with table.transaction() as change:
        change.set_properties({"write.delete.mode": mode})
    icefloe.spark.delete_from(table, where, spark=spark)
    assert len(ids(table)) == left
    rewrites = mode == "copy-on-write" and where == "id < 13"
    assert table.current_snapshot().summary.operation == (Operation.OVERWRITE if rewrites else Operation.DELETE)


def test_delete_by_filter_without_a_match_commits_nothing(spark, table):
    before = table.refresh().current_snapshot().snapshot_id
    assert icefloe.spark.delete_from(table, "digit = 3", spark=spark) == MergeResult(0, 0, 0)
    assert table.refresh().current_snapshot().snapshot_id == before
