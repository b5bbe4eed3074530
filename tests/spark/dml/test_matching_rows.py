"""DELETE by a filter of the format, merge-on-read: tasks of the Rust reader find the rows and write their position deletes."""

from __future__ import annotations

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.table.commit.row_delta import RowDelta
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
@pytest.mark.parametrize("keys", [[], [25, 31]], ids=["position deletes", "equality deletes"])
def test_files_whose_rows_all_match_are_removed_with_their_deletes(spark, table, mode, keys):
    """A file may have lost some of its rows, or all, by positions or by keys. Only live rows count as deleted."""
    icefloe.spark.delete_from(table, "digit < 2 or id < 10", spark=spark)
    if keys:
        target = table.refresh().transaction().target()
        deletes = target.writer.equality_deletes(pa.table({"id": keys}), [1])
        RowDelta(target.transaction).add_deletes(deletes).commit()
        target.transaction.commit_transaction()
    with table.transaction() as change:
        change.set_properties({"write.delete.mode": mode})
    live = ids(table)
    assert icefloe.spark.delete_from(table, "true", spark=spark) == MergeResult(0, len(live), 0)
    plan = table.refresh().scan().plan_whole_files()
    assert (plan.files.num_rows, ids(table)) == (0, [])
    assert len(table.inspect.delete_files()) == 0


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
