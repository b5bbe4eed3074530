"""Arguments of wrong types are refused by one kind of exception, which names the argument, before anything is written."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark import functions, stream


@pytest.fixture(scope="module")
def frame(spark):
    return spark.range(3).selectExpr("id", "'x' AS name")


@pytest.fixture
def table(frame, new_table):
    made = new_table(frame.schema)
    yield made
    assert made.refresh().snapshots() == []


TABLES = {
    "write": lambda table, frame: icefloe.spark.write(frame, table),
    "delete": lambda table, _: icefloe.spark.delete_from(table, "true"),
    "update": lambda table, _: icefloe.spark.update(table, {"name": "'x'"}),
    "merge": lambda table, frame: icefloe.spark.merge_into(table, frame, ["id"]),
    "merge_batches": lambda table, _: stream.merge_batches(table, ["id"]),
    "changes": lambda table, _: icefloe.spark.changes(table),
}


@pytest.mark.parametrize("value", [None, "db.events", 5])
@pytest.mark.parametrize("call", TABLES)
def test_calls_refuse_what_is_no_table(frame, call, value):
    with pytest.raises(ValidationError, match=f"{call}, table: expected a Table"):
        TABLES[call](value, frame)


FRAMES = {
    "write, frame": lambda table, frame: icefloe.spark.write(frame, table),
    "write_to, frame": lambda table, frame: icefloe.spark.write_to(frame, table),
    "merge, source": lambda table, frame: icefloe.spark.merge_into(table, frame, ["id"]),
    "transform, frame": lambda _, frame: functions.transform(frame, "bucket[4]", "id"),
}


@pytest.mark.parametrize("value", [None, "rows", [1]])
@pytest.mark.parametrize("call", FRAMES)
def test_calls_refuse_what_is_no_frame(table, call, value):
    with pytest.raises(ValidationError, match=f"{call}: expected a DataFrame of Spark, got a {type(value).__name__}"):
        FRAMES[call](table, value)


OTHERS = {
    "options: expected a mapping": lambda table, frame: icefloe.spark.write(frame, table, options="fast"),
    "update, set: expected a mapping": lambda table, _: icefloe.spark.update(table, [("name", "'x'")]),
    "snapshot_properties: expected a mapping": lambda table, _: icefloe.spark.delete_from(
        table, "true", snapshot_properties="x"
    ),
    "overwrite: expected a filter": lambda table, frame: icefloe.spark.write_to(frame, table).overwrite(
        frame["id"] > 1
    ),
    "sql: expected text": lambda _, frame: icefloe.spark.sql(frame.sparkSession, None),
    "attach: expected a catalog": lambda _, frame: icefloe.spark.attach(frame.sparkSession, "lake"),
    "detach, name: expected text": lambda _, frame: icefloe.spark.detach(frame.sparkSession, 5),
    "call, procedure: expected text": lambda table, _: icefloe.spark.call(None, table),
    "clauses: expected a function": lambda table, _: stream.merge_batches(table, ["id"], "all"),
    "num_buckets: expected a whole number": lambda *_: functions.bucket("16", "id"),
    "width: expected a whole number": lambda *_: functions.truncate(True, "id", source_type="long"),
    r"bucket\[0\]: out of range": lambda _, frame: functions.transform(frame, "bucket[0]", "id"),
    "transform: expected text": lambda _, frame: functions.transform(frame, 5, "id"),
    "prefix: expected text": lambda _, frame: functions.register(frame.sparkSession, prefix=None),
    "option snapshot-property.a: expected text, a number": lambda table, frame: icefloe.spark.write(
        frame, table, options={"snapshot-property.a": None}
    ),
    "option fanout-enabled: expected text, a number": lambda table, frame: icefloe.spark.write(
        frame, table, options={"fanout-enabled": [True]}
    ),
    "option branch: expected text, got 5": lambda table, frame: icefloe.spark.write(
        frame, table, options={"branch": 5}
    ),
    "table_property owner: expected text, a number": lambda table, frame: icefloe.spark.write_to(
        frame, table
    ).table_property("owner", None),
    "decimals: expected a list": lambda _, frame: functions.register(frame.sparkSession, decimals="decimal(4,2)"),
}


@pytest.mark.parametrize("message", OTHERS)
def test_calls_refuse_values_of_other_types(table, frame, message):
    with pytest.raises(ValidationError, match=message):
        OTHERS[message](table, frame)


@pytest.mark.parametrize("value", [None, "db.events", 5])
@pytest.mark.parametrize("call", ["read", "explain_read"])
def test_reads_refuse_what_is_no_table_and_no_scan(spark, call, value):
    with pytest.raises(ValidationError, match=f"{call}, source: expected a Table"):
        getattr(icefloe.spark, call)(value, spark=spark)


READS = {
    "snapshot_id: expected the id of a snapshot": {"snapshot_id": "x"},
    "start_snapshot_id: expected the id of a snapshot": {"start_snapshot_id": "x"},
    "as_of_timestamp: expected milliseconds": {"as_of_timestamp": "x"},
    "branch: expected text": {"branch": 5},
    "tag: expected text": {"tag": True},
    "columns: expected a list": {"columns": "id"},
}


@pytest.mark.parametrize("message", READS)
@pytest.mark.parametrize("call", ["read", "explain_read"])
def test_reads_refuse_arguments_of_other_types(table, spark, call, message):
    with pytest.raises(ValidationError, match=message):
        getattr(icefloe.spark, call)(table, spark=spark, **READS[message])


CHANGES = {
    "start_snapshot_id: expected the id of a snapshot": {"start_snapshot_id": "x"},
    "end_snapshot_id: expected the id of a snapshot": {"end_snapshot_id": 1.5},
    "start_timestamp: expected milliseconds": {"start_timestamp": "x"},
    "end_timestamp: expected milliseconds": {"end_timestamp": True},
    "identifier_columns: expected a list": {"identifier_columns": "id"},
    "columns: expected a list": {"columns": "id"},
}


@pytest.mark.parametrize("message", CHANGES)
def test_changes_refuse_arguments_of_other_types(table, spark, message):
    with pytest.raises(ValidationError, match=f"^{message}"):
        icefloe.spark.changes(table, spark=spark, **CHANGES[message])


@pytest.mark.parametrize("value", [None, 5, "x", "[1]", "{}", '{"type": "struct", "fields": [{"id": 1}]}'])
def test_schemas_for_spark_refuse_what_is_no_schema(value):
    with pytest.raises(ValidationError, match="to_spark_schema: expected a Schema"):
        icefloe.spark.to_spark_schema(value)


def test_write_options_may_be_numbers_and_booleans(frame, new_table):
    made = new_table(frame.schema)
    icefloe.spark.write(frame, made, options={"target-file-size-bytes": 10_000_000, "snapshot-property.a": True})
    assert made.refresh().current_snapshot().summary["a"] == "true"


def test_merge_of_a_micro_batch_refuses_clauses_that_return_no_merge(table, frame):
    merge = stream.merge_batches(table, ["id"], lambda _: None, query_id="q")
    with pytest.raises(ValidationError, match="clauses: expected a function that returns the merge, got None"):
        merge(frame, 0)
