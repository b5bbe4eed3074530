"""Attached catalogs in the sessions that Spark makes for streaming queries, and in those of `newSession()`."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from pyspark.errors import StreamingQueryException

MERGE = "MERGE {evolution} INTO {name} t USING arrived s ON t.id = s.id"
NO_CURRENT = r"SQL: the current catalog is no longer attached, .*; expected one of .*, got \w+: attach the catalog in this session, or run USE "
UPSERT = f"{MERGE} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


@pytest.fixture
def stream(spark, tmp_path):
    """A function that runs a function for two micro-batches: (2, 'x') and (4, 'x'), then (2, 'y') and (5, 'y')."""

    def run(function):
        for text in "xy":
            rows = spark.createDataFrame([(2, text), (ord(text) - ord("x") + 4, text)], "id long, name string")
            rows.coalesce(1).write.mode("append").parquet(f"{tmp_path}/rows")
            found = spark.readStream.schema(rows.schema).parquet(f"{tmp_path}/rows")
            query = found.writeStream.foreachBatch(function).option("checkpointLocation", f"{tmp_path}/checkpoint")
            query.trigger(availableNow=True).start().awaitTermination()

    return run


@pytest.fixture
def other(spark):
    """Another session of the application."""
    return spark.newSession()


@pytest.fixture
def other_catalog(tmp_path):
    """A catalog that is not attached."""
    made = load_catalog("two", type="sql", uri=f"sqlite:///{tmp_path}/two.db", warehouse=f"{tmp_path}/two")
    made.create_namespace("db")
    return made


def test_merge_in_foreach_batch_reads_a_view_of_the_micro_batch(sql, name, stream):
    def upsert(rows, _):
        rows.createOrReplaceTempView("arrived")
        counts = icefloe.spark.sql(rows.sparkSession, UPSERT.format(evolution="", name=name)).first()
        assert (counts.rows_updated, counts.rows_inserted) == (1, 1)

    stream(upsert)
    expected = [(1, "a"), (2, "y"), (3, None), (4, "x"), (5, "y")]
    assert sql(f"SELECT * FROM {name} ORDER BY id") == expected


def test_schema_evolution_in_foreach_batch_changes_the_entry_in_the_catalog_of_spark(spark, lake, name, stream):
    def upsert(rows, _):
        rows.selectExpr("*", "name AS extra").createOrReplaceTempView("arrived")
        icefloe.spark.sql(rows.sparkSession, UPSERT.format(evolution="WITH SCHEMA EVOLUTION", name=name))

    stream(upsert)
    plain = lake.tables()[name.removeprefix("lake.")]
    assert sorted(spark.sql(f"SELECT id, extra FROM {plain} WHERE id > 1").collect()) == [
        (2, "y"),
        (3, None),
        (4, "x"),
        (5, "y"),
    ]


def test_foreach_batch_begins_with_the_current_namespace_of_its_session(sql, name, stream):
    """A later USE of the session changes nothing for the query, as with Spark's current database."""
    relative, shown = name.removeprefix("lake.db."), []

    def insert(rows, _):
        sql("USE spark_catalog.default")
        rows.createOrReplaceTempView("arrived")
        icefloe.spark.sql(rows.sparkSession, f"INSERT INTO {relative} SELECT * FROM arrived")
        shown.append(tuple(icefloe.spark.sql(rows.sparkSession, "SHOW CURRENT NAMESPACE").first()))
        icefloe.spark.sql(rows.sparkSession, "USE spark_catalog.default")
        shown.append(tuple(icefloe.spark.sql(rows.sparkSession, "SHOW CURRENT NAMESPACE").first()))
        sql("USE lake.db")

    sql("USE lake.db")
    try:
        stream(insert)
    finally:
        sql("USE spark_catalog.default")
    assert sql(f"SELECT count(*) FROM {name}") == [(7,)]
    assert shown == [("lake", "db"), ("spark_catalog", "default")] * 2


def test_relative_names_in_foreach_batch_are_refused_after_a_detach(spark, sql, other_catalog, stream):
    lake = icefloe.spark.attach(spark, other_catalog, "two", views=False)
    sql("USE two.db")
    shown = []

    def show(rows, _):
        batch = rows.sparkSession
        if lake.name in icefloe.spark.sql(spark, "SHOW CATALOGS").toPandas()["catalog"].tolist():
            icefloe.spark.detach(spark, "two")
            for text in ("SHOW CURRENT NAMESPACE", "SELECT * FROM t", "INSERT INTO t SELECT 1"):
                with pytest.raises(ValidationError, match=NO_CURRENT):
                    icefloe.spark.sql(batch, text)
            icefloe.spark.sql(batch, "USE spark_catalog.default")
        shown.append(tuple(icefloe.spark.sql(batch, "SHOW CURRENT NAMESPACE").first()))

    stream(show)
    assert shown == [("spark_catalog", "default")] * 2
    assert sql("SHOW CURRENT NAMESPACE") == [("spark_catalog", "default")]


