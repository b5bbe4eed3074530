"""Conditions of queries, which prune the files of a table where they are about its own columns."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.spark.session import settings


@pytest.fixture(scope="module")
def table(spark, lake):
    """The name of a table with the rows (1, 20, 'x'), (2, 10, 'y') and (3, 5, '05') of `id`, `n` and `s`."""
    icefloe.spark.sql(spark, "CREATE TABLE lake.db.conditions (id bigint, n bigint, s string) USING icefloe")
    icefloe.spark.sql(spark, "INSERT INTO lake.db.conditions VALUES (1, 20, 'x'), (2, 10, 'y'), (3, 5, '05')")
    return "lake.db.conditions"


def test_condition_on_renamed_columns_of_an_alias_is_about_these(sql, table):
    assert sql(f"SELECT n FROM {table} AS t(n, id, s) WHERE n = 1") == [(1,)]
    assert sql(f"SELECT t.n FROM {table} AS t(n, id, s) WHERE t.id = 10") == [(2,)]


def test_condition_after_a_pipe_is_about_the_rows_before(sql, table):
    assert sql(f"FROM {table} |> ORDER BY id |> LIMIT 1 |> WHERE n = 10 |> SELECT id") == []
    assert sql(f"FROM {table} |> WHERE n = 10 |> SELECT id") == [(2,)]


def test_condition_on_an_alias_that_differs_in_case_is_about_the_other_table(spark, sql, table):
    with settings(spark, {"spark.sql.caseSensitive": "true"}):
        query = f"SELECT a.id FROM {table} a JOIN {table} A ON a.id = A.id - 1 WHERE A.n = 10"
        assert sql(query) == [(1,)]


def test_condition_on_a_name_of_using_is_about_the_table_before(spark, sql, table):
    # ANSI casts fail for 'x'.
    with settings(spark, {"spark.sql.ansi.enabled": "false"}):
        query = f"SELECT t.id FROM (SELECT 5 AS s) AS o JOIN {table} AS t USING (s) WHERE s = '5'"
        assert sql(query) == [(3,)]


def test_condition_with_a_number_out_of_the_range_of_its_column_keeps_the_limit(sql):
    sql("CREATE TABLE lake.db.limits (id bigint, n int) USING icefloe")
    sql(
        "INSERT INTO lake.db.limits VALUES (9223372036854775807, 2147483647), (-9223372036854775808, -2147483648), (1, NULL)"
    )
    assert sql("SELECT count(*) FROM lake.db.limits WHERE n < 2147483648 AND n > -2147483649") == [(2,)]
    assert sql("SELECT count(*) FROM lake.db.limits WHERE n <> 2147483648 AND id <> 9223372036854775808") == [(2,)]
    sql("DELETE FROM lake.db.limits WHERE n >= 2147483648 OR n = -2147483649 OR id IN (5, 9223372036854775808)")
    assert sql("SELECT count(*) FROM lake.db.limits") == [(3,)]
    sql("DELETE FROM lake.db.limits WHERE n <= 2147483648")
    assert sql("SELECT id FROM lake.db.limits") == [(1,)]
