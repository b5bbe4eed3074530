"""Copy-on-write: the rows that Spark reads, and the files that are written."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.spark.dml.file_rewrites import MOST_NEW_ROWS
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.sorting import SortField, SortOrder
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from tests.spark.dml.four_files import ROWS, four_files, rows_of
from tests.spark.stage_records import recorded_stages


def rows_from(ids):
    return ids.selectExpr(
        "id",
        f"id div {ROWS // 2} AS half",
        "concat('n', id) AS name",
        "cast(id AS decimal(12, 2)) AS price",
        "timestamp_micros(id * 1000000) AS at",
        "named_struct('city', concat('c', id % 7), 'tags', array(cast(id AS string), null)) AS place",
        "map('k', id) AS counts",
        "cast(cast(id AS string) AS binary) AS raw",
    )


@pytest.fixture(params=["unpartitioned", "partitioned"])
def table(request, spark, new_table):
    frame = rows_from(spark.range(ROWS))
    return four_files(frame, new_table, mode="copy-on-write", partitioned=request.param == "partitioned")


def files_of(table):
    return table.refresh().scan().plan_whole_files().files


def test_delete_by_filter_reads_no_rows_in_spark(spark, table):
    before = rows_of(table)
    with recorded_stages(spark) as stages:
        assert icefloe.spark.delete_from(table, "id < 1500 and id > 999", spark=spark).rows_deleted == 500
    # The only record is the number of a task.
    assert stages() == (1, 0)
    assert rows_of(table) == {one: row for one, row in before.items() if not 999 < one < 1500}
    # One file of four is rewritten.
    summary = table.current_snapshot().summary
    assert (summary["added-data-files"], summary["deleted-data-files"]) == ("1", "1")


def test_delete_by_function_reads_each_row_once_in_spark(spark, table):
    before = rows_of(table)
    with recorded_stages(spark) as stages:
        assert icefloe.spark.delete_from(table, "id % 100 = 7", spark=spark) == MergeResult(0, ROWS // 100, 0)
    read, shuffled = stages()
    # A cached batch counts as a record.
    assert ROWS <= read <= ROWS + 4
    # The positions go to the tasks of their files, and a count of each file and task to the driver.
    assert ROWS // 100 <= shuffled <= 2 * ROWS // 100
    assert rows_of(table) == {one: row for one, row in before.items() if one % 100 != 7}


def test_update_reads_each_row_once_in_spark(spark, table):
    before = rows_of(table)
    with recorded_stages(spark) as stages:
        changed = icefloe.spark.update(
            table, {"name": "'x'", "place.city": "upper(place.city)"}, "id % 100 = 7", spark=spark
        )
    assert changed == MergeResult(ROWS // 100, 0, 0)
    read, shuffled = stages()
    # A cached batch counts as a record.
    assert ROWS <= read <= ROWS + 4
    assert shuffled <= 2 * ROWS // 100
    for one, row in before.items():
        if one % 100 == 7:
            row["name"] = "x"
            row["place"]["city"] = row["place"]["city"].upper()
    assert rows_of(table) == before


@pytest.mark.parametrize("verb", ["delete by a filter", "delete", "update", "merge"])
def test_small_files_of_a_partition_are_rewritten_as_one(spark, table, verb):
    """The Java runtime writes one file for each partition, and for rows of a few files without partitions."""
    partitions = len(table.spec().fields) + 1
    if verb == "delete by a filter":
        icefloe.spark.delete_from(table, "id in (1, 1001, 2001, 3001)", spark=spark)
    elif verb == "delete":
        icefloe.spark.delete_from(table, "id % 1000 = 1", spark=spark)
    elif verb == "update":
        icefloe.spark.update(table, {"name": "'x'"}, "id % 1000 = 1", spark=spark)
    else:
        source = spark.range(1, 4001, 1000).selectExpr("id", "'x' AS name")
        icefloe.spark.merge_into(table, source, ["id"]).when_matched_update({"name": "source.name"}).execute()
    assert files_of(table).num_rows == partitions
    assert len(rows_of(table)) == (ROWS - 4 if verb.startswith("delete") else ROWS)


def test_update_that_moves_rows_to_another_partition(spark, table):
    before = rows_of(table)
    assert icefloe.spark.update(table, {"half": "1 - half"}, "id % 1000 = 1", spark=spark).rows_updated == 4
    for one in range(1, ROWS, 1000):
        before[one]["half"] = 1 - before[one]["half"]
    assert rows_of(table) == before
    assert files_of(table).num_rows == len(table.spec().fields) + 1


def test_merge_updates_deletes_and_inserts(spark, table):
    before = rows_of(table)
    source = rows_from(spark.range(0, ROWS + 1_000, 10)).withColumn("name", F.concat(F.lit("s"), F.col("id")))
    merge = icefloe.spark.merge_into(table, source, ["id"])
    merge.when_matched_delete("source.id % 50 = 0")
    merge.when_matched_update({"name": "source.name"}, "source.id % 20 = 0")
    result = merge.when_not_matched_insert_all().execute()
    assert result == MergeResult(ROWS // 20 - ROWS // 100, ROWS // 50, 100)
    for one in range(0, ROWS, 10):
        if one % 50 == 0:
            del before[one]
        elif one % 20 == 0:
            before[one]["name"] = f"s{one}"
    after = rows_of(table)
    assert {one: after.pop(one)["name"] for one in range(ROWS, ROWS + 1_000, 10)} == {
        one: f"s{one}" for one in range(ROWS, ROWS + 1_000, 10)
    }
    assert after == before


def test_merge_refuses_two_changes_of_a_row(spark, table):
    source = spark.createDataFrame([(7, "a"), (7, "b"), (8, "c")], "id long, name string")
    merge = icefloe.spark.merge_into(table, source, ["id"]).when_matched_update({"name": "source.name"})
    before = files_of(table).column("file_path").to_pylist()
    with pytest.raises(icefloe.exceptions.ValidationError, match="several source rows change the same target row"):
        merge.execute()
    assert files_of(table).column("file_path").to_pylist() == before


def test_new_versions_stay_near_the_old_ones(spark, new_table):
    """A file that is sorted by chance keeps statistics that prune."""
    frame = spark.range(200_000).selectExpr("id", "concat('n', id) AS name")
    made = new_table(frame.schema, write__update__mode="copy-on-write")
    icefloe.spark.write(frame.coalesce(1), made)
    icefloe.spark.update(made, {"name": "'x'"}, "id % 100 = 7", spark=spark)
    ids = made.refresh().scan(selected_fields=("id",)).to_arrow()["id"].to_numpy()
    assert files_of(made).num_rows == 1
    assert abs(ids - range(200_000)).max() <= 65_536


def test_rewritten_files_lack_the_rows_of_older_deletes(spark, table):
    with table.transaction() as change:
        change.set_properties({"write.delete.mode": "merge-on-read"})
    icefloe.spark.delete_from(table, "id % 500 = 3", spark=spark)
    with table.transaction() as change:
        change.set_properties({"write.delete.mode": "copy-on-write"})
    assert icefloe.spark.delete_from(table, "id % 250 = 3", spark=spark).rows_deleted == 8
    assert icefloe.spark.update(table, {"name": "'x'"}, "id % 250 = 4", spark=spark).rows_updated == 16
    rows = rows_of(table)
    assert sorted(rows) == [one for one in range(ROWS) if one % 250 != 3]
    assert sum(row["name"] == "x" for row in rows.values()) == 16


def test_required_columns_refuse_nulls_of_an_update(spark, catalog, new_table):
    from icefloe.schema import Schema
    from icefloe.types import LongType, NestedField, StringType

    schema = Schema(
        NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType(), required=True)
    )
    made = new_table(schema)
    icefloe.spark.write(spark.range(20).selectExpr("id", "concat('n', id) AS name"), made)
    with pytest.raises(icefloe.exceptions.SchemaMismatchError, match="name"):
        icefloe.spark.update(made, {"name": "nullif(name, 'n7')"}, "id > 5", spark=spark)
    assert len(rows_of(made)) == 20
    assert icefloe.spark.update(made, {"name": "'x'"}, "id > 5", spark=spark).rows_updated == 14


@pytest.mark.parametrize("verb", ["update", "merge"])
def test_more_new_rows_than_a_task_holds_are_distributed_by_spark(spark, new_table, verb):
    rows = MOST_NEW_ROWS + 10
    frame = spark.range(rows + 10).selectExpr("id", "'old' AS name")
    made = new_table(frame.schema, **{f"write.{verb}.mode": "copy-on-write"})
    icefloe.spark.write(frame.coalesce(1), made)
    if verb == "update":
        assert icefloe.spark.update(made, {"name": "'new'"}, f"id < {rows}", spark=spark).rows_updated == rows
        assert files_of(made).num_rows == 1
    else:
        source = spark.range(rows).selectExpr("id", "'new' AS name")
        merge = icefloe.spark.merge_into(made, source, ["id"]).when_matched_update_all()
        assert merge.execute() == MergeResult(rows, 0, 0)
    names = made.refresh().scan().to_arrow()["name"].value_counts().to_pylist()
    assert {one["values"]: one["counts"] for one in names} == {"new": rows, "old": 10}


def test_range_distribution_orders_rewritten_rows(spark, new_table):
    """Spark distributes the rows: the files of the Java runtime have ranges of the order."""
    frame = spark.range(4_000).selectExpr("id", "id % 10 AS digit")
    order = SortOrder(SortField(2))
    made = new_table(frame.schema, sort_order=order, **{"write.delete.distribution-mode": "range"})
    icefloe.spark.write(frame.coalesce(1), made)
    assert icefloe.spark.delete_from(made, "id % 8 = 0", spark=spark).rows_deleted == 500
    assert icefloe.spark.delete_from(made, "digit = 1", spark=spark).rows_deleted == 400
    digits = made.refresh().scan(selected_fields=("digit",)).to_arrow()["digit"].to_pylist()
    assert len(digits) == 3_100
    assert set(files_of(made).column("sort_order_id").to_pylist()) == {1}
