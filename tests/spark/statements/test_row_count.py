"""Queries that count the rows of a table."""

from __future__ import annotations

import icefloe.spark
import pytest

from tests.spark.gateway_calls import recorded_calls


def is_counted(spark, text):
    """Return whether a query reads no file."""
    (row,) = icefloe.spark.sql(spark, f"EXPLAIN {text}").collect()
    return "parquet" not in row[0].lower() and "OneRowRelation" in row[0]


@pytest.fixture(scope="module")
def table(spark, lake):
    icefloe.spark.sql(
        spark,
        "CREATE TABLE lake.db.counted (id bigint, part bigint) USING icefloe PARTITIONED BY (part) "
        "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
    )
    icefloe.spark.sql(spark, "INSERT INTO lake.db.counted SELECT id, id % 4 FROM range(100)")
    return "lake.db.counted"


@pytest.mark.parametrize(
    ("query", "rows", "names"),
    [
        ("SELECT count(*) FROM {t}", [(100,)], ["count(1)"]),
        ("select COUNT(1) from {t} c", [(100,)], ["count(1)"]),
        ("SELECT count(*) AS `a b`, count(*) n FROM {t}", [(100, 100)], ["a b", "n"]),
        ("SELECT count(*) FROM {t} WHERE part = 1", [(25,)], ["count(1)"]),
        ("SELECT count(*) FROM {t} AS c WHERE c.part IN (1, 2)", [(50,)], ["count(1)"]),
        ("SELECT count(*) FROM {t} WHERE part > 5", [(0,)], ["count(1)"]),
    ],
)
def test_count_is_taken_from_metadata(spark, table, query, rows, names):
    text = query.format(t=table)
    frame = icefloe.spark.sql(spark, text)
    assert [tuple(row) for row in frame.collect()] == rows
    assert frame.columns == names
    assert [(field.dataType.simpleString(), field.nullable) for field in frame.schema] == [("bigint", False)] * len(
        names
    )
    assert is_counted(spark, text)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT count(*) FROM {t} WHERE id < 10", [(10,)]),
        ("SELECT count(*) FROM {t} WHERE part = 1 AND id % 2 = 1", [(25,)]),
        ("SELECT count(id) FROM {t}", [(100,)]),
        ("SELECT count(DISTINCT part) FROM {t}", [(4,)]),
        ("SELECT count(DISTINCT *) FROM {t}", [(100,)]),
        ("SELECT count(*) + 1 FROM {t}", [(101,)]),
        ("SELECT count(*) FILTER (WHERE id < 3) FROM {t}", [(3,)]),
        ("SELECT count(*) FROM {t} GROUP BY part", [(25,)] * 4),
        ("SELECT count(*) FROM {t} HAVING count(*) > 200", []),
        ("SELECT count(*) FROM {t} LIMIT 0", []),
        ("SELECT count(*) FROM {t}, range(2)", [(200,)]),
        ("SELECT count(*) OVER () FROM {t} LIMIT 1", [(100,)]),
        ("SELECT count(*) FROM {t} TABLESAMPLE (0 ROWS)", [(0,)]),
        ("SELECT count(*) FROM {t} UNION ALL SELECT count(*) FROM {t}", [(100,), (100,)]),
        ("SELECT count(*) FROM (SELECT DISTINCT part FROM {t})", [(4,)]),
        ("SELECT count(*) FROM {t} AS c (a, b) WHERE a < 10", [(10,)]),
        ("WITH w AS (SELECT 1) SELECT count(*) FROM {t}", [(100,)]),
    ],
)
def test_other_queries_are_answered_by_spark(spark, table, query, rows):
    text = query.format(t=table)
    assert [tuple(row) for row in icefloe.spark.sql(spark, text).collect()] == rows
    assert not is_counted(spark, text)


def test_count_sees_commits_of_others_deletes_versions_and_branches(spark, lake, sql, name):
    assert sql(f"SELECT count(*) FROM {name}") == [(3,)]
    other = lake.catalog.load_table(name.removeprefix("lake."))
    first = other.current_snapshot().snapshot_id
    other.append(other.scan().to_arrow())
    assert sql(f"SELECT count(*) FROM {name}") == [(6,)]
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    sql(f"DELETE FROM {name} WHERE id = 1")
    assert sql(f"SELECT count(*) FROM {name}") == [(4,)] == [(len(sql(f"SELECT * FROM {name}")),)]
    assert sql(f"SELECT count(*) FROM {name} VERSION AS OF {first}") == [(3,)]
    sql(f"ALTER TABLE {name} CREATE BRANCH audit AS OF VERSION {first}")
    assert sql(f"SELECT count(*) FROM {name}.branch_audit") == [(3,)]
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    spark.conf.set("spark.wap.branch", "audit")
    try:
        assert sql(f"SELECT count(*) FROM {name}") == [(3,)]
    finally:
        spark.conf.unset("spark.wap.branch")


def test_count_takes_few_calls(spark, table):
    icefloe.spark.sql(spark, f"SELECT count(*) FROM {table}")
    with recorded_calls() as calls:
        icefloe.spark.sql(spark, f"SELECT count(*) FROM {table}")
    assert len(calls) <= 8, calls


def test_filtered_query_takes_few_calls(spark, table):
    query = f"SELECT id FROM {table} WHERE part = 1 AND id BETWEEN 3 AND 30"
    icefloe.spark.sql(spark, query)
    with recorded_calls() as calls:
        icefloe.spark.sql(spark, query)
    assert len(calls) <= 35, calls
