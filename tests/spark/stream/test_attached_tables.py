"""Streams of attached tables by their names in Spark's own catalog: `readStream.table` and `toTable`."""

from __future__ import annotations

import icefloe.spark
import pytest
from pyspark.errors import StreamingQueryException

from tests.spark.stream.conftest import BY_KIND, HAS_ADMISSION_CONTROL, SCHEMA, forget_commit, numbered

EPOCH = "spark.sql.streaming.epochId"


@pytest.fixture
def target(new_table):
    return new_table(SCHEMA, BY_KIND)


@pytest.fixture
def copy(spark, catalog, table, target, tmp_path):
    """A function that streams new rows of the table to the target, by their names in Spark's own catalog."""
    lake = icefloe.spark.attach(spark, catalog, "streamed")

    def run(read=None, write=None, change=lambda frame: frame, mode="append"):
        names = [lake.tables()[".".join(one.name())] for one in (table, target)]
        found = change(spark.readStream.options(**(read or {})).table(names[0]))
        sink = found.writeStream.outputMode(mode).options(**(write or {}))
        sink = sink.option("checkpointLocation", f"{tmp_path}/checkpoint").trigger(availableNow=True)
        query = sink.toTable(names[1])
        query.awaitTermination()
        target.refresh()
        return query

    yield run
    icefloe.spark.detach(spark, "streamed")


def rows_of(table, **scan):
    return sorted((row["id"], row["kind"]) for row in table.scan(**scan).to_arrow().to_pylist())


def test_stream_from_table_to_table_commits_each_micro_batch_once(copy, table, target, tmp_path):
    table.append(numbered(0, 100, kinds=3))
    query = copy(write={"fanout-enabled": "true", "snapshot-property.job": "copy"})
    assert rows_of(target) == rows_of(table)
    summary = dict(target.current_snapshot().summary)
    assert (summary["spark.sql.streaming.queryId"], summary[EPOCH], summary["job"]) == (str(query.id), "0", "copy")
    table.append(numbered(100, 150, kinds=3))
    copy()
    target.append(numbered(1000, 1001))
    forget_commit(tmp_path, 1)
    copy()
    table.append(numbered(150, 160, kinds=3))
    copy()
    assert [one.summary[EPOCH] for one in target.snapshots()] == ["0", "1", None, "2"]
    assert rows_of(target, row_filter="id < 1000") == rows_of(table)


def test_options_of_streams_apply_to_attached_tables(copy, table, target):
    table.append(numbered(0, 10))
    first = table.current_snapshot().snapshot_id
    table.append(numbered(10, 20))
    table.delete("id = 12")
    skipping = {f"streaming-skip-{kind}-snapshots": "true" for kind in ("delete", "overwrite")}
    copy(read={"start-snapshot-id": str(first), "filter": "id < 15", **skipping}, write={"branch": "audit"})
    assert rows_of(target) == []
    found = target.scan().use_ref("audit").to_arrow()["id"].to_pylist()
    assert sorted(found) == list(range(10, 15))


def test_complete_mode_replaces_the_rows_of_an_attached_table(copy, table, target):
    def counts(frame):
        return frame.groupBy("kind").count().selectExpr("`count` AS id", "kind")

    for start in (0, 10):
        table.append(numbered(start, start + 10, kinds=2))
        copy(change=counts, mode="complete")
    assert rows_of(target) == [(10, 0), (10, 1)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"read": {"streaming-nothing": "1"}}, "options: unknown option; .* got 'streaming-nothing'"),
        (
            {"read": {"changes": "true"}},
            r"option changes: Spark's entry of an attached table .*spark\.readStream\.format",
        ),
        ({"read": {"catalog.uri": "x"}}, "an attached table is fixed"),
        ({"write": {"branch": "b", "filter": "id > 1"}}, "unknown option of a streaming write"),
    ],
)
def test_wrong_options_of_streams_of_attached_tables_are_errors(copy, table, options, words):
    table.append(numbered(0, 2))
    with pytest.raises(StreamingQueryException, match=words):
        copy(**options)


@pytest.mark.skipif(HAS_ADMISSION_CONTROL, reason="this Spark has limits")
def test_limits_of_attached_streams_are_refused_where_spark_has_none(copy, table):
    table.append(numbered(0, 2))
    with pytest.raises(StreamingQueryException, match="options streaming-max-"):
        copy(read={"streaming-max-files-per-micro-batch": "1"})
