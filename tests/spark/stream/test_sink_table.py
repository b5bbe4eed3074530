"""A query goes on writing the table of its first micro-batch, and fails if another table has its name."""

from __future__ import annotations

import json
import pickle

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark.stream.options import SinkOptions
from icefloe.spark.stream.sink_table import FILE_NAME, check_sink_table
from icefloe.types import IntegerType, LongType
from pyspark.errors import StreamingQueryException

from tests.spark.stream.conftest import SCHEMA, numbered
from tests.spark.stream.engine import Query

CREATED_AGAIN = "was dropped and created again"


def create_again(table):
    """Drop a table, create it again and return the new one."""
    name, schema = table.name(), table.schema()
    table.catalog.drop_table(name)
    return table.catalog.create_table(name, schema)


@pytest.fixture
def pair(spark, new_table):
    """Return an empty source and an empty target."""
    icefloe.spark.register(spark)
    return new_table(SCHEMA), new_table(SCHEMA)


@pytest.fixture
def started(spark, pair, lake_options, tmp_path):
    """Return a function that starts a copy of the source, with options of the sink."""
    source, target = (".".join(table.name()) for table in pair)

    def start(checkpoint="checkpoint", **write):
        named = {key.replace("_", "-"): value for key, value in write.items()}
        rows = spark.readStream.format("icefloe").options(**lake_options).load(source)
        sink = rows.writeStream.format("icefloe").options(**lake_options, **named)
        return sink.option("checkpointLocation", f"{tmp_path}/{checkpoint}")

    return start, target


def run(writer, target):
    writer.trigger(availableNow=True).start(target).awaitTermination()


def ids(table):
    return sorted(table.refresh().scan().to_arrow()["id"].to_pylist())


def test_restarted_query_refuses_a_target_that_was_created_again(pair, started, tmp_path):
    source, target = pair
    start, name = started
    source.append(numbered(0, 3))
    run(start(), name)
    assert json.loads((tmp_path / "checkpoint" / FILE_NAME).read_text()) == {
        "version": 1,
        "table": name,
        "table_uuid": str(target.metadata.table_uuid),
    }
    fresh = create_again(target)
    source.append(numbered(3, 5))
    for _ in range(2):
        with pytest.raises(StreamingQueryException, match=CREATED_AGAIN):
            run(start(), name)
    assert ids(fresh) == []
    with pytest.raises(StreamingQueryException, match=r"option table-uuid: table .* is another table"):
        run(start(table_uuid=str(target.metadata.table_uuid)), name)
    run(start(table_uuid=str(fresh.metadata.table_uuid)), name)
    assert ids(fresh) == [3, 4]
    source.append(numbered(5, 6))
    run(start(), name)
    assert ids(fresh) == [3, 4, 5]
    newest = create_again(fresh)
    run(start("anew"), name)
    assert ids(newest) == [0, 1, 2, 3, 4, 5]


def test_running_query_refuses_a_target_that_was_created_again(pair, started):
    source, target = pair
    start, name = started
    source.append(numbered(0, 3))
    query = start().trigger(processingTime="0 seconds").start(name)
    try:
        query.processAllAvailable()
        assert ids(target) == [0, 1, 2]
        fresh = create_again(target)
        source.append(numbered(3, 5))
        with pytest.raises(StreamingQueryException, match=CREATED_AGAIN):
            query.processAllAvailable()
    finally:
        query.stop()
    assert ids(fresh) == []


def test_restarted_query_refuses_a_source_that_was_created_again(pair, started):
    source, target = pair
    start, name = started
    source.append(numbered(0, 3))
    run(start(), name)
    create_again(source).append(numbered(10, 12))
    with pytest.raises(StreamingQueryException, match=f"{CREATED_AGAIN}.*start the query with a new checkpoint"):
        run(start(), name)
    assert ids(target) == [0, 1, 2]
    run(start("anew"), name)
    assert ids(target) == [0, 1, 2, 10, 11]


@pytest.mark.parametrize("changes", ["false", "true"])
def test_reader_refuses_a_source_that_was_created_again(table, options, changes):
    table.append(numbered(0, 3))
    query = Query({**options, "changes": changes})
    query.batch()
    create_again(table).append(numbered(10, 12))
    for _ in range(2):
        with pytest.raises(ValidationError, match=f"{CREATED_AGAIN}.*start the query with a new checkpoint"):
            query.batch()
        query.restart()


