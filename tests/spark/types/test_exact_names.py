"""Names of columns and fields in writes of sessions that distinguish case."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import SchemaMismatchError
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

SCHEMA = "id bigint, p struct<a: int>, l array<struct<x: int>>, m map<string, struct<y: int>>"
ROW = "1L AS id, named_struct('a', 1) AS p, array(named_struct('x', 1)) AS l, map('k', named_struct('y', 1)) AS m"
OTHER_VALUE, OTHER_ELEMENT = ROW.replace("'y'", "'Y'"), ROW.replace("'x'", "'X'")


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


@pytest.mark.parametrize(("old", "new"), [("'a'", "'A'"), ("'x'", "'X'"), ("'y'", "'Y'")])
def test_data_source_accepts_fields_of_another_case_elsewhere(spark, table, source, old, new):
    rows = spark.sql(f"SELECT {ROW.replace(old, new)} UNION ALL SELECT 2, NULL, array(NULL), NULL")
    rows.write.format("icefloe").options(**source).mode("append").save()
    assert table.refresh().scan().to_arrow().sort_by("id").to_pylist() == [
        {"id": 1, "p": {"a": 1}, "l": [{"x": 1}], "m": [("k", {"y": 1})]},
        {"id": 2, "p": None, "l": [None], "m": None},
    ]


def test_data_source_refuses_fields_of_another_case(spark, table, source, exact):
    rows = spark.sql(f"SELECT {OTHER_VALUE}").write.format("icefloe")
    with pytest.raises(PySparkException, match=r"column 'm\.Y' is not in the table; expected one of"):
        rows.options(**source).mode("append").save()
    assert table.refresh().current_snapshot() is None


def test_fields_whose_names_differ_in_case_alone_keep_their_places(spark, new_table, catalog, exact):
    made = new_table(StructType.fromDDL("s struct<a: int, A: int>"))
    icefloe.spark.register(spark)
    given = {f"catalog.{key}": catalog.properties[key] for key in ("uri", "warehouse")}
    options = {"catalog": "lake", "catalog.type": "sql", **given, "table": ".".join(made.name())}
    with pytest.raises(PySparkException, match="column 's' does not fit"):
        spark.sql("SELECT named_struct('A', 1, 'a', 2) AS s").write.format("icefloe").options(**options).mode(
            "append"
        ).save()


def test_stream_accepts_fields_of_another_case(spark, table, source, tmp_path):
    spark.sql(f"SELECT {OTHER_ELEMENT}").write.parquet(str(tmp_path / "rows"))
    stream = spark.readStream.schema(spark.read.parquet(str(tmp_path / "rows")).schema).parquet(str(tmp_path / "rows"))
    sink = stream.writeStream.format("icefloe").options(**source, checkpointLocation=str(tmp_path / "checkpoint"))
    sink.trigger(availableNow=True).start().awaitTermination()
    assert table.refresh().scan().to_arrow()["l"].to_pylist() == [[{"x": 1}]]


def test_stream_refuses_names_of_another_case(spark, table, source, exact, tmp_path):
    spark.sql(f"SELECT {ROW.replace('AS id', 'AS ID')}").write.parquet(str(tmp_path / "rows"))
    stream = spark.readStream.schema(spark.read.parquet(str(tmp_path / "rows")).schema).parquet(str(tmp_path / "rows"))
    sink = stream.writeStream.format("icefloe").options(**source, checkpointLocation=str(tmp_path / "checkpoint"))
    query = sink.trigger(availableNow=True).start()
    with pytest.raises(PySparkException, match="column 'ID' is not in the table; expected one of"):
        query.awaitTermination()
    assert table.refresh().current_snapshot() is None
