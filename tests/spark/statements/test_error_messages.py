"""Every error of a statement, of attaching and of table functions names its subject and what was expected."""

from __future__ import annotations

import re
from types import SimpleNamespace

import icefloe.spark
import pytest
from icefloe.exceptions import IcebergError
from icefloe.spark.metadata_tables import metadata_rows
from icefloe.spark.statements import table_functions
from icefloe.spark.statements.attached_source import source_class

from tests.spark.raised_texts import raised_texts, texts_without_a_case

ROOMS = ("statements", "lexer")
UNREACHABLE = {
    "CREATE TABLE: expected columns or a query, got neither": "the parser refuses the statement before",
    "SQL: expected the name of a table, got ": "the parser records the place of each name",
    "SQL: expected a version, got ": "the parsed version is in the text",
    "NAMESPACE, DATABASE or SCHEMA": "only statements with one of these words get there",
    # The catalog here has no views; test_catalog_views.py causes the errors of views, on a REST server.
    ": expected a query in the dialect spark, got ": "the catalog has no views",
    ": expected a view's schema ": "the catalog has no views",
    ", which is not attached; expected ": "the catalog has no views",
    ": expected a query of other tables, got one that reads itself: ": "the catalog has no views",
    ": expected no version, as a view has the rows of its query now": "the catalog has no views",
    " columns of its query, got ": "the catalog has no views",
}
MERGE = "MERGE INTO {t} AS t USING (SELECT 1L AS id, 'x' AS name) AS s ON "
STATEMENTS = {
    "ALTER TABLE": (
        "RENAME TO 'x'",
        "RENAME TO y z",
        "SET TBLPROPERTIES ('format-version' = 'two')",
        "SET LOCATION here",
        "CREATE BRANCH b AS OF VERSION x",
        "CREATE BRANCH b RETAIN 5 YEARS",
        "REPLACE BRANCH nope",
        "ALTER COLUMN id COMMENT 'x' FIRST",
        "ALTER COLUMN id SET DEFAULT 1",
        "ALTER COLUMN id SET x",
        "CHANGE COLUMN id key bigint",
        "CHANGE COLUMN id id bigint NOT NULL",
        "REPLACE COLUMNS ()",
        "DROP COLUMN ()",
        "ADD COLUMN x",
        "ADD COLUMN x int DEFAULT 1",
        "ADD COLUMN x int GENERATED ALWAYS AS (1)",
        "ADD COLUMN x int COMMENT 'a' COMMENT 'b'",
        "ADD COLUMN x int NOT 5",
        "ADD COLUMN x whole",
        "ADD COLUMN x int /* to the end",
        "ADD COLUMN x int; SELECT 1",
        "SET TBLPROPERTIES ()",
        "SET TBLPROPERTIES ('a' = b)",
        "SET TBLPROPERTIES ('a' = 1, 'a' = 2)",
        "ADD COLUMN ID int",
        "DROP IDENTIFIER FIELDS id",
        "WRITE ORDERED BY",
        "EXPLODE",
        "DROP PARTITION (id = 1)",
    ),
    "INSERT INTO": (
        "SELECT array(1), 'x'",
        "SELECT 1",
        "(id, nope) SELECT 1, 'a'",
        "(id, id) SELECT 1, 2",
        "(id, 'x') SELECT 1, 2",
        "IF NOT EXISTS SELECT 1, 'a'",
        "REPLACE WHERE id = 1",
        "PARTITION () SELECT 1, 'a'",
        "PARTITION (id = 1, id = 2) SELECT 'a'",
        "(id, name) BY NAME SELECT 1, 'a'",
    ),
    "INSERT OVERWRITE": (
        "PARTITION (id = 1) SELECT 'a'",
        "PARTITION (nope = 1) SELECT 1, 'a'",
        "REPLACE WHERE id = 1 SELECT 1, 'a'",
    ),
    "UPDATE": (
        "SET WHERE id = 1",
        "SET name = 'a', name = 'b'",
        "SET nope = 1",
        "SET a.b.c = 1",
        "SET name.first = 'a'",
        "SET name = 'a', name.first = 'b'",
        "SET name 'a'",
        "SET name =",
        "SET id = 'x'",
        "SET id = nope",
        "SET id = 1 WHERE id = array(1)",
        "SET id = 12345678901234567890",
    ),
    "SELECT * FROM": (
        "VERSION AS OF 1.5",
        "TIMESTAMP AS OF null",
        "WHERE (",
    ),
}
OTHERS = (
    "ALTER TABLE lake.db.none_yet CREATE TAG b",
    "ALTER TABLE {t} SET TBLPROPERTIES ('sort-order' = 'id')",
    "UPDATE lake.db.none_yet SET at.x = DEFAULT",
    "CALL lake.nope(1)",
    "CALL lake.system.nope()",
    "DESCRIBE PROCEDURE lake.system.nope",
    "DESCRIBE PROCEDURE lake.nope",
    "CALL lake.system.rollback_to_snapshot('{i}')",
    "CALL lake.system.rollback_to_snapshot('{i}', null)",
    "CALL lake.system.ancestors_of(nope => 1)",
    "CALL lake.system.ancestors_of(table => 'a', table => 'b')",
    "CALL lake.system.ancestors_of(table => 'a', 1)",
    "CALL lake.system.ancestors_of('a', 1, 2)",
    "CALL lake.system.ancestors_of('{i}', 7)",
    "CALL lake.system.add_files('{i}', 'orc.`/x`')",
    "CALL lake.system.set_current_snapshot('{i}')",
    "CALL lake.system.create_changelog_view('{i}', 'v', map('nope', '1'))",
    "CREATE TABLE lake.db.wrong USING icefloe",
    "CREATE TABLE lake.db.wrong (id int) AS SELECT 1",
    "CREATE TABLE lake.db.wrong (id int) USING csv",
    "CREATE TABLE lake.db.wrong (id int) USING orc TBLPROPERTIES ('write.format.default' = 'avro')",
    "CREATE TABLE lake.db.wrong (id int) STORED AS orc",
    "CREATE TABLE lake.db.wrong (id int, n int) CLUSTERED BY (id, n) INTO 4 BUCKETS",
    "CREATE TABLE lake.db.wrong (id int) CLUSTERED BY (id) SORTED BY (id) INTO 4 BUCKETS",
    "CREATE TABLE lake.db.wrong (at timestamp) PARTITIONED BY (days(at), hours(at))",
    "CREATE TABLE lake.db.wrong (id int) TBLPROPERTIES ('location' = '/x')",
    "CREATE TABLE lake.db.wrong (id int) PARTITIONED BY (id, p string)",
    "CREATE TABLE lake.db.wrong PARTITIONED BY (p string) AS SELECT 1 AS id",
    "CREATE TABLE lake.db.wrong (id int) EXPLODE",
    "CREATE TABLE lake.db.wrong (id int FIRST)",
    "CREATE TABLE lake.db.wrong ()",
    "CREATE TABLE lake.db.wrong (id int) COMMENT 'a' COMMENT 'b'",
    "CREATE OR REPLACE TABLE IF NOT EXISTS lake.db.wrong (id int)",
    "CREATE TABLE lake.db.wrong (id int) CLUSTERED BY (id)",
    "CREATE TABLE lake.db.wrong (id int) PARTITIONED BY (halve(id))",
    "CREATE NAMESPACE lake.wrong EXPLODE",
    "CREATE NAMESPACE lake.wrong COMMENT 'a' COMMENT 'b'",
    "DROP NAMESPACE lake.db CASCADE",
    "SHOW FUNCTIONS IN lake.nope",
    "SHOW INDEXES IN lake.db",
    "CREATE NAMESPACE lake.wrong WITH PROPERTIES ('owner' = 'ann')",
    "DESCRIBE {t} nope",
    "DESCRIBE {t} id.x",
    "DESCRIBE {t} AS JSON",
    "FROM {t} INSERT INTO {t} MAP id, name USING 'cat'",
    "FROM {t} SELECT * INSERT INTO {t} SELECT *",
    "SHOW TABLES lake.db",
    "SHOW TABLES IN lake",
    "SHOW PARTITIONS {t}",
    "SHOW CREATE TABLE {t}.snapshots",
    "COMMENT ON VIEW {t} IS 'x'",
    "ALTER NAMESPACE lake.db EXPLODE",
    "CREATE TEMP VIEW v AS {t}",
    "EXPLAIN DELETE FROM {t}",
    "CREATE OR REPLACE VIEW v AS SELECT * FROM {t}",
    "CACHE LAZY TABLE lake.db.v AS SELECT * FROM {t}",
    "CACHE TABLE {t}.snapshots",
    "CACHE TABLE {t} OPTIONS ('storageLevel' 'NOWHERE')",
    "DROP VIEW {t}",
    "CREATE TABLE lake.db.wrong (id int) DEFAULT COLLATION nope",
    "SELECT IDENTIFIER(NULL) FROM {t}",
    "EXECUTE IMMEDIATE 'SELECT * FROM {t} WHERE id = :a' USING 1 AS a, 2",
    "SET VAR n = (SELECT max(id) FROM {t}), q =",
    "DELETE FROM {t} WHERE rand() < 2",
    "USE lake.nope",
    "SELECT lake.system.bucket(16) FROM {t}",
    "SELECT lake.system.bucket(0, id) FROM {t}",
    "SELECT lake.system.bucket('a', id) FROM {t}",
    "SELECT lake.system.years(id) FROM {t}",
    "SELECT lake.system.nope(id) FROM {t}",
    "SELECT lake.system.bucket(16, id FROM {t}",
    "ALTER TABLE {t}.branch_main ADD COLUMN x int",
    "INSERT INTO {t}.branch_nope VALUES (1, 'a')",
    "CREATE TABLE lake.db.wrong (id int, ID string)",
    "DELETE FROM {t} WHERE",
    "DELETE FROM {t} WHERE id = 1) OR (id = 2",
    "SHOW TBLPROPERTIES {t} ('a', 'b')",
    "ANALYZE TABLE {t} COMPUTE STATISTICS",
    "DELETE FROM {t}.snapshots",
    "DELETE FROM {t} WHERE nope > 1",
    "DELETE FROM lake.t",
    "INSERT INTO lake_db.none_yet_either SELECT id FROM {t}",
    "INSERT INTO other.db.t {t}",
    "DELETE FROM other.db.t WHERE id IN (SELECT id FROM {t} VERSION AS OF 1)",
    "DELETE FROM {t} LIMIT 3",
    "DELETE FROM {t} WHERE id < 3 LIMIT 2",
    "UPDATE {t} SET name = 'x' FROM s WHERE s.id = 1",
    "TRUNCATE TABLE {t} PARTITION (id = 1)",
    "INSERT INTO {t} AS x VALUES (1, 'a')",
    "INSERT INTO {t} VALUES (1, 'a') ON CONFLICT DO NOTHING",
    "INSERT INTO {t} VALUES (1, 'a') RETURNING *",
    "CREATE TABLE lake.db.wrong LIKE {t}",
    "CREATE TABLE lake.db.wrong (id int PRIMARY KEY)",
    "CREATE TABLE lake.db.wrong (id int, CONSTRAINT c CHECK (id > 0))",
    "ALTER TABLE {t} ADD COLUMN x int UNIQUE",
    "OPTIMIZE {t}",
    "CREATE INDEX i ON TABLE {t} (id)",
    "SELEC 1 FROM {t}",
    MERGE + "t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (1, 'a')",
    MERGE + "t.id = s.id WHEN MATCHED THEN DO NOTHING",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET * RETURNING *",
    "DECLARE n INT DEFAULT (SELECT max(id) FROM {t})",
    "SELECT * FROM {t}.snapshot_id_x",
    "SELECT * FROM {t}.branch_main VERSION AS OF 1",
    "SELECT * FROM {t} FOR SYSTEM_TIME BETWEEN 1 AND 2",
    "MERGE INTO {t} USING {t} ON id = 1 WHEN MATCHED THEN DELETE",
    "MERGE WITH SCHEMA EVOLUTION INTO {t} AS t USING (SELECT 1L AS id, 5 AS name) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
    MERGE + "t.id = s.id AND s.id IN (SELECT 1) WHEN MATCHED THEN DELETE",
    MERGE + "t.id = max(s.id) WHEN MATCHED THEN DELETE",
    MERGE + "t.id = s.id WHEN NOT MATCHED THEN INSERT (id, name) VALUES (1)",
    MERGE + "t.id = s.id WHEN NOT MATCHED THEN INSERT (id, id) VALUES (1, 1)",
    MERGE + "t.id = s.id WHEN NOT MATCHED THEN INSERT (id, name.first) VALUES (1, 'a')",
    MERGE + "t.id = s.id WHEN NOT MATCHED AND t.id = 1 THEN INSERT *",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET name",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET name = 'a', name = 'b'",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET a.b.c = 1",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET id = 'x'",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.*",
    MERGE + "t.id = s.id WHEN MATCHED AND EXISTS (SELECT 1) THEN DELETE",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET name = (SELECT max(t.name))",
    MERGE + "t.id = s.id WHEN MATCHED AND id = 1 THEN DELETE",
    MERGE + "t.id = s.id WHEN MATCHED AND s.nope = 1 THEN DELETE",
)
WITH_PARAMETERS = (
    (MERGE + "t.id = s.id AND s.id = :x WHEN MATCHED THEN DELETE", {"x": [1]}),
    (MERGE + "t.id = s.id AND s.id = ? WHEN MATCHED THEN DELETE", []),
)


