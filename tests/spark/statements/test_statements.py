"""Statements of Spark SQL on attached tables."""

from __future__ import annotations

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import (
    FeatureUnsupportedError,
    NoSuchTableError,
    ResolveError,
    SchemaMismatchError,
    ValidationError,
)
from icefloe.schema import Schema
from icefloe.types import IntegerType, ListType, LongType, NestedField, StringType, StructType

from tests.unit.table.maintenance.every_file import put


def rows(sql, name):
    return sorted(sql(f"SELECT * FROM {name}"), key=str)


def test_query_joins_attached_tables_with_views_and_parameters(spark, sql, name):
    spark.createDataFrame([(1, "x"), (2, "y")], "id long, tag string").createOrReplaceTempView("tags")
    query = (
        f"SELECT {name}.name, tag, '{{braces}}' FROM {name} JOIN tags t ON t.id = {name}.id WHERE {name}.id > :least"
    )
    assert sql(query, {"least": 1}) == [("b", "y", "{braces}")]
    assert sql(f"SELECT count(*) FROM {name} WHERE id > ?", [1]) == [(2,)]
    assert sql(f"WITH big AS (SELECT * FROM {name} WHERE id > 1) SELECT count(name), count(*) FROM big") == [(1, 2)]


def test_query_of_no_attached_table_runs_in_spark(sql):
    assert sql("SELECT 'lake.db' AS text") == [("lake.db",)]


def test_query_at_versions(spark, sql, lake, name):
    table = lake.catalog.load_table(name.removeprefix("lake."))
    first = table.current_snapshot()
    sql(f"ALTER TABLE {name} CREATE TAG audit")
    sql(f"ALTER TABLE {name} CREATE BRANCH try RETAIN 7 DAYS")
    sql(f"INSERT INTO {name} VALUES (4, 'd')")
    sql(f"INSERT INTO {name}.branch_try VALUES (5, 'e')")
    assert sql(f"SELECT count(*) FROM {name} VERSION AS OF {first.snapshot_id}") == [(3,)]
    assert sql(f"SELECT count(*) FROM {name} FOR VERSION AS OF 'audit' AS t WHERE t.id > 1") == [(2,)]
    assert sql(f"SELECT max(t.id) FROM {name} FOR SYSTEM_VERSION AS OF 'try' t") == [(5,)]
    assert sql(f"SELECT max(id) FROM {name}.branch_try") == [(5,)]
    assert sql(f"SELECT max(id) FROM {name}.snapshot_id_{first.snapshot_id}") == [(3,)]
    times = f"timestamp_millis({first.timestamp_ms})"
    assert sql(f"SELECT count(*) FROM {name} TIMESTAMP AS OF {times} WHERE id = 1") == [(1,)]
    assert sql(f"SELECT count(*) FROM {name} TIMESTAMP AS OF current_timestamp() + INTERVAL 1 DAY") == [(4,)]


def test_metadata_tables_and_columns(spark, sql, name):
    assert sql(f"SELECT count(*), max(operation) FROM {name}.snapshots") == [(1, "append")]
    assert sql(f"SELECT sum(f.record_count) FROM {name}.files f JOIN {name}.history h ON true") == [(3,)]
    assert sql(f"SELECT count(_pos), max(id) FROM {name} WHERE id < 3") == [(2, 2)]
    identifier = name.removeprefix("lake.")
    found = spark.sql(f"SELECT operation, summary['total-records'] FROM lake_metadata('{identifier}', 'snapshots')")
    assert [tuple(row) for row in found.collect()] == [("append", "3")]
    assert spark.sql(f"SELECT * FROM lake_ancestors_of('{identifier}')").count() == 1


