"""Versions of attached tables that options of plain Spark choose, read in the table's current schema."""

from __future__ import annotations

import icefloe.spark
import pytest


@pytest.fixture(scope="module")
def first(spark, lake, catalog):
    """The first snapshot of a table whose columns have changed since, which has the tag `old`."""

    def sql(text):
        icefloe.spark.sql(spark, text).collect()

    sql("CREATE TABLE lake.db.versions (id int, n int, gone string)")
    sql("INSERT INTO lake.db.versions VALUES (1, 10, 'a'), (2, 20, 'b')")
    snapshot = catalog.load_table("db.versions").current_snapshot().snapshot_id
    sql(f"ALTER TABLE lake.db.versions CREATE TAG old AS OF VERSION {snapshot}")
    sql("ALTER TABLE lake.db.versions ADD COLUMN x string")
    sql("ALTER TABLE lake.db.versions RENAME COLUMN n TO m")
    sql("ALTER TABLE lake.db.versions ALTER COLUMN id TYPE bigint")
    sql("ALTER TABLE lake.db.versions DROP COLUMN gone")
    sql("INSERT INTO lake.db.versions VALUES (3, 30, 'c')")
    return snapshot


ROWS = [(1, 10, None), (2, 20, None)]


def tuples(frame):
    return sorted(tuple(row) for row in frame.collect())


def test_a_version_by_sql_has_null_in_columns_that_were_added_later(spark, first):
    assert tuples(spark.sql(f"SELECT * FROM lake_db.versions WITH ('snapshot-id' = '{first}')")) == ROWS
    assert tuples(spark.sql("SELECT * FROM lake_db.versions WITH ('tag' = 'old')")) == ROWS
    text = f"SELECT id FROM lake_db.versions WITH ('snapshot-id' = '{first}', 'filter' = 'm > 10') WHERE x IS NULL"
    assert tuples(spark.sql(text)) == [(2,)]


def test_a_version_by_an_option_has_null_in_columns_that_were_added_later(spark, first, catalog):
    assert tuples(spark.read.option("snapshot-id", first).table("lake_db.versions")) == ROWS
    taken_at = catalog.load_table("db.versions").snapshot_by_id(first).timestamp_ms
    assert tuples(spark.read.option("as-of-timestamp", taken_at).table("lake_db.versions")) == ROWS
    assert tuples(spark.table("lake_db.versions")) == [*ROWS, (3, 30, "c")]


def test_version_as_of_has_the_columns_of_the_snapshot(sql, first):
    assert sql(f"SELECT * FROM lake.db.versions VERSION AS OF {first} WHERE id = 1") == [(1, 10, "a")]