def causes(spark, lake, name):
    """Return the ways to cause each error, by name."""
    identifier = tuple(name.split(".")[1:])
    table = lake.catalog.load_table(identifier)
    texts = [f"{start} {{t}} {end}" for start, ends in STATEMENTS.items() for end in ends]
    statements = [*((text, None) for text in (*texts, *OTHERS)), *WITH_PARAMETERS]

    def attach(name):
        return lambda: icefloe.spark.attach(spark, lake.catalog, name)

    def run(text, args):
        return lambda: icefloe.spark.sql(spark, text.format(t=name, i=".".join(identifier)), args)

    def in_a_detached_catalog():
        other, here = spark.newSession(), spark.newSession()
        icefloe.spark.attach(other, lake.catalog, "brief", views=False)
        icefloe.spark.sql(here, "USE brief.db")
        icefloe.spark.detach(other, "brief")
        icefloe.spark.sql(here, "SELECT * FROM with_errors")

    def by_an_unknown_relative_name():
        here = spark.newSession()
        icefloe.spark.sql(here, "USE lake.db")
        icefloe.spark.sql(here, "FROM nope |> SET id = id + 1")

    def run_with_case(text):
        """Run a statement in a session that distinguishes case."""

        def run_it():
            spark.conf.set("spark.sql.caseSensitive", "true")
            try:
                run(text, None)()
            finally:
                spark.conf.unset("spark.sql.caseSensitive")

        return run_it

    return {
        **{text: run(text, args) for text, args in statements},
        "MERGE, * of other case": run_with_case(
            "MERGE INTO {t} t USING (SELECT 1L id, 'x' NAME) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
        ),
        "attach under a dotted name": attach("a.b"),
        "attach under a name in use": attach("lake"),
        "attach over a database of Spark": attach("own"),
        "attach of no catalog": lambda: icefloe.spark.attach(spark, "lake"),
        "detach of no catalog": lambda: icefloe.spark.detach(spark, "nope"),
        "option of an attached table": source_class("of_a_test", lake.catalog, identifier)({"path": "a"}).schema,
        "stream of changes of an attached table": lambda: source_class("of_a_test", lake.catalog, identifier)(
            {"changes": "true"}
        ).streamReader(None),
        "name in a catalog that is not attached": lambda: icefloe.spark.sql(spark, "SELECT * FROM nope.db.t"),
        "relative name in a catalog that another session has detached": in_a_detached_catalog,
        "relative name that no table has": by_an_unknown_relative_name,
        "unknown metadata table": lambda: metadata_rows(table, "nope"),
        "version of a metadata table": lambda: metadata_rows(table, "snapshots", 1),
        "table function of numbers": lambda: table_functions._text(SimpleNamespace(value=1)),
    }