def test_plain_spark_reads_current_rows_and_inserts(spark, sql, lake, name):
    plain = lake.tables()[name.removeprefix("lake.")]
    assert spark.sql(f"SELECT sum(id) FROM {plain}").first()[0] == 6
    sql(f"INSERT INTO {name} VALUES (10, 'x')")
    assert spark.sql(f"SELECT sum(id) FROM {plain}").first()[0] == 16
    spark.sql(f"INSERT INTO {plain} VALUES (100, 'y')")
    assert sql(f"SELECT sum(id) FROM {plain}") == [(116,)]
    sql(f"ALTER TABLE {name} ADD COLUMN more int")
    assert spark.table(plain).columns == ["id", "name", "more"]
    sql(f"DROP TABLE {name}")
    assert not spark.catalog.tableExists(plain)


def test_plain_spark_reads_a_table_without_rows(spark, sql, lake, name):
    sql(f"DELETE FROM {name}")
    assert spark.sql(f"SELECT * FROM {lake.tables()[name.removeprefix('lake.')]}").collect() == []


def test_insert_by_position_name_and_columns(sql, name):
    sql(f"INSERT INTO {name} (name, id) SELECT 'z', 7")
    sql(f"INSERT INTO {name} BY NAME SELECT 'q' AS name, 8 AS id")
    sql(f"WITH more AS (SELECT 9 AS id, 'w' AS name) INSERT INTO {name} SELECT * FROM more")
    assert [row for row in rows(sql, name) if row[0] > 3] == [(7, "z"), (8, "q"), (9, "w")]
    with pytest.raises(SchemaMismatchError, match="expected 2 values"):
        sql(f"INSERT INTO {name} SELECT 1")
    with pytest.raises(SchemaMismatchError, match="cast it"):
        sql(f"INSERT INTO {name} SELECT 'one', 'a'")


def test_insert_overwrite_static_dynamic_and_where(spark, sql):
    sql("CREATE TABLE lake.db.parted (id int, day date, kind string) PARTITIONED BY (kind, days(day))")
    sql("INSERT INTO lake.db.parted VALUES (1, DATE '2026-01-01', 'a'), (2, DATE '2026-01-01', 'b')")
    sql("INSERT OVERWRITE lake.db.parted PARTITION (kind = 'a') SELECT 5, DATE '2026-01-02'")
    assert sql("SELECT id, kind FROM lake.db.parted ORDER BY id") == [(2, "b"), (5, "a")]
    sql("INSERT INTO lake.db.parted REPLACE WHERE kind = 'b' SELECT 6, DATE '2026-01-02', 'b'")
    assert sql("SELECT id, kind FROM lake.db.parted ORDER BY id") == [(5, "a"), (6, "b")]
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        sql("INSERT OVERWRITE lake.db.parted SELECT 7, DATE '2026-01-02', 'b'")
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert sql("SELECT id, kind FROM lake.db.parted ORDER BY id") == [(5, "a"), (7, "b")]
    sql("INSERT OVERWRITE lake.db.parted SELECT 8, DATE '2026-01-02', 'c'")
    assert sql("SELECT id, kind FROM lake.db.parted") == [(8, "c")]
    sql("TRUNCATE TABLE lake.db.parted")
    assert sql("SELECT count(*) FROM lake.db.parted") == [(0,)]


def test_create_table_with_clauses_and_as_query(sql, lake, name):
    sql(
        "CREATE TABLE lake.db.made (id bigint NOT NULL COMMENT 'key', at timestamp, s struct<a: array<int>>) USING iceberg "
        "PARTITIONED BY (bucket(4, id), hours(at)) COMMENT 'events' TBLPROPERTIES ('write.format.default' = 'avro', a.b = 1)"
    )
    table = lake.catalog.load_table("db.made")
    assert [str(field.transform) for field in table.spec().fields] == ["bucket[4]", "hour"]
    assert table.schema().find_field("id").required
    assert table.schema().find_field("id").doc == "key"
    assert table.properties["comment"] == "events"
    assert table.properties["a.b"] == "1"
    sql(f"CREATE TABLE IF NOT EXISTS {name} AS SELECT 1")
    sql(
        f"CREATE OR REPLACE TABLE lake.db.copied PARTITIONED BY (truncate(1, name)) AS SELECT * FROM {name} WHERE id < 3"
    )
    assert rows(sql, "lake.db.copied") == [(1, "a"), (2, "b")]
    sql(f"CREATE OR REPLACE TABLE lake.db.copied AS SELECT id FROM {name}")
    assert rows(sql, "lake.db.copied") == [(1,), (2,), (3,)]
    assert sql("SELECT count(*) FROM lake.db.copied.snapshots") == [(2,)]
    sql("DROP TABLE lake.db.copied PURGE")
    sql("DROP TABLE IF EXISTS lake.db.copied")
    with pytest.raises(NoSuchTableError):
        sql("SELECT * FROM lake.db.copied")


