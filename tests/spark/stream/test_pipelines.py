"""Queries of Spark from one table to another: sources, sinks, merges, restarts and repeated micro-batches."""

from __future__ import annotations

from pathlib import Path

import duckdb
import duckdb_extensions
import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark.session import settings
from icefloe.spark.stream.options import SinkOptions
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from tests.spark.stream.conftest import BY_KIND, HAS_ADMISSION_CONTROL, SCHEMA, expire, forget_commit, ids_of, numbered

EPOCH = "spark.sql.streaming.epochId"


@pytest.fixture
def pipeline(spark, table, new_table, lake_options, tmp_path):
    """Return a function that copies new rows of the table to another, and that other table."""
    icefloe.spark.register(spark)
    target = new_table(SCHEMA, BY_KIND)

    def run(read=None, write=None, mode="append", change=lambda frame: frame):
        source = spark.readStream.format("icefloe").options(**lake_options, **(read or {}))
        frame = change(source.load(".".join(table.name())))
        sink = frame.writeStream.format("icefloe").options(**lake_options, **(write or {})).outputMode(mode)
        sink = sink.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        query = sink.start(".".join(target.name()))
        query.awaitTermination()
        target.refresh()
        return query

    return run, target


def epochs(table):
    """Return the numbers of the micro-batches of a table's snapshots, oldest first."""
    return [snapshot.summary[EPOCH] for snapshot in table.snapshots()]


def rows_of(table, branch=None, **scan):
    found = table.scan(**scan) if branch is None else table.scan(**scan).use_ref(branch)
    return sorted((row["id"], row["kind"]) for row in found.to_arrow().to_pylist())


def test_pipeline_commits_each_micro_batch_once(pipeline, table, tmp_path):
    run, target = pipeline
    table.append(numbered(0, 100, kinds=3))
    query = run(write={"fanout-enabled": "true", "snapshot-property.job": "copy"})
    assert rows_of(target) == rows_of(table)
    summary = dict(target.current_snapshot().summary)
    assert (summary["spark.sql.streaming.queryId"], summary[EPOCH], summary["job"]) == (str(query.id), "0", "copy")

    table.append(numbered(100, 150, kinds=3))
    run()
    files = sorted(str(path) for path in Path(target.location().removeprefix("file://")).rglob("*.parquet"))
    for number in range(3):  # commits of others between the micro-batch and its repetition
        target.append(numbered(1000 + number, 1001 + number))
    forget_commit(tmp_path, 1)
    run()
    assert [number for number in epochs(target) if number is not None] == ["0", "1"]
    assert rows_of(target, row_filter="id < 1000") == rows_of(table)
    later = {str(path) for path in Path(target.location().removeprefix("file://")).rglob("*.parquet")}
    assert len(later - set(files)) == 3  # the repetition's files were deleted

    table.append(numbered(150, 160, kinds=3))
    run()
    assert rows_of(target, row_filter="id < 1000") == rows_of(table)


def test_rows_of_a_sink_are_those_of_duckdb_and_pyiceberg(pipeline, table):
    from pyiceberg.table import StaticTable

    run, target = pipeline
    table.append(numbered(0, 60, kinds=4))
    run()
    other = StaticTable.from_metadata(target.metadata_location).scan().to_arrow()
    assert sorted((row["id"], row["kind"]) for row in other.to_pylist()) == rows_of(table)
    connection = duckdb.connect()
    duckdb_extensions.import_extension("avro", con=connection)
    duckdb_extensions.import_extension("iceberg", con=connection)
    found = connection.sql(f"select id, kind from iceberg_scan('{target.metadata_location}') order by id").fetchall()
    assert found == rows_of(table)


def test_sink_commits_to_a_branch(pipeline, table):
    run, target = pipeline
    target.append(numbered(900, 901))
    table.append(numbered(0, 10, kinds=2))
    run(write={"branch": "audit"})
    assert len(rows_of(target)) == 1
    assert target.scan().use_ref("audit").count() == 11


def test_micro_batches_of_an_audited_session_go_to_its_branch_once(pipeline, spark, table, tmp_path):
    run, target = pipeline
    target.append(numbered(900, 901))
    with target.update_properties() as update:
        update.set_properties({"write.wap.enabled": "true"})
    with settings(spark, {"spark.wap.branch": "audit"}):
        table.append(numbered(0, 4))
        run()
        forget_commit(tmp_path, 0)
        run()
        table.append(numbered(4, 6))
        run()
    assert rows_of(target) == [(900, 0)]
    assert rows_of(target, branch="audit") == [*((one, 0) for one in range(6)), (900, 0)]
    assert epochs(target) == [None, "0", "1"]


def test_sink_refuses_a_session_that_stages_and_leaves_no_file(pipeline, spark, table):
    run, target = pipeline
    with target.update_properties() as update:
        update.set_properties({"write.wap.enabled": "true"})
    table.append(numbered(0, 4))
    words = r"expected a session without spark\.wap\.id, got spark\.wap\.id='nightly': set spark\.wap\.branch"
    with settings(spark, {"spark.wap.id": "nightly"}), pytest.raises(StreamingQueryException, match=words):
        run()
    assert target.refresh().snapshots() == []
    assert list(Path(target.location().removeprefix("file://")).rglob("*.parquet")) == []


def test_complete_mode_replaces_all_rows(pipeline, table, tmp_path):
    run, target = pipeline

    def count(frame):
        return frame.groupBy("kind").agg(F.count("*").alias("id")).select("id", "kind")

    table.append(numbered(0, 10, kinds=2))
    run(mode="complete", change=count)
    assert rows_of(target) == [(5, 0), (5, 1)]
    table.append(numbered(10, 14, kinds=2))
    run(mode="complete", change=count)
    forget_commit(tmp_path, 1)
    run(mode="complete", change=count)
    assert rows_of(target) == [(7, 0), (7, 1)]
    assert epochs(target) == ["0", "1"]


