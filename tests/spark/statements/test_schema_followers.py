"""Columns that writes add to attached tables, in the entries of Spark's own catalog."""

from __future__ import annotations

import warnings

import icefloe.spark
import pytest
from icefloe.types import StringType
from pyspark.sql import functions as F  # noqa: N812

MERGE = {"merge-schema": "true"}


@pytest.fixture
def table(lake, name):
    """The table of the name, loaded."""
    return lake.catalog.load_table(name.removeprefix("lake."))


@pytest.fixture
def plain(lake, name):
    """The name of the table in Spark's own catalog."""
    return lake.tables()[name.removeprefix("lake.")]


@pytest.fixture
def entries(lake, monkeypatch):
    """A list of the entries of Spark's own catalog that are made."""
    made, create_table = [], lake._session.create_table

    def recorded(database, table, source, schema):
        made.append(f"{database}.{table}")
        create_table(database, table, source, schema)

    monkeypatch.setattr(lake._session, "create_table", recorded)
    return made


def add_column(table, name):
    with table.update_schema() as change:
        change.add_column(name, StringType())


def run_stream(spark, tmp_path, function):
    """Run a function for one micro-batch of the rows (4,) and (5,) with a column `extra`."""
    rows = spark.range(4, 6).withColumn("extra", F.lit("x"))
    rows.write.parquet(f"{tmp_path}/rows")
    stream = spark.readStream.schema(rows.schema).parquet(f"{tmp_path}/rows")
    query = stream.writeStream.foreachBatch(function).option("checkpointLocation", f"{tmp_path}/checkpoint")
    query.trigger(availableNow=True).start().awaitTermination()


def test_writes_of_micro_batches_change_the_entries_in_the_catalog_of_spark(spark, table, plain, tmp_path):
    """Spark runs `foreachBatch` in a session of its own."""
    sessions = []

    def write(rows, _):
        sessions.append(rows.sparkSession)
        icefloe.spark.write(rows, table, options=MERGE)

    run_stream(spark, tmp_path, write)
    assert [one._jsparkSession.sessionUUID() == spark._jsparkSession.sessionUUID() for one in sessions] == [False]
    assert sorted(row.id for row in spark.sql(f"SELECT id FROM {plain} WHERE extra = 'x'").collect()) == [4, 5]


def test_writes_of_another_session_change_the_entries_in_the_catalog_of_spark(spark, table, plain):
    rows = spark.newSession().range(4, 5).withColumn("extra", F.lit("x"))
    icefloe.spark.write(rows, table, options=MERGE)
    assert spark.table(plain).columns == ["id", "name", "extra"]


def test_a_statement_brings_the_columns_of_the_data_source_into_the_catalog_of_spark(spark, sql, lake, name, plain):
    """The data source commits in a process of Spark, which has no session."""
    icefloe.spark.register(spark)
    options = {"catalog": "lake", **{f"catalog.{key}": value for key, value in lake.catalog.properties.items()}}
    rows = spark.range(4, 5).withColumn("extra", F.lit("x"))
    rows.write.format("icefloe").options(**options, mergeSchema="true").mode("append").save(name.removeprefix("lake."))
    assert spark.table(plain).columns == ["id", "name"]
    assert sql(f"SELECT extra FROM {name} WHERE id = 4") == [("x",)]
    assert [row.id for row in spark.sql(f"SELECT id FROM {plain} WHERE extra = 'x'").collect()] == [4]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM {plain}",
        "DELETE FROM {name} WHERE id = 1",
        "SELECT * FROM {name}.snapshots",
        "SELECT * FROM {name} VERSION AS OF {snapshot}",
        "DESCRIBE TABLE {name}",
    ],
)
def test_statements_bring_columns_of_other_writers_into_the_catalog_of_spark(
    spark, sql, name, table, plain, entries, statement
):
    add_column(table, "later")
    text = statement.format(name=name, plain=plain, snapshot=table.current_snapshot().snapshot_id)
    sql(text)
    assert spark.table(plain).columns == ["id", "name", "later"]
    sql(text)
    assert entries == [plain]


def test_a_query_returns_its_rows_if_the_entry_cannot_be_changed(spark, name, table, lake, monkeypatch):
    def fail(*_):
        raise OSError("no reply")

    add_column(table, "later")
    monkeypatch.setattr(lake._session, "create_table", fail)
    warning = rf"attach: the columns of {name.removeprefix('lake.')} have changed, but the tables .* no reply"
    with pytest.warns(UserWarning, match=warning) as found:
        rows = icefloe.spark.sql(spark, f"SELECT later FROM {name} WHERE id = 1")
    assert rows.collect() == [(None,)]
    assert {warning.filename for warning in found if warning.category is UserWarning} == {__file__}


def test_a_detached_catalog_makes_no_entry(spark, catalog, table):
    other = icefloe.spark.attach(spark, catalog, "other")
    icefloe.spark.detach(spark, "other")
    add_column(table, "later")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        other.follow_write(catalog, table.name())
        other.refresh()
    assert other.tables() == {}
    assert not spark.catalog.databaseExists("other_db")