def test_alter_table(sql, lake, name):
    identifier = name.removeprefix("lake.")
    sql(f"ALTER TABLE {name} ADD COLUMNS (a int COMMENT 'x' FIRST, b struct<c: int, d: array<string>>)")
    sql(f"ALTER TABLE {name} ADD COLUMN b.e double")
    sql(f"ALTER TABLE {name} RENAME COLUMN name TO label")
    sql(f"ALTER TABLE {name} ALTER COLUMN a TYPE bigint")
    sql(f"ALTER TABLE {name} ALTER COLUMN label AFTER a")
    sql(f"ALTER TABLE {name} DROP COLUMN b.c")
    sql(f"ALTER TABLE {name} ADD PARTITION FIELD bucket(8, id) AS shard")
    sql(f"ALTER TABLE {name} REPLACE PARTITION FIELD shard WITH truncate(label, 2)")
    sql(f"ALTER TABLE {name} WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY id DESC NULLS FIRST, label")
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('k' = 'v', 'l' = 'w')")
    sql(f"ALTER TABLE {name} UNSET TBLPROPERTIES IF EXISTS ('l', 'm')")
    table = lake.catalog.load_table(identifier)
    assert [field.name for field in table.schema().fields] == ["a", "label", "id", "b"]
    assert str(table.schema().find_field("a").field_type) == "long"
    assert [field.name for field in table.schema().find_field("b").field_type.fields] == ["d", "e"]
    assert [str(field.transform) for field in table.spec().fields if str(field.transform) != "void"] == ["truncate[2]"]
    assert [str(field.direction) for field in table.sort_order().fields] == ["DESC", "ASC"]
    assert table.properties["k"] == "v"
    assert "l" not in table.properties
    assert table.properties["write.distribution-mode"] == "hash"
    sql(f"ALTER TABLE {name} RENAME TO lake.db.renamed_{identifier[3:]}")
    assert sql(f"SELECT label, id FROM lake.db.renamed_{identifier[3:]} WHERE id = 1") == [("a", 1)]


def test_update_and_delete_with_subqueries_and_parameters(sql, name):
    assert sql(f"UPDATE {name} AS t SET name = concat(t.name, :tail), id = id + 10 WHERE id = 2", {"tail": "!"}) == [
        (1, 0, 0)
    ]
    assert sql(f"UPDATE {name} SET name = 'max' WHERE id = (SELECT max(id) FROM {name})") == [(1, 0, 0)]
    assert rows(sql, name) == [(1, "a"), (12, "max"), (3, None)]
    assert sql(f"DELETE FROM {name} WHERE id IN (SELECT id FROM {name} WHERE name IS NULL)") == [(0, 1, 0)]
    assert sql(f"DELETE FROM {name} t WHERE upper(t.name) = 'MAX'") == [(0, 1, 0)]
    assert sql(f"DELETE FROM {name} WHERE id < 5 AND name <> 'q'") == [(0, 1, 0)]
    assert sql(f"DELETE FROM {name}") == [(0, 0, 0)]


def test_merge(sql, spark, name):
    spark.createDataFrame(
        [(1, "D", "x"), (2, "U", "B"), (4, "U", "d"), (5, "X", "e")], "k long, op string, name string"
    ).createOrReplaceTempView("feed")
    found = sql(
        f"MERGE INTO {name} t USING (SELECT * FROM feed) s ON t.id = s.k AND s.op <> 'X' "
        "WHEN MATCHED AND s.op = 'D' THEN DELETE WHEN MATCHED THEN UPDATE SET name = concat(s.name, t.name, :tail) "
        "WHEN NOT MATCHED AND k = 5 THEN INSERT (id, name) VALUES (k * 2, CASE WHEN op = 'X' THEN 'new' END) "
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.k) "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET t.name = 'left'",
        {"tail": "it's"},
    )
    assert found == [(2, 1, 2)]
    assert rows(sql, name) == [(10, "new"), (2, "Bbit's"), (3, "left"), (4, None)]