def test_sink_refuses_rows_options_and_update_mode(pipeline, table):
    run, _ = pipeline
    table.append(numbered(0, 10))
    with pytest.raises(StreamingQueryException, match="column 'more' is not in the table"):
        run(change=lambda frame: frame.withColumn("more", F.lit(1)))
    with pytest.raises(StreamingQueryException, match="unknown option of a streaming write"):
        run(write={"overwrite-mode": "dynamic"})
    with pytest.raises(StreamingQueryException, match="does not support Update mode"):
        run(mode="update")


def test_sink_refuses_an_option_without_effect(options):
    with pytest.raises(ValidationError, match=r"unknown option of a streaming write; .* got 'case-sensitive'"):
        SinkOptions.parse({**options, "case-sensitive": "false"})


def test_changes_of_a_table_stream_through_spark(spark, table, lake_options, tmp_path):
    icefloe.spark.register(spark)
    table.append(numbered(0, 10, kinds=2))
    table.delete("id = 3")
    source = spark.readStream.format("icefloe").options(**lake_options, changes="true", columns="id")
    sink = source.load(".".join(table.name())).writeStream.format("memory").queryName("changed")
    sink.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination()
    found = spark.table("changed").groupBy("_change_type", "_change_ordinal").count().collect()
    assert sorted(tuple(row) for row in found) == [("DELETE", 1, 1), ("INSERT", 0, 10)]


def test_expired_checkpoint_fails_the_query(pipeline, table):
    run, target = pipeline
    table.append(numbered(0, 2))
    run()
    for start in (2, 4):
        table.append(numbered(start, start + 2))
    expire(table, *ids_of(table)[:2])
    with pytest.raises(StreamingQueryException, match="were expired before the stream read them"):
        run()
    assert rows_of(target) == [(0, 0), (1, 0)]


def test_table_rolled_back_and_forward_is_copied_once(pipeline, table):
    run, target = pipeline
    for start in (0, 2):
        table.append(numbered(start, start + 2))
    run()
    first, second = ids_of(table)
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    with pytest.raises(StreamingQueryException, match="was rolled back or its history replaced"):
        run()
    table.manage_snapshots().set_current_snapshot(second).commit()
    if HAS_ADMISSION_CONTROL:
        run()
    else:  # Spark has recorded the end of the micro-batch that failed
        with pytest.raises(StreamingQueryException, match=f"a new checkpoint location and start-snapshot-id={second}"):
            run()
    assert rows_of(target) == rows_of(table)


# ---- merges of micro-batches


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_merge_of_a_micro_batch_happens_once(spark, table, new_table, lake_options, tmp_path, mode):
    icefloe.spark.register(spark)
    counts = T.StructType([T.StructField("kind", T.IntegerType()), T.StructField("n", T.LongType())])
    target = new_table(counts, write__merge__mode=mode)
    merge = icefloe.spark.stream.merge_batches(
        target,
        ["kind"],
        lambda merge: merge.when_matched_update({"n": "target.n + source.n"}).when_not_matched_insert_all(),
    )

    def count(rows, batch_id):
        merge(rows.groupBy("kind").agg(F.count("*").alias("n")), batch_id)

    def run():
        source = spark.readStream.format("icefloe").options(**lake_options).load(".".join(table.name()))
        sink = source.writeStream.foreachBatch(count).option("checkpointLocation", str(tmp_path / "checkpoint"))
        sink.trigger(availableNow=True).start().awaitTermination()

    def found():
        return sorted((row["kind"], row["n"]) for row in target.refresh().scan().to_arrow().to_pylist())

    table.append(numbered(0, 10, kinds=2))
    run()
    table.append(numbered(10, 20, kinds=4))
    run()
    assert found() == [(0, 7), (1, 7), (2, 3), (3, 3)]
    target.append(pa.table({"kind": pa.array([9], pa.int32()), "n": [1]}))
    forget_commit(tmp_path, 1)
    run()
    assert found() == [(0, 7), (1, 7), (2, 3), (3, 3), (9, 1)]


def test_merge_of_a_micro_batch_into_the_branch_of_an_audit_happens_once(spark, new_table):
    target = new_table(SCHEMA, write__wap__enabled="true")
    target.append(numbered(0, 1))
    merge = icefloe.spark.stream.merge_batches(
        target,
        ["id"],
        lambda merge: merge.when_matched_update({"kind": "target.kind + source.kind"}).when_not_matched_insert_all(),
        query_id="audited",
    )
    rows = spark.createDataFrame([(0, 1), (1, 1)], "id long, kind int")
    with settings(spark, {"spark.wap.branch": "audit"}):
        for batch_id in (0, 0, 1):
            merge(rows, batch_id)
    assert rows_of(target.refresh()) == [(0, 0)]
    assert rows_of(target, branch="audit") == [(0, 2), (1, 2)]
    with (
        settings(spark, {"spark.wap.id": "nightly"}),
        pytest.raises(ValidationError, match=r"expected a session without spark\.wap\.id"),
    ):
        merge(rows, 2)


def test_merge_outside_of_a_query_needs_a_query_id(spark, table):
    with pytest.raises(ValidationError, match=r"pass query_id='\.\.\.'"):
        icefloe.spark.stream.merge_batches(table, ["id"])(spark.range(1).selectExpr("id", "1 kind"), 0)
    with pytest.raises(ValidationError, match="no key columns"):
        icefloe.spark.stream.merge_batches(table, [])
