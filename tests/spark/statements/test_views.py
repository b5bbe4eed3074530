"""Temporary views over queries of attached tables, and EXPLAIN of such queries."""

from __future__ import annotations

import pytest
from icefloe.exceptions import FeatureUnsupportedError, NoSuchViewError, ValidationError
from pyspark.errors import AnalysisException


def test_temporary_view_has_the_rows_of_its_query(spark, sql, name):
    assert sql(f"CREATE TEMP VIEW few AS SELECT id FROM {name} WHERE id > :least", {"least": 1}) == []
    sql(f"INSERT INTO {name} VALUES (4, 'd')")
    assert sql("SELECT sum(id) FROM few") == [(5,)]
    with pytest.raises(AnalysisException, match="few"):
        sql(f"CREATE TEMPORARY VIEW few AS SELECT id FROM {name}")
    sql(f"CREATE OR REPLACE TEMPORARY VIEW few (number, text) AS WITH w AS (SELECT * FROM {name}) SELECT * FROM w")
    assert spark.sql("SELECT number FROM few WHERE text = 'd'").first()[0] == 4
    spark.catalog.dropTempView("few")


def test_global_temporary_view_is_in_its_database(spark, sql, name):
    sql(f"CREATE GLOBAL TEMPORARY VIEW `of all` AS TABLE {name}")
    sql(f"CREATE OR REPLACE GLOBAL TEMP VIEW `of all` AS TABLE {name}")
    assert spark.sql("SELECT count(*) FROM global_temp.`of all`").first()[0] == 3
    spark.catalog.dropGlobalTempView("of all")


@pytest.mark.parametrize(
    ("mode", "plan"),
    [("", "Physical Plan"), ("EXTENDED", "Parsed Logical Plan"), ("FORMATTED", "Output"), ("COST", "sizeInBytes")],
)
def test_explain_returns_the_plan_of_a_query(sql, name, mode, plan):
    ((text,),) = sql(f"EXPLAIN {mode} SELECT name FROM {name} WHERE id = ?", [1])
    assert plan in text
    assert "name" in text


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "CREATE OR REPLACE VIEW v AS SELECT * FROM {t}",
            "CREATE OR REPLACE VIEW is not .*; expected a temporary view, which CREATE OR REPLACE TEMP",
        ),
        ("ANALYZE TABLE {t} COMPUTE STATISTICS", "ANALYZE TABLE is not .*; expected CALL .*compute_table_stats"),
        ("ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS", "ANALYZE TABLE is not .*; expected CALL"),
        ("SHOW PARTITIONS {t}", "SHOW PARTITIONS is not .*; expected SELECT .* FROM lake.db.events.partitions, which"),
        ("REPAIR TABLE {t}", "REPAIR TABLE is not .*; expected CALL .*add_files"),
    ],
)
def test_refused_statement_is_named_as_it_was_written(sql, name, statement, message):
    with pytest.raises(FeatureUnsupportedError, match=f"SQL: {message}"):
        sql(statement.format(t=name))


def test_view_without_a_query_is_refused(sql, name):
    with pytest.raises(ValidationError, match="expected a query after AS"):
        sql(f"CREATE TEMP VIEW v AS {name}")
    with pytest.raises(ValidationError, match="expected AS, got 'COMMENT'"):
        sql(f"CREATE TEMP VIEW v COMMENT 'x' AS SELECT * FROM {name}")


def test_a_catalog_has_no_views_to_drop(sql, name):
    assert sql("DROP VIEW IF EXISTS lake.db.nope") == sql(f"DROP VIEW IF EXISTS {name}") == []
    assert sql(f"SELECT count(*) FROM {name}") == [(3,)]
    with pytest.raises(
        NoSuchViewError, match=f"DROP VIEW: expected a view of lake, got {name}: DROP TABLE drops a table"
    ):
        sql(f"DROP VIEW {name}")