@pytest.mark.parametrize(
    ("on", "matched"),
    [
        ("t.name <=> s.name", ["a", None]),
        ("t.name IS NOT DISTINCT FROM s.name AND s.k > 1", [None]),
        ("t.name <=> s.name AND s.k > 1 AND t.name <=> upper(s.name)", [None]),
        ("s.name <=> t.name AND t.name = s.name", ["a"]),
        ("t.id = s.k AND t.name <=> s.name", ["a"]),
    ],
)
def test_merge_on_null_safe_equality(sql, name, on, matched):
    # The rows of the target: (1, 'a'), (2, 'b'), (3, NULL).
    given = [(1, "a"), (7, None)]
    found = sql(
        f"MERGE INTO {name} t USING (SELECT * FROM VALUES (1L, 'a'), (7L, NULL) AS v(k, name)) s ON {on} "
        "WHEN MATCHED THEN UPDATE SET id = t.id + 10 WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.k + 100, s.name) "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET id = t.id + 20"
    )
    kept = [(number + (10 if text in matched else 20), text) for number, text in [(1, "a"), (2, "b"), (3, None)]]
    added = [(key + 100, text) for key, text in given if text not in matched]
    assert sorted(rows(sql, name)) == sorted(kept + added)
    assert found == [(3, 0, len(added))]


