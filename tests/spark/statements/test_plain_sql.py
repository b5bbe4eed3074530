"""Statements of plain `spark.sql` on the databases of attached tables that reach no Iceberg table, and the ones in their place."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.spark.session import settings
from pyspark.errors import PySparkException

DYNAMIC = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
DROP_IT = (
    r"made is an entry of Spark's own catalog without an Iceberg table; drop the entry .* icefloe\.spark\.sql\(spark, "
)


@pytest.fixture
def plain(spark, lake, name):
    """The name of a table that is not there, in Spark's own catalog."""
    icefloe.spark.register(spark)
    made = f"{lake.tables()[name.removeprefix('lake.')]}_new"
    yield made
    spark.sql(f"DROP TABLE IF EXISTS {made}")


@pytest.mark.parametrize("statement", ["INSERT INTO {} VALUES (1)", "SELECT * FROM {}"])
def test_use_of_an_entry_that_create_table_of_spark_made_is_an_error_with_advice(spark, plain, statement):
    spark.sql(f"CREATE TABLE {plain} (id bigint) USING icefloe")
    with pytest.raises(PySparkException, match=DROP_IT):
        spark.sql(statement.format(plain)).collect()


@pytest.mark.parametrize("rest", ["", " AS SELECT 1L AS id"])
def test_create_table_of_spark_without_columns_is_an_error_with_advice(spark, plain, rest):
    with pytest.raises(PySparkException, match=DROP_IT):
        spark.sql(f"CREATE TABLE {plain} USING icefloe{rest}")


def test_create_table_replaces_an_entry_that_spark_made(spark, sql, name, plain):
    spark.sql(f"CREATE TABLE {plain} (id bigint) USING icefloe")
    sql(f"CREATE TABLE {name}_new (id bigint)")
    spark.sql(f"INSERT INTO {plain} VALUES (1)")
    assert sql(f"SELECT * FROM {name}_new") == [(1,)]


@pytest.fixture
def partitioned(sql, name):
    """The name of a table partitioned by `kind` with the rows (1, 1), (2, 2)."""
    sql(f"CREATE TABLE {name}_p (id bigint, kind int) PARTITIONED BY (kind)")
    sql(f"INSERT INTO {name}_p VALUES (1, 1), (2, 2)")
    return f"{name}_p"


def test_dynamic_overwrites_that_spark_refuses_have_others_in_their_place(spark, sql, lake, partitioned):
    icefloe.spark.register(spark)
    name = partitioned.removeprefix("lake.")
    plain = lake.tables()[name]
    rows = spark.createDataFrame([(5, 1)], "id bigint, kind int")
    options = {"catalog": "lake", **{f"catalog.{key}": value for key, value in lake.catalog.properties.items()}}
    with settings(spark, DYNAMIC):
        for refused in (
            lambda: spark.sql(f"INSERT OVERWRITE {plain} VALUES (5, 1)"),
            lambda: rows.writeTo(plain).overwritePartitions(),
        ):
            with pytest.raises(PySparkException, match="dynamic"):
                refused()
        sql(f"INSERT OVERWRITE {partitioned} VALUES (3, 1)")
        assert sorted(sql(f"SELECT * FROM {partitioned}")) == [(2, 2), (3, 1)]
    table = lake.catalog.load_table(name)
    icefloe.spark.write_to(rows.selectExpr("id - 1 AS id", "kind"), table).overwrite_partitions()
    assert sorted(sql(f"SELECT * FROM {partitioned}")) == [(2, 2), (4, 1)]
    write = rows.write.format("icefloe").options(**options).option("overwrite-mode", "dynamic").mode("overwrite")
    write.save(name)
    assert sorted(sql(f"SELECT * FROM {partitioned}")) == [(2, 2), (5, 1)]
    spark.sql(f"INSERT OVERWRITE {plain} WITH ('overwrite-mode' = 'dynamic') VALUES (6, 1)")
    assert sorted(sql(f"SELECT * FROM {partitioned}")) == [(2, 2), (6, 1)]
