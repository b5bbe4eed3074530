"""CACHE TABLE and UNCACHE TABLE of attached tables."""

from __future__ import annotations

import pytest
from icefloe.exceptions import FeatureUnsupportedError, NoSuchTableError, ValidationError
from icefloe.spark.session import settings


@pytest.fixture
def plan(sql, name):
    """A function that returns the plan of a query of the table, in which cached rows are an InMemoryTableScan."""
    return lambda: sql(f"EXPLAIN SELECT name FROM {name} WHERE id > 1")[0][0]


def test_queries_read_the_cached_rows_of_the_current_version(sql, name, plan):
    assert sql(f"CACHE TABLE {name}") == []
    assert "InMemoryTableScan" in plan()
    sql(f"INSERT INTO {name} VALUES (4, 'd')")
    assert "InMemoryTableScan" in plan()
    assert sql(f"SELECT name FROM {name} WHERE id > 3") == [("d",)]
    assert sql(f"SELECT a.name, b.id FROM {name} a JOIN {name} b ON a.id = b.id + 2 WHERE a.id = 4") == [("d", 2)]
    sql(f"ALTER TABLE {name} ADD COLUMN more int")
    assert sql(f"SELECT more FROM {name} WHERE id = 4") == [(None,)]
    assert sql(f"SELECT count(_file) FROM {name} WHERE id > 3") == [(1,)]
    sql(f"UPDATE {name} SET more = 1 WHERE id = 4")
    assert sql(f"SELECT id FROM {name} WHERE more = 1") == [(4,)]
    assert sql(f"UNCACHE TABLE {name}") == []
    assert "InMemoryTableScan" not in plan()


def test_cached_rows_are_those_of_the_branch_that_the_session_reads(spark, sql, name, plan):
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    sql(f"ALTER TABLE {name} CREATE BRANCH audit")
    sql(f"INSERT INTO {name}.branch_audit VALUES (4, 'd')")

    def ids():
        assert "InMemoryTableScan" in plan()
        return sorted(row[0] for row in sql(f"SELECT id FROM {name}"))

    sql(f"CACHE TABLE {name}")
    assert ids() == [1, 2, 3]
    with settings(spark, {"spark.wap.branch": "audit"}):
        assert ids() == [1, 2, 3, 4]
        sql(f"INSERT INTO {name} VALUES (5, 'e')")
        assert ids() == [1, 2, 3, 4, 5]
        sql(f"CACHE TABLE {name}")
        assert ids() == [1, 2, 3, 4, 5]
    assert ids() == [1, 2, 3]
    with settings(spark, {"spark.wap.branch": "nope"}):
        assert ids() == [1, 2, 3]
    sql(f"UNCACHE TABLE {name}")


def test_a_lazy_table_is_cached_where_the_options_say(sql, lake, name, plan):
    sql(f"CACHE LAZY TABLE {name} OPTIONS ('storageLevel' 'MEMORY_ONLY')")
    (cached,) = lake.cached.values()
    assert (cached.frame.storageLevel.useMemory, cached.frame.storageLevel.useDisk) == (True, False)
    sql(f"CACHE TABLE {name}")
    assert list(lake.cached.values()) == [cached]
    sql("CLEAR CACHE")
    assert not lake.cached
    assert "InMemoryTableScan" not in plan()
    sql(f"CACHE TABLE {name}")
    lake.spark.catalog.clearCache()
    assert "InMemoryTableScan" not in plan()


def test_uncache_needs_a_table_that_exists(sql, name):
    assert sql(f"UNCACHE TABLE {name}") == sql("UNCACHE TABLE IF EXISTS lake.db.nope") == []
    for text in ("UNCACHE TABLE lake.db.nope", "CACHE TABLE lake.db.nope"):
        with pytest.raises(NoSuchTableError):
            sql(text)


def test_a_version_and_a_wrong_option_are_refused(sql, lake, name):
    with pytest.raises(FeatureUnsupportedError, match=r"CACHE TABLE: expected a table, .* caches its rows"):
        sql(f"CACHE TABLE {name}.snapshots")
    with pytest.raises(ValidationError, match=r"expected 'storageLevel' with a level of Spark .*, got NOWHERE"):
        sql(f"CACHE TABLE {name} OPTIONS ('storageLevel' 'NOWHERE')")
    assert not lake.cached