@pytest.mark.parametrize("start", ["{}", "file:{}", "file://{}"])
def test_record_is_found_by_each_form_of_the_location(table, options, tmp_path, start):
    (tmp_path / "metadata").write_text("{}")
    given = SinkOptions.parse({**options, "checkpointLocation": start.format(tmp_path) + "/"})
    check_sink_table(table, given)
    assert (tmp_path / FILE_NAME).exists()
    with pytest.raises(ValidationError, match=CREATED_AGAIN):
        check_sink_table(create_again(table), given)


@pytest.mark.parametrize("location", ["{}/nowhere", "hdfs://nowhere:1/c", "unknown://c", "s3a://"])
def test_checkpoint_out_of_reach_has_no_record(table, options, tmp_path, location):
    check_sink_table(table, SinkOptions.parse({**options, "checkpointLocation": location.format(tmp_path)}))
    assert list(tmp_path.iterdir()) == []


def test_pickled_merge_refuses_a_target_that_was_created_again(table):
    merge = icefloe.spark.stream.merge_batches(table, ["id"], query_id="q")
    state = pickle.dumps(merge)
    assert pickle.loads(state)._table.metadata.table_uuid == table.metadata.table_uuid
    create_again(table)
    with pytest.raises(ValidationError, match=f"merge_batches: .*{CREATED_AGAIN}"):
        pickle.loads(state)
    with pytest.raises(ValidationError, match=CREATED_AGAIN):
        merge(None, 0)


# ---- the schema of the target


def test_target_takes_rows_by_name_after_changes_of_its_schema(pair, started):
    source, target = pair
    start, name = started

    def values_after(change):
        change(target.refresh().update_schema()).commit()
        number = source.scan().count()
        source.append(numbered(number, number + 1))
        run(start(), name)
        return list(target.refresh().scan(f"id = {number}").to_arrow().to_pylist()[0].items())

    assert values_after(lambda change: change.add_column("more", LongType())) == [
        ("id", 0),
        ("kind", 0),
        ("more", None),
    ]
    assert values_after(lambda change: change.update_column("kind", LongType()))[:2] == [("id", 1), ("kind", 0)]
    again = values_after(lambda change: change.delete_column("kind").add_column("kind", IntegerType()))
    assert again == [("id", 2), ("more", None), ("kind", 0)]
    assert [row["kind"] for row in target.scan("id < 2").to_arrow().to_pylist()] == [None, None]
    with pytest.raises(StreamingQueryException, match="column 'kind' is not in the table"):
        values_after(lambda change: change.rename_column("kind", "sort"))


def test_stream_of_old_columns_names_the_remedy_until_it_is_loaded_again(spark, pair, lake_options, tmp_path):
    source, target = pair
    source.append(numbered(0, 2))
    read = spark.readStream.format("icefloe").options(**lake_options)
    frame = read.load(".".join(source.name()))

    def copy(rows):
        sink = rows.writeStream.format("icefloe").options(**lake_options)
        run(sink.option("checkpointLocation", f"{tmp_path}/c"), ".".join(target.name()))

    copy(frame)
    source.update_schema().rename_column("kind", "sort").commit()
    source.append(pa.table({"id": [2], "sort": pa.array([7], pa.int32())}))
    for _ in range(2):
        with pytest.raises(StreamingQueryException, match="load the stream again and restart the query"):
            copy(frame)
    copy(read.load(".".join(source.name())).withColumnRenamed("sort", "kind"))
    newest = max(target.refresh().scan().to_arrow().to_pylist(), key=lambda row: row["id"])
    assert newest == {"id": 2, "kind": 7}


def test_sink_matches_fields_of_structs_by_name(spark, new_table, lake_options, tmp_path):
    icefloe.spark.register(spark)
    columns = "p struct<a: int, b: int>, l array<struct<x: int, y: int>>, m map<string, struct<c: int, d: int>>"
    table = new_table(spark.createDataFrame([], columns).schema)
    given = "p struct<B: int, a: int>, l array<struct<y: int, X: int>>, m map<string, struct<D: int, C: int>>"
    row = ((2, 1), [(4, 3)], {"k": (6, 5)})
    spark.createDataFrame([row], given).write.parquet(f"{tmp_path}/rows")
    rows = spark.readStream.schema(given).parquet(f"{tmp_path}/rows")
    sink = rows.writeStream.format("icefloe").options(**lake_options)
    run(sink.option("checkpointLocation", f"{tmp_path}/checkpoint"), ".".join(table.name()))
    (found,) = table.refresh().scan().to_arrow().to_pylist()
    assert found == {"p": {"a": 1, "b": 2}, "l": [{"x": 3, "y": 4}], "m": [("k", {"c": 5, "d": 6})]}
