"""USE and SET CATALOG: the names of later statements are relative to an attached catalog and a namespace in it."""

from __future__ import annotations

import itertools

import icefloe.spark
import pytest
from icefloe.exceptions import FeatureUnsupportedError, NoSuchNamespaceError, NoSuchTableError, ValidationError
from pyspark.errors import AnalysisException

NUMBERS = itertools.count()


@pytest.fixture
def table(sql):
    """The name of a table of `lake.db`, which is the current namespace, with the rows (1, 'a'), (2, 'b')."""
    made = f"used{next(NUMBERS)}"
    sql("USE lake.db")
    sql(f"CREATE TABLE {made} (id bigint, name string)")
    sql(f"INSERT INTO {made} VALUES (1, 'a'), (2, 'b')")
    yield made
    sql("USE spark_catalog.default")


def test_use_sets_the_current_catalog_and_namespace(sql, spark):
    show, functions = "SHOW CURRENT NAMESPACE", "SELECT current_catalog(), current_database(), current_schema()"
    assert sql(show) == [("spark_catalog", "default")]
    assert sql("USE lake") == []
    assert (sql(show), sql(functions)) == ([("lake", "")], [("lake", "", "")])
    sql("CREATE NAMESPACE IF NOT EXISTS `a b`")
    sql("USE NAMESPACE `a b`")
    assert (sql(show), sql(functions)) == ([("lake", "`a b`")], [("lake", "`a b`", "`a b`")])
    sql("USE lake")
    sql("SET CATALOG lake")
    assert sql(show) == [("lake", "`a b`")]
    with pytest.raises(NoSuchNamespaceError, match="USE: lake has no namespace nope; expected one of SHOW NAMESPACES"):
        sql("USE nope")
    assert sql(show) == [("lake", "`a b`")]
    sql("USE SCHEMA db")
    assert sql("SELECT upper(current_schema()) AS u WHERE current_catalog() = 'lake'") == [("DB",)]
    # Plain statements of Spark keep the meaning that they have.
    assert tuple(spark.sql(functions).first()) == ("spark_catalog", "default", "default")
    sql("USE spark_catalog")
    assert (sql(show), sql(functions)) == ([("spark_catalog", "default")], [("spark_catalog", "default", "default")])
    assert sql("USE IDENTIFIER('lake.' || 'db')") == []
    assert sql(show) == [("lake", "db")]
    sql("SET CATALOG spark_catalog")
    assert sql(show) == [("spark_catalog", "default")]
    for text in ("USE NAMESPACE lake.db", "USE db"):
        with pytest.raises(AnalysisException, match="cannot be found"):
            sql(text)
    sql("DROP NAMESPACE lake.`a b`")


def test_functions_keep_the_names_of_their_columns(spark, sql, table):
    frame = icefloe.spark.sql(
        spark, "SELECT current_catalog(), current_schema() AS s, 1 + length(current_schema()) AS n"
    )
    assert frame.columns == ["current_catalog()", "s", "n"]
    assert frame.collect() == [("lake", "db", 3)]


