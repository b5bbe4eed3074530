"""Statements that write tables of Spark's own from attached tables."""

from __future__ import annotations

import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from pyspark.errors import AnalysisException, PySparkException


@pytest.fixture
def own(spark):
    """Return the name of a table of Spark's own; drop the table afterwards."""
    spark.sql("DROP TABLE IF EXISTS own_rows")
    yield "own_rows"
    spark.sql("DROP TABLE IF EXISTS own_rows")


def rows_of(spark, table):
    return sorted(tuple(row) for row in spark.table(table).collect())


def test_create_table_of_spark_has_the_rows_of_an_attached_table(spark, sql, name, own):
    sql(
        f"CREATE TABLE IF NOT EXISTS {own} USING parquet COMMENT '{{n}}' AS SELECT * FROM {name} WHERE id < :most",
        {"most": 3},
    )
    assert rows_of(spark, own) == [(1, "a"), (2, "b")]
    assert spark.catalog.getTable(own).description == "{n}"


def test_create_table_of_spark_has_the_number_of_rows(spark, sql, name, own):
    sql(f"CREATE TABLE {own} (SELECT count(*) AS n FROM {name})")
    assert rows_of(spark, own) == [(3,)]


def test_insert_of_spark_adds_rows_of_attached_tables(spark, sql, name, own):
    spark.sql(f"CREATE TABLE {own} (id bigint, name string DEFAULT 'none') USING parquet")
    table = name.rsplit(".", maxsplit=1)[-1]
    sql(f"INSERT INTO {own} SELECT * FROM {name} WHERE {table}.id = 1")
    sql(f"INSERT INTO TABLE {own} (name, id) (SELECT name, id + 10 FROM {name} VERSION AS OF 'main' WHERE id = 2)")
    sql(f"WITH w AS (SELECT id FROM {name}) INSERT INTO {own} (id) SELECT max(id) FROM w")
    assert rows_of(spark, own) == [(1, "a"), (3, "none"), (12, "b")]
    sql(f"INSERT OVERWRITE {own} TABLE {name}")
    assert len(rows_of(spark, own)) == 3


def test_insert_of_spark_writes_a_directory(spark, sql, name, tmp_path):
    sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/rows' USING parquet SELECT * FROM {name} WHERE id < 3")
    assert sorted(row.id for row in spark.read.parquet(f"{tmp_path}/rows").collect()) == [1, 2]


def test_inserts_after_one_from_write_tables_of_both_kinds(spark, sql, name, own):
    spark.sql(f"CREATE TABLE {own} (id bigint, name string DEFAULT 'none') USING parquet")
    sql(
        f"FROM {name} INSERT INTO {own} SELECT id, DEFAULT WHERE id = 1 INSERT INTO {name} SELECT id + 3, name WHERE id = 1"
    )
    assert rows_of(spark, own) == [(1, "none")]
    assert sql(f"SELECT count(*) FROM {name}") == [(4,)]


@pytest.mark.parametrize("wrong", ["SELECT nope, name", "SELECT id, name, id"])
def test_nothing_is_inserted_if_spark_refuses_an_insert_of_its_own_table(spark, sql, name, own, wrong):
    spark.sql(f"CREATE TABLE {own} (id bigint, name string) USING parquet")
    with pytest.raises(AnalysisException, match=r"nope|TOO_MANY_DATA_COLUMNS"):
        sql(
            f"FROM {name} INSERT INTO {name} SELECT id + 3, name INSERT INTO {own} SELECT id, name INSERT INTO {own} {wrong}"
        )
    assert rows_of(spark, own) == []
    assert sql(f"SELECT count(*) FROM {name}") == [(3,)]


def test_insert_of_spark_has_a_list_of_columns_with_names_of_query_words(spark, sql, name, own):
    spark.sql(f"CREATE TABLE {own} (values string, table bigint) USING parquet")
    sql(f"INSERT INTO {own} (table, values) SELECT id, name FROM {name} VERSION AS OF 'main' WHERE id = 1")
    assert rows_of(spark, own) == [("a", 1)]


def test_writes_of_spark_read_relative_names(spark, sql, name, own):
    sql("USE lake.db")
    try:
        table = name.rsplit(".", maxsplit=1)[-1]
        sql(f"CREATE TABLE spark_catalog.default.{own} USING parquet AS SELECT * FROM {table} WHERE id = 1")
        sql(f"INSERT INTO spark_catalog.default.{own} SELECT * FROM {table} WHERE id = 2")
        sql(f"INSERT INTO spark_catalog.default.{own} VALUES (5, 'e')")
        sql("DECLARE OR REPLACE VARIABLE of_spark INT")
    finally:
        sql("USE spark_catalog.default")
    assert rows_of(spark, own) == [(1, "a"), (2, "b"), (5, "e")]


def test_changes_of_other_tables_are_run_by_spark(spark, sql, name, own):
    spark.sql(f"CREATE TABLE {own} (id bigint, name string) USING parquet")
    for text in (
        f"DELETE FROM {own} WHERE id IN (SELECT id FROM {name})",
        f"UPDATE {own} SET name = 'x' WHERE id IN (SELECT id FROM {name})",
        f"MERGE INTO {own} USING {name} AS s ON {own}.id = s.id WHEN MATCHED THEN DELETE",
    ):
        # Spark changes rows of no Parquet table: the analysis has read the attached table before.
        with pytest.raises(PySparkException, match=own):
            sql(text)
    with pytest.raises(FeatureUnsupportedError, match=r"DELETE: the target is in no attached catalog.*TEMPORARY VIEW"):
        sql(f"DELETE FROM {own} WHERE id IN (SELECT id FROM {name} VERSION AS OF 'main')")


def test_changes_of_other_tables_read_relative_names(spark, sql, name, own):
    spark.sql(f"CREATE TABLE {own} (id bigint, name string) USING parquet")
    target, table = f"spark_catalog.default.{own}", name.rsplit(".", maxsplit=1)[-1]
    sql("USE lake.db")
    try:
        for text in (
            f"MERGE INTO {target} t USING {table} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = 1, name = 'x'",
            f"WITH w AS (SELECT 1) MERGE INTO {target} USING {table} ON false WHEN NOT MATCHED THEN INSERT *",
            f"DELETE FROM {target} WHERE id IN (SELECT id FROM {table})",
            f"UPDATE {target} SET name = (SELECT max(name) FROM {table})",
        ):
            # Spark changes rows of no Parquet table: the analysis has read the attached table before.
            with pytest.raises(PySparkException, match=f"{own}.*does not support"):
                sql(text)
    finally:
        sql("USE spark_catalog.default")


def test_databases_of_attached_tables_get_no_table_of_spark(sql, name):
    with pytest.raises(ValidationError, match=r"lake_db\.new: expected a name in an attached catalog"):
        sql(f"CREATE TABLE lake_db.new USING parquet AS SELECT * FROM {name}")


def test_declare_names_set_var(sql, name):
    with pytest.raises(
        FeatureUnsupportedError,
        match=r"DECLARE is not supported for attached tables; expected DECLARE v INT, .*SET VAR",
    ):
        sql(f"DECLARE v INT DEFAULT (SELECT max(id) FROM {name})")