def test_merge_of_all_columns_from_an_attached_table(sql, name):
    sql("CREATE OR REPLACE TABLE lake.db.updates AS SELECT 1L AS id, 'A' AS name UNION ALL SELECT 9L, 'i'")
    sql(
        f"MERGE INTO {name} USING lake.db.updates AS u ON {name.split('.')[-1]}.id = u.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(sql, name) == [(1, "A"), (2, "b"), (3, None), (9, "i")]


@pytest.mark.parametrize(
    ("on", "error"),
    [
        ("t.id IN (SELECT 1)", FeatureUnsupportedError),
        ("t.id = s.nothing", ResolveError),
        ("id = s.id", ResolveError),
    ],
)
def test_merge_refuses_conditions_by_name(sql, name, on, error):
    with pytest.raises(error, match="MERGE"):
        sql(f"MERGE INTO {name} t USING (SELECT 1L AS id) s ON {on} WHEN MATCHED THEN DELETE")


def test_call_procedures(sql, lake, name, tmp_path, spark):
    identifier = name.removeprefix("lake.")
    first = lake.catalog.load_table(identifier).current_snapshot().snapshot_id
    sql(f"INSERT INTO {name} VALUES (4, 'd')")
    second = lake.catalog.load_table(identifier).current_snapshot().snapshot_id
    assert [row[0] for row in sql(f"CALL lake.system.ancestors_of('{identifier}')")] == [second, first]
    assert sql(f"CALL lake.system.rollback_to_snapshot(table => '{identifier}', snapshot_id => {first})") == [
        (second, first)
    ]
    assert sql(f"CALL lake.system.set_current_snapshot('lake.{identifier}', {second})") == [(first, second)]
    assert sql(
        f"CALL lake.system.create_changelog_view(table => '{identifier}', changelog_view => 'log', identifier_columns => array('id'))"
    ) == [("log",)]
    assert spark.table("log").count() == 4
    spark.range(20, 22).selectExpr("id", "'p' AS name").write.parquet(str(tmp_path / "files"))
    added = sql(f"CALL lake.system.add_files('{identifier}', 'parquet.`{tmp_path / 'files'}`')")
    assert added[0][0] > 0
    assert sql(f"SELECT count(*) FROM {name} WHERE name = 'p'") == [(2,)]
    with pytest.raises(ValidationError, match="parameter 'snapshot_id' is missing"):
        sql(f"CALL lake.system.rollback_to_snapshot('{identifier}')")


def test_call_maintains_by_executors(spark, sql, lake, name):
    table = lake.catalog.load_table(name.removeprefix("lake."))
    for number in range(4, 8):
        sql(f"INSERT INTO {name} VALUES ({number}, 'd')")
    sql(f"DELETE FROM {name} WHERE id = 4")
    before = sql(f"SELECT * FROM {name} ORDER BY id")
    call = (
        f"CALL lake.system.rewrite_data_files('{name}', options => map('rewrite-all', 'true', 'min-input-files', '2'))"
    )
    rewritten, added, _, failed, _ = sql(call)[0]
    assert (rewritten > 3, added, failed) == (True, 1, 0)
    call = f"CALL lake.system.rewrite_data_files(table => '{name}', sort_order => 'id DESC', options => map('rewrite-all', 'true'))"
    assert sql(call)[0][:2] == (1, 1)
    assert sql(f"SELECT * FROM {name} ORDER BY id") == before
    table.refresh()
    assert table.scan().to_arrow().column("id").to_pylist() == sorted((row[0] for row in before), reverse=True)
    orphan = put(table, "data/orphan.parquet")
    assert sql(f"CALL lake.system.remove_orphan_files('{name}')") == [(orphan,)]
    assert not table.io.core.exists(orphan)
    orphan = put(table, "data/other.parquet")
    spark.sql(f"SELECT '{orphan}' AS file_path, timestamp'2001-01-01' AS last_modified").createOrReplaceTempView("seen")
    assert sql(f"CALL lake.system.remove_orphan_files(table => '{name}', file_list_view => 'seen')") == [(orphan,)]
    deleted = sql(f"CALL lake.system.expire_snapshots('{name}', timestamp'2100-01-01 00:00:00', 1)")[0]
    assert deleted[0] > 4
    assert sql(f"SELECT * FROM {name} ORDER BY id") == before


def test_namespaces_and_descriptions(sql, lake, name):
    sql("CREATE NAMESPACE IF NOT EXISTS lake.db.inner")
    sql("CREATE TABLE lake.db.inner.`odd-name` (id int)")
    sql("INSERT INTO lake.db.inner.`odd-name` VALUES (1)")
    assert sql("SELECT * FROM lake.db.inner.`odd-name`") == [(1,)]
    assert lake.tables()["db.inner.odd-name"] == "lake_db_inner.odd_name"
    assert ("db.inner", "odd-name", False) in sql("SHOW TABLES IN lake.db.inner")
    assert ("db",) in sql("SHOW NAMESPACES IN lake")
    assert sql(f"DESCRIBE TABLE {name}")[0] == ("id", "bigint", None)
    sql("DROP TABLE lake.db.inner.`odd-name`")
    sql("DROP NAMESPACE lake.db.inner")


def test_other_statements_are_refused_by_name(sql, name):
    with pytest.raises(FeatureUnsupportedError, match="REPAIR TABLE"):
        sql(f"REPAIR TABLE {name}")
    with pytest.raises(ValidationError, match="does not parse"):
        sql(f"SELECT FROM WHERE {name}.x (")


def test_attach_refuses_a_name_that_is_taken(spark, lake, catalog):
    with pytest.raises(ValidationError, match="attached already"):
        icefloe.spark.attach(spark, catalog, "LAKE")


def test_attached_tables_follow_what_others_create_change_and_drop(spark, tmp_path):
    catalog = load_catalog("own", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    rows = pa.table({"id": [1, 2]})
    for name in ("a.kept", "a.dropped", "b.kept"):
        catalog.create_namespace_if_not_exists(name[0])
        catalog.create_table(name, rows.schema).append(rows)
    attached = icefloe.spark.attach(spark, catalog, "own")
    try:
        assert [row[0] for row in spark.sql("SELECT id FROM own_a.kept UNION ALL SELECT 3").collect()] == [1, 2, 3]
        with catalog.load_table("a.kept").update_schema() as change:
            change.add_column("name", StringType())
        catalog.drop_table("a.dropped")
        catalog.create_table("b.added", rows.schema)
        attached.refresh()
        assert sorted(attached.tables().values()) == ["own_a.kept", "own_b.added", "own_b.kept"]
        assert spark.table("own_a.kept").columns == ["id", "name"]
        assert [spark.table(f"own_{name}").count() for name in ("a.kept", "b.added", "b.kept")] == [2, 0, 2]
        assert not spark.catalog.tableExists("own_a.dropped")
    finally:
        icefloe.spark.detach(spark, "own")
    assert not spark.catalog.databaseExists("own_a")


def entries(spark, database):
    """Return a database of Spark's own catalog and its table `entry`."""
    session = spark._jsparkSession.sessionState().catalog()
    identifier = spark._jvm.org.apache.spark.sql.catalyst.TableIdentifier("entry", spark._jvm.scala.Some(database))
    return session.getDatabaseMetadata(database), session.getTableMetadata(identifier)


def fields(entry):
    """Return the fields of an entry of Spark's own catalog without its name, location and time."""
    values = {entry.productElementName(number): entry.productElement(number) for number in range(entry.productArity())}
    own = ("name", "identifier", "locationUri", "storage", "createTime")
    return {name: value for name, value in values.items() if name not in own}


def test_attach_creates_the_entries_that_statements_create(spark, lake, catalog):
    items = ListType(2, StructType(NestedField(3, "x", IntegerType(), required=True)), element_required=True)
    identifier = NestedField(1, "id", LongType(), required=True, doc="the row's id")
    catalog.create_table("db.entry", Schema(identifier, NestedField(4, "items", items)))
    lake.refresh()
    try:
        attached = entries(spark, "lake_db")
        schema = spark.table("lake_db.entry").schema
        spark.sql(f"CREATE DATABASE stated COMMENT '{attached[0].description()}'")
        spark.catalog.createTable("stated.entry", source=attached[1].provider().get(), schema=schema)
        stated = entries(spark, "stated")
        assert [fields(entry) for entry in attached] == [fields(entry) for entry in stated]
        places = [entry[1].location().toString().split("/")[-2:] for entry in (attached, stated)]
        assert places == [["lake_db.db", "entry"], ["stated.db", "entry"]]
    finally:
        spark.sql("DROP DATABASE IF EXISTS stated CASCADE")
        catalog.drop_table("db.entry")
        lake.refresh()


def test_attach_leaves_databases_of_spark_alone(spark, tmp_path):
    catalog = load_catalog("own", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    catalog.create_namespace("a")
    catalog.create_table("a.t", pa.schema([("id", pa.int64())]))
    spark.sql("CREATE DATABASE own_a")
    try:
        with pytest.raises(ValidationError, match="a database 'own_a' of its own"):
            icefloe.spark.attach(spark, catalog, "own")
        assert not spark.catalog.tableExists("own_a.t")
    finally:
        spark.sql("DROP DATABASE own_a")
    icefloe.spark.attach(spark, catalog, "own")
    assert spark.table("own_a.t").count() == 0
    icefloe.spark.detach(spark, "own")


def test_metadata_tables_of_an_empty_table_have_no_rows(sql):
    sql("CREATE TABLE lake.db.without_rows (id bigint, kind string) PARTITIONED BY (kind)")
    for one in ("files", "entries", "manifests", "snapshots", "partitions", "position_deletes", "all_delete_files"):
        assert sql(f"SELECT * FROM lake.db.without_rows.{one}") == []


def test_insert_overwrite_of_a_new_partition_keeps_the_others(sql):
    sql("CREATE TABLE lake.db.by_kind (id bigint, kind string) PARTITIONED BY (kind)")
    sql("INSERT INTO lake.db.by_kind VALUES (1, 'a')")
    sql("INSERT OVERWRITE lake.db.by_kind PARTITION (kind = 'b') SELECT 2")
    assert rows(sql, "lake.db.by_kind") == [(1, "a"), (2, "b")]