@pytest.fixture
def of_spark(spark):
    """A table of Spark's own with the name of a table in `two.db`."""
    spark.sql("CREATE TABLE default.same_name USING parquet AS SELECT 42 AS id")
    yield "same_name"
    spark.sql("DROP TABLE default.same_name")


RELATIVE = (
    "SELECT * FROM {0}",
    "TABLE {0}",
    "SELECT * FROM IDENTIFIER('{0}')",
    "EXECUTE IMMEDIATE 'SELECT * FROM {0}'",
    "FROM {0} |> SET id = 1",
    "EXPLAIN SELECT * FROM {0}",
    "INSERT OVERWRITE {0} SELECT 7 AS id",
    "INSERT INTO {0} VALUES (7)",
    "UPDATE {0} SET id = 1",
    "DELETE FROM {0}",
    "MERGE INTO {0} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "FROM range(1) INSERT INTO {0} SELECT id",
    "TRUNCATE TABLE {0}",
    "DROP TABLE {0}",
    "CREATE TABLE IF NOT EXISTS {0} (id int)",
    "CREATE OR REPLACE TABLE {0} AS SELECT 1 AS id",
    "ALTER TABLE {0} ADD COLUMN x int",
    "CACHE TABLE {0}",
    "UNCACHE TABLE {0}",
    "DESCRIBE {0}",
    "CALL system.ancestors_of('db.{0}')",
    "SHOW TABLES",
    "SHOW CURRENT NAMESPACE",
    "SHOW CREATE TABLE {0}",
    "CREATE NAMESPACE more",
    "DROP NAMESPACE more",
    "USE db",
    "USE two",
)


def test_relative_names_are_refused_where_another_session_has_detached_the_current_catalog(
    spark, other, other_catalog, of_spark
):
    def run(text):
        return icefloe.spark.sql(spark, text).collect()

    icefloe.spark.attach(other, other_catalog, "two", views=False)
    run(f"CREATE TABLE two.db.{of_spark} AS SELECT 1 AS id")
    run("USE two.db")
    try:
        assert run(f"SELECT * FROM {of_spark}") == [(1,)]
        icefloe.spark.detach(other, "two")
        for text in RELATIVE:
            with pytest.raises(ValidationError, match=NO_CURRENT):
                run(text.format(of_spark))
        assert run("SELECT 1 + 1") == [(2,)]
        assert run(f"SELECT * FROM spark_catalog.default.{of_spark}") == [(42,)]
        assert spark.table(f"default.{of_spark}").collect() == [(42,)]
        with pytest.raises(ValidationError, match=r"CALL: expected lake\.system\.<procedure>, got nope\.system\.x"):
            run("CALL nope.system.x()")
        icefloe.spark.attach(spark, other_catalog, "two", views=False)
        assert run(f"SELECT * FROM {of_spark}") == [(1,)]
        icefloe.spark.detach(spark, "two")
    finally:
        run("USE spark_catalog.default")
    assert run(f"SELECT * FROM {of_spark}") == [(42,)]


def test_relative_names_are_refused_where_the_name_of_the_current_catalog_is_ambiguous(
    lake, name, other, other_catalog, of_spark
):
    third = other.newSession()
    icefloe.spark.sql(third, "USE lake.db")
    icefloe.spark.attach(other, other_catalog, "lake", views=False)
    try:
        for text in (f"SELECT * FROM {of_spark}", f"INSERT OVERWRITE {of_spark} SELECT 7 AS id", f"TABLE {name}"):
            with pytest.raises(ValidationError, match=NO_CURRENT):
                icefloe.spark.sql(third, text)
    finally:
        icefloe.spark.detach(other, "lake")
    assert lake.spark.table(f"default.{of_spark}").collect() == [(42,)]
    assert icefloe.spark.sql(third, f"SELECT count(*) FROM {name.rpartition('.')[2]}").collect() == [(3,)]