def test_changes_and_queries_resolve_relative_names(sql, table):
    assert sql(f"SELECT name FROM {table} AS t WHERE id = 2") == [("b",)]
    assert sql(f"SELECT {table}.name FROM db.{table} WHERE db.{table}.id = 2") == [("b",)]
    assert sql(f"UPDATE {table} SET name = 'z' WHERE {table}.id = 2") == [(1, 0, 0)]
    assert sql(
        f"MERGE INTO {table} t USING (SELECT max(id) AS id FROM {table}) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    )
    assert sql(f"WITH s AS (SELECT 1L AS id) DELETE FROM db.{table} WHERE id IN (SELECT id FROM s)") == [(0, 1, 0)]
    assert sql(f"INSERT INTO {table} WITH {table} AS (SELECT 7L, 'g') SELECT * FROM {table}") == []
    assert sql(f"TABLE {table}") == [(7, "g")]
    assert sql(f"SELECT count(*) FROM db.{table}.snapshots") == [(5,)]
    assert sql(f"CALL system.ancestors_of('db.{table}')")[0][1] > 0
    assert sql(f"EXECUTE IMMEDIATE 'SELECT id FROM ' || '{table}'") == [(7,)]
    with pytest.raises(NoSuchTableError):
        sql(f"SELECT * FROM {table}.snapshots")
    with pytest.raises(NoSuchTableError):
        sql("SELECT * FROM nope")


def test_common_table_expressions_and_views_hide_tables(sql, spark, table):
    cte = f"WITH {table} AS (SELECT id + 10 AS id FROM {table}) SELECT sum(id) FROM {table}"
    assert sql(cte) == [(23,)]
    recursive = f"WITH RECURSIVE {table} AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM {table} WHERE n < 3) SELECT sum(n) FROM {table}"
    assert sql(recursive) == [(6,)]
    assert sql(f"FROM {table} |> DROP name |> WHERE id = 2") == [(2,)]
    assert sql(f"WITH {table}(x) AS (SELECT 5) FROM {table} |> EXTEND x + 1 AS y |> DROP x") == [(6,)]
    spark.range(1).createOrReplaceTempView(table)
    try:
        assert sql(f"SELECT count(*) FROM {table}") == [(1,)]
        assert sql(f"SELECT count(*) FROM db.{table}") == [(2,)]
        assert sql(f"DESCRIBE {table}") == [("id", "bigint", None)]
    finally:
        spark.catalog.dropTempView(table)


def test_names_of_spark_stay_with_spark(sql, spark, table, tmp_path):
    spark.range(3).write.parquet(str(tmp_path / "rows"))
    assert sql(f"SELECT count(*) FROM parquet.`{tmp_path / 'rows'}`") == [(3,)]
    spark.sql("CREATE TABLE default.of_spark (id bigint) USING parquet")
    try:
        assert sql("INSERT INTO spark_catalog.default.of_spark VALUES (4)") == []
        assert sql(f"SELECT s.id FROM spark_catalog.default.of_spark s JOIN {table} t ON s.id = t.id + 2") == [(4,)]
        assert sql("DESCRIBE spark_catalog.default.of_spark") == [("id", "bigint", None)]
        assert ("default", "of_spark", False) in sql("SHOW TABLES IN spark_catalog.default")
        with pytest.raises(NoSuchTableError):
            sql("SELECT * FROM of_spark")
    finally:
        sql("DROP TABLE spark_catalog.default.of_spark")
    assert spark.catalog.tableExists("default.of_spark") is False
    assert sql("SET spark.sql.ansi.enabled")[0][0] == "spark.sql.ansi.enabled"
    assert sql("SELECT * FROM range(2)") == [(0,), (1,)]
    assert sql("DESCRIBE FUNCTION upper")[0] == ("Function: upper",)


def test_statements_on_tables_and_namespaces_are_relative(sql, spark, lake, table):
    sql(f"ALTER TABLE {table} ADD COLUMN more int")
    sql(f"COMMENT ON TABLE {table} IS 'used'")
    assert [row[0] for row in sql(f"SHOW COLUMNS IN {table}")] == ["id", "name", "more"]
    assert ("Comment", "used", "") in sql(f"DESCRIBE TABLE EXTENDED {table}")
    assert f"TABLE lake.db.{table}" in sql(f"SHOW CREATE TABLE {table}")[0][0]
    assert sql(f"SHOW TABLES LIKE '{table}'") == sql(f"SHOW TABLES IN db '{table}'") == [("db", table, False)]
    assert sql(f"SHOW TABLE EXTENDED LIKE '{table}'")[0][:2] == ("db", table)
    assert sql("SHOW NAMESPACES LIKE 'd*'") == [("db",)]
    assert sql(f"CREATE TEMP VIEW kept_{table} AS SELECT id FROM {table}") == []
    assert sql("SHOW VIEWS LIKE 'kept_*'") == [("", f"kept_{table}", True)]
    assert spark.table(f"kept_{table}").count() == 2
    spark.catalog.dropTempView(f"kept_{table}")
    sql(f"ALTER TABLE {table} RENAME TO db.{table}_b")
    assert sql(f"DROP TABLE {table}_b") == []
    assert not lake.catalog.table_exists(f"db.{table}_b")
    for text in ("CREATE VIEW v AS SELECT 1", f"SHOW PARTITIONS {table}"):
        with pytest.raises(FeatureUnsupportedError, match="is not supported for attached tables"):
            sql(text)


def test_a_catalog_alone_has_no_tables(sql, name):
    sql("USE lake")
    try:
        assert sql(f"SELECT count(*) FROM {name.removeprefix('lake.')}") == [(3,)]
        with pytest.raises(ValidationError, match="expected a namespace and a table"):
            sql("SELECT * FROM t")
        with pytest.raises(ValidationError, match="SHOW TABLES: tables are in namespaces"):
            sql("SHOW TABLES")
    finally:
        sql("USE spark_catalog")


def test_show_catalogs_lists_attached_ones(sql):
    assert {("lake",), ("spark_catalog",)} <= set(sql("SHOW CATALOGS"))
    assert sql("SHOW CATALOGS LIKE 'l*'") == sql("SHOW CATALOGS 'la*|x'") == [("lake",)]


def test_detach_leaves_the_current_catalog(spark, catalog):
    icefloe.spark.attach(spark, catalog, "briefly", views=False)
    icefloe.spark.sql(spark, "USE briefly.db")
    icefloe.spark.detach(spark, "briefly")
    icefloe.spark.attach(spark, catalog, "briefly", views=False)
    assert icefloe.spark.sql(spark, "SHOW CURRENT NAMESPACE").first()[0] == "spark_catalog"
    icefloe.spark.detach(spark, "briefly")


def test_another_session_has_its_own_namespace(spark, sql, table):
    assert icefloe.spark.sql(spark.newSession(), "SELECT current_catalog()").first()[0] == "spark_catalog"
    assert sql("SELECT current_catalog()") == [("lake",)]
