"""Names of columns and fields in writes of sessions that distinguish case."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import SchemaMismatchError
from pyspark.errors import PySparkException

SCHEMA = "id bigint, p struct<a: int>, l array<struct<x: int>>, m map<string, struct<y: int>>"
ROW = "1L AS id, named_struct('a', 1) AS p, array(named_struct('x', 1)) AS l, map('k', named_struct('y', 1)) AS m"


@pytest.fixture
def table(spark, new_table):
    return new_table(spark.createDataFrame([], SCHEMA).schema)


@pytest.fixture
def exact(spark):
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield
    spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [("AS id", "AS ID", "ID"), ("'a'", "'A'", "p.A"), ("'x'", "'X'", "l.X"), ("'y'", "'Y'", "m.Y")],
)
def test_names_of_another_case_are_refused(spark, table, exact, old, new, name):
    frame = spark.sql(f"SELECT {ROW.replace(old, new)}")
    with pytest.raises(SchemaMismatchError, match=f"column '{name}' is not in the table; expected one of"):
        icefloe.spark.write(frame, table)
    assert table.refresh().current_snapshot() is None
    icefloe.spark.write(spark.sql(f"SELECT {ROW}"), table)
    assert table.scan().count() == 1


@pytest.mark.parametrize(("old", "new"), [("AS id", "AS ID"), ("'a'", "'A'"), ("'x'", "'X'"), ("'y'", "'Y'")])
def test_names_of_another_case_are_accepted_elsewhere(spark, table, old, new):
    icefloe.spark.write(spark.sql(f"SELECT {ROW.replace(old, new)}"), table)
    assert table.scan().count() == 1


def test_merge_schema_adds_a_column_of_another_case(spark, table, exact):
    frame = spark.sql(f"SELECT {ROW}, 5 AS ID")
    icefloe.spark.write(frame, table, "append", {"merge-schema": "true"})
    assert [field.name for field in table.schema().fields] == ["id", "p", "l", "m", "ID"]
    assert [row.ID for row in icefloe.spark.read(table).collect()] == [5]


@pytest.fixture
def source(spark, catalog, table):
    """The options of the table's data source."""
    icefloe.spark.register(spark)
    given = {f"catalog.{key}": catalog.properties[key] for key in ("uri", "warehouse")}
    return {"catalog": "lake", "catalog.type": "sql", **given, "table": ".".join(table.name())}


def test_data_source_refuses_names_of_another_case(spark, table, source, exact):
    rows = spark.sql(f"SELECT {ROW.replace('AS id', 'AS ID')}").write.format("icefloe").options(**source)
    with pytest.raises(PySparkException, match="column 'ID' is not in the table; expected one of"):
        rows.mode("append").save()
    assert table.refresh().current_snapshot() is None
    spark.sql(f"SELECT {ROW}").write.format("icefloe").options(**source).mode("append").save()
    assert table.refresh().scan().count() == 1


def test_data_source_accepts_names_of_another_case_elsewhere(spark, table, source):
    rows = spark.sql(f"SELECT {ROW.replace('AS id', 'AS ID')}")
    rows.write.format("icefloe").options(**source).mode("append").save()
    assert table.refresh().scan().to_arrow()["id"].to_pylist() == [1]


def test_stream_refuses_names_of_another_case(spark, table, source, exact, tmp_path):
    spark.sql(f"SELECT {ROW.replace('AS id', 'AS ID')}").write.parquet(str(tmp_path / "rows"))
    stream = spark.readStream.schema(spark.read.parquet(str(tmp_path / "rows")).schema).parquet(str(tmp_path / "rows"))
    sink = stream.writeStream.format("icefloe").options(**source, checkpointLocation=str(tmp_path / "checkpoint"))
    query = sink.trigger(availableNow=True).start()
    with pytest.raises(PySparkException, match="column 'ID' is not in the table; expected one of"):
        query.awaitTermination()
    assert table.refresh().current_snapshot() is None