@pytest.fixture(scope="module")
def errors(spark, lake):
    """The error of each cause, by its name."""
    icefloe.spark.sql(spark, "CREATE TABLE lake.db.with_errors (id bigint, name string) USING icefloe")
    icefloe.spark.sql(spark, "CREATE TABLE lake.db.none_yet (id bigint, at struct<x: int>) USING icefloe")
    icefloe.spark.sql(spark, "INSERT INTO lake.db.with_errors VALUES (1, 'a')")
    spark.sql("CREATE DATABASE own_db")
    found = {}
    try:
        for name, cause in causes(spark, lake, "lake.db.with_errors").items():
            with pytest.raises(IcebergError) as caught:
                cause()
            found[name] = caught.value
    finally:
        spark.sql("DROP DATABASE own_db")
    table = lake.catalog.load_table(("db", "with_errors"))
    assert (len(table.snapshots()), len(table.metadata.metadata_log)) == (1, 1)
    assert not lake.catalog.table_exists(("db", "wrong"))
    return found


def test_errors_name_subject_and_expectation(errors):
    wrong = {
        name: str(error)
        for name, error in errors.items()
        if not (re.match(r"[^;\n]+: ", str(error)) and "expect" in str(error)) or "\n" in str(error)
    }
    assert wrong == {}


def test_every_error_of_the_room_has_a_case(errors):
    assert texts_without_a_case(raised_texts(ROOMS), errors, UNREACHABLE) == {}


def test_unreachable_errors_are_still_raised():
    texts = [text for text, _ in raised_texts(ROOMS)]
    assert [known for known in UNREACHABLE if not any(text.startswith(known) for text in texts)] == []