def test_a_new_session_finds_the_catalogs_of_the_application(lake, name, other):
    other.range(7, 8).createOrReplaceTempView("own")
    icefloe.spark.sql(other, f"INSERT INTO {name} SELECT id, 'z' FROM own")
    assert icefloe.spark.sql(other, f"SELECT name FROM {name} WHERE id = 7").collect() == [("z",)]
    plain = lake.tables()[name.removeprefix("lake.")]
    assert icefloe.spark.sql(other, f"SELECT count(*) FROM {plain}").first()[0] == 4
    # The current namespace is of the session that set it, as Spark's current database is.
    icefloe.spark.sql(lake.spark, "USE lake.db")
    try:
        assert icefloe.spark.sql(other, "SHOW CURRENT NAMESPACE").collect() == [("spark_catalog", "default")]
    finally:
        icefloe.spark.sql(lake.spark, "USE spark_catalog.default")
    with pytest.raises(ValidationError, match="detach: expected one of no attached catalog, got 'lake'"):
        icefloe.spark.detach(other, "lake")


def test_a_name_that_a_session_attaches_is_the_catalog_of_that_session(sql, name, other, other_catalog):
    icefloe.spark.attach(other, other_catalog, "lake", views=False)
    try:
        icefloe.spark.sql(other, f"CREATE TABLE {name} (only_here int)")
        assert icefloe.spark.sql(other, f"SELECT * FROM {name}").columns == ["only_here"]
        assert sql(f"SELECT count(*) FROM {name}") == [(3,)]
        _check_ambiguous(other, name)
        with pytest.raises(ValidationError, match="attach: 'lake' is attached already"):
            icefloe.spark.attach(other, other_catalog, "lake", views=False)
    finally:
        icefloe.spark.detach(other, "lake")
    assert icefloe.spark.sql(other, f"SELECT count(*) FROM {name}").first()[0] == 3


def _check_ambiguous(spark, name):
    """Check that a third session finds none of two catalogs with one name."""
    third = spark.newSession()
    with pytest.raises(ValidationError, match=r"SQL: no catalog 'lake' is attached .*icefloe\.spark\.attach"):
        icefloe.spark.sql(third, f"SELECT * FROM {name}")


def test_a_streaming_query_finds_the_catalogs_of_its_own_session(spark, sql, name, other, other_catalog, stream):
    """Another session with the same name for another catalog changes nothing."""
    icefloe.spark.attach(other, other_catalog, "lake", views=False)

    def insert(rows, _):
        rows.createOrReplaceTempView("arrived")
        icefloe.spark.sql(rows.sparkSession, f"INSERT INTO {name} SELECT * FROM arrived")

    try:
        stream(insert)
    finally:
        icefloe.spark.detach(other, "lake")
    assert sql(f"SELECT count(*) FROM {name}") == [(7,)]


def test_rows_that_a_session_caches_are_those_of_its_own_statements(sql, lake, name, other):
    sql(f"CACHE TABLE {name}")
    try:
        assert sql(f"SELECT count(*) FROM {name} WHERE name LIKE 'a%'") == [(1,)]
        query = f"SELECT id FROM {name} WHERE name = 'b'"
        assert icefloe.spark.sql(other, query).collect() == [(2,)]
        icefloe.spark.sql(other, f"UNCACHE TABLE {name}")
        assert len(lake.cached) == 1
    finally:
        sql(f"UNCACHE TABLE {name}")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM nope.db.t",
        "DELETE FROM nope.db.t",
        "INSERT INTO nope.db.t VALUES (1)",
        "SELECT * FROM nope.db.t JOIN {0}",
        "CREATE TABLE nope.db.t AS SELECT * FROM {0}",
        "INSERT INTO nope.db.t SELECT * FROM {0}",
        "MERGE INTO nope.db.t USING {0} s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "DELETE FROM nope.db.t WHERE id IN (SELECT id FROM {0})",
        "DELETE FROM {0} WHERE id IN (SELECT id FROM nope.db.t)",
        "MERGE INTO {0} t USING nope.db.t s ON t.id = s.id WHEN MATCHED THEN DELETE",
    ],
)
def test_a_catalog_that_is_not_attached_is_an_error_that_names_attach(spark, name, statement):
    words = "SQL: no catalog 'nope' is attached to the session; expected one of .*lake.*, got .*nope"
    with pytest.raises(ValidationError, match=words):
        icefloe.spark.sql(spark, statement.format(name))


def test_an_error_in_foreach_batch_is_the_error_of_the_query(name, stream):
    def fail(rows, _):
        icefloe.spark.sql(rows.sparkSession, f"SELECT nothing FROM {name}")

    with pytest.raises(StreamingQueryException, match="nothing"):
        stream(fail)
