"""Merge-on-read: the jobs of an update and a delete, and the files that are written."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import SchemaMismatchError
from icefloe.schema import Schema
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.sorting import SortDirection, SortField, SortOrder
from icefloe.types import LongType, NestedField, StringType

from tests.spark.dml.four_files import ROWS, four_files, rows_of
from tests.spark.stage_records import recorded_stages

SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "half", LongType()), NestedField(3, "name", StringType())
)
DOTTED = Schema(*SCHEMA.fields[:2], NestedField(3, "a.b", StringType()))


@pytest.fixture(params=["unpartitioned", "partitioned"])
def table(request, spark, new_table):
    frame = spark.range(ROWS).selectExpr("id", f"id div {ROWS // 2} AS half", "concat('n', id) AS name")
    return four_files(frame, new_table, mode="merge-on-read", partitioned=request.param == "partitioned")


def added(table):
    summary = table.refresh().current_snapshot().summary
    return tuple(int(summary[name]) for name in ("added-data-files", "added-delete-files", "added-position-deletes"))


def test_update_reads_each_row_once_and_shuffles_the_new_versions_once(spark, table):
    before = rows_of(table)
    with recorded_stages(spark) as stages:
        changed = icefloe.spark.update(table, {"name": "'x'"}, "id % 100 = 7", spark=spark)
    assert changed == MergeResult(ROWS // 100, 0, 0)
    assert stages() == (ROWS, ROWS // 100)
    for one in range(7, ROWS, 100):
        before[one]["name"] = "x"
    assert rows_of(table) == before


@pytest.mark.parametrize("verb", ["update", "merge"])
def test_update_writes_one_data_file_for_each_partition(spark, new_table, verb):
    """A scan of one file by two tasks leads to one file of new rows, as in the Java runtime."""
    frame = spark.range(200_000).selectExpr("id", "0L AS half", "concat('n', id) AS name")
    made = new_table(SCHEMA, **{f"write.{verb}.mode": "merge-on-read"})
    icefloe.spark.write(frame.coalesce(1), made)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "128k")
    try:
        if verb == "update":
            icefloe.spark.update(made, {"half": "1L"}, "id % 100 = 7", spark=spark)
        else:
            source = spark.range(7, 200_000, 100).selectExpr("id", "1L AS half")
            icefloe.spark.merge_into(made, source, ["id"]).when_matched_update({"half": "source.half"}).execute()
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert added(made) == (1, 1, 2_000)
    assert made.scan("half = 1").count() == 2_000


def test_new_versions_of_a_partition_are_one_file(spark, table):
    partitions = len(table.spec().fields) + 1
    assert icefloe.spark.update(table, {"name": "'x'"}, "id % 1000 = 1", spark=spark).rows_updated == 4
    data, deletes, positions = added(table)
    # Spark coalesces the shuffled rows of small files.
    assert (data, deletes, positions) == (partitions, 4, 4)


def test_update_that_moves_rows_to_another_partition(spark, table):
    before = rows_of(table)
    assert icefloe.spark.update(table, {"half": "1 - half"}, "id % 1000 = 1", spark=spark).rows_updated == 4
    for one in range(1, ROWS, 1000):
        before[one]["half"] = 1 - before[one]["half"]
    assert rows_of(table) == before


def test_delete_by_function_runs_one_job(spark, table):
    before = rows_of(table)
    with recorded_stages(spark) as stages:
        assert icefloe.spark.delete_from(table, "id % 100 = 7", spark=spark) == MergeResult(0, ROWS // 100, 0)
    # A cached batch would count as a record.
    assert stages() == (ROWS, ROWS // 100)
    assert rows_of(table) == {one: row for one, row in before.items() if one % 100 != 7}


def test_new_versions_are_sorted(spark, new_table):
    frame = spark.range(1_000).selectExpr("id", "0L AS half", "concat('n', id) AS `a.b`")
    order = SortOrder(SortField(1, direction=SortDirection.DESC))
    made = new_table(DOTTED, sort_order=order, write__update__mode="merge-on-read")
    icefloe.spark.write(frame.coalesce(1), made)
    icefloe.spark.update(made, {"half": "1L"}, "id % 7 = 1", spark=spark)
    ids = made.refresh().scan("half = 1").to_arrow()["id"].to_pylist()
    assert ids == list(range(995, 0, -7))
    assert set(made.scan().plan_whole_files().files.column("sort_order_id").to_pylist()) == {1}


def test_required_columns_refuse_nulls_of_an_update(spark, new_table):
    schema = Schema(
        NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType(), required=True)
    )
    made = new_table(schema, write__update__mode="merge-on-read")
    icefloe.spark.write(spark.range(20).selectExpr("id", "concat('n', id) AS name"), made)
    with pytest.raises(SchemaMismatchError, match="name"):
        icefloe.spark.update(made, {"name": "nullif(name, 'n7')"}, "id > 5", spark=spark)
    assert len(rows_of(made)) == 20
