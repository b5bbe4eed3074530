"""Versions of tables and columns in queries."""

from __future__ import annotations

import icefloe.spark
import pytest


@pytest.mark.parametrize("time", ["current_timestamp()", "current_timestamp", "now()", "date_add(current_date(), 1)"])
def test_time_travel_takes_functions(sql, name, time):
    assert sql(f"SELECT count(*) FROM {name} TIMESTAMP AS OF {time} AS t WHERE t.id > 1") == [(2,)]


def snapshots_of(sql, name):
    """Return the ids and times of the snapshots of a table, oldest first."""
    return sql(f"SELECT snapshot_id, committed_at FROM {name}.snapshots ORDER BY committed_at")


def test_each_question_mark_of_a_query_has_its_own_parameter(sql, name):
    sql(f"INSERT INTO {name} VALUES (4, 'd')")
    (first, time), (second, _) = snapshots_of(sql, name)
    counted = "SELECT (SELECT count(*) FROM {0} VERSION AS OF ? AS a WHERE a.id > ?), b.id FROM {0} VERSION AS OF ? AS b WHERE b.id > ?"
    assert sql(counted.format(name), [first, 1, second, 3]) == [(2, 4)]
    joined = f"SELECT a.id, b.id FROM {name} VERSION AS OF ? AS a RIGHT JOIN {name} VERSION AS OF ? AS b ON a.id = b.id WHERE b.id > ?"
    assert sorted(sql(joined, [first, second, 2]), key=lambda row: row[1]) == [(3, 3), (None, 4)]
    assert sql(f"SELECT name FROM {name} TIMESTAMP AS OF ? WHERE id = ?", [time, 2]) == [("b",)]
    assert sql(f"SELECT ? AS one, name FROM {name} VERSION AS OF ? WHERE id=?AND name=?", ["x", first, 2, "b"]) == [
        ("x", "b")
    ]


def test_each_question_mark_of_a_statement_around_a_query_has_its_own_parameter(spark, sql, name):
    sql(f"INSERT INTO {name} VALUES (4, 'd')")
    (first, _), (second, _) = snapshots_of(sql, name)
    query = f"SELECT id FROM {name} VERSION AS OF ? WHERE id = ?"
    sql(f"CREATE OR REPLACE TEMPORARY VIEW parameters AS {query}", [first, 2])
    assert spark.sql("SELECT * FROM parameters").collect() == [(2,)]
    plan = sql(f"EXPLAIN {query} UNION ALL {query}", [first, 2, second, 4])[0][0]
    assert "= 2)" in plan
    assert "= 4)" in plan
    sql(f"CREATE TABLE {name}_copy AS {query}", [second, 4])
    assert sql(f"SELECT * FROM {name}_copy") == [(4,)]
    immediate = f"EXECUTE IMMEDIATE '{query} UNION ALL {query}' USING {first}L, 2, {second}L, 4"
    assert sorted(sql(immediate)) == [(2,), (4,)]


def test_table_is_a_query_of_all_rows(sql, name):
    assert sorted(sql(f"TABLE {name}"), key=str) == [(1, "a"), (2, "b"), (3, None)]
    sql(f"INSERT INTO {name} TABLE {name}")
    assert sql(f"SELECT count(*) FROM {name}") == [(6,)]


STARS = {
    "SELECT * FROM {t} WHERE _file IS NOT NULL": ["id", "name"],
    "SELECT *, _file FROM {t}": ["id", "name", "_file"],
    "SELECT _pos, t.*, _pos AS pos FROM {t} AS t": ["_pos", "id", "name", "pos"],
    "SELECT * EXCEPT (id), _file FROM {t}": ["name", "_file"],
    "SELECT a.*, b.id AS other FROM {t} a JOIN {t} AS b ON a._file = b._file AND a.id = b.id": ["id", "name", "other"],
    "SELECT * FROM {t} a JOIN {t} AS b ON a._pos = b._pos": ["id", "name", "id", "name"],
    "SELECT * FROM (SELECT *, _file FROM {t}) WHERE _file IS NOT NULL": ["id", "name", "_file"],
    "WITH x AS (SELECT _file AS f, * FROM {t}) SELECT * FROM x": ["f", "id", "name"],
    "SELECT * FROM {t} WHERE _pos = 0 UNION ALL SELECT * FROM {t}": ["id", "name"],
    "SELECT id, 2 * _pos AS twice FROM {t} WHERE id IN (SELECT id FROM {t})": ["id", "twice"],
    "SELECT DISTINCT * FROM {t} WHERE _file IN (SELECT _file FROM {t})": ["id", "name"],
}


@pytest.mark.parametrize("query", STARS)
def test_star_leaves_out_metadata_columns_as_in_java(spark, lake, name, query):
    found = icefloe.spark.sql(spark, query.format(t=name))
    assert found.columns == STARS[query]
    assert found.count() > 0


def test_raw_texts_end_at_their_first_quote_and_join_the_next(sql, name):
    """As Spark reads them, the quotes of `r'it''s'` end one text and begin another."""
    sql(f"INSERT INTO {name} VALUES (4, r'it''s'), (5, r'c:\\new'), (6, 'it\\'s')")
    assert sql(f"SELECT id FROM {name} WHERE name = r'it''s'") == [(4,)]
    assert sql(f"SELECT id FROM {name} WHERE name = 'i'r't' R\"s\"") == [(4,)]
    assert sql(f"SELECT r'a' r'\\b\\' AS x FROM {name} WHERE name = r'c:\\new'") == [("a\\b\\",)]
    sql(f"UPDATE {name} SET name = r'd''\\t' WHERE name = r'c:\\new'")
    sql(f"DELETE FROM {name} WHERE name = r'it''s' OR id < 4")
    assert sorted(sql(f"SELECT * FROM {name}")) == [(5, "d\t"), (6, "it's")]


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("setting", ["true", "false"])
def test_two_quotes_within_a_text_mean_what_they_mean_in_the_session(sql, spark, name, setting, quote):
    """They are one quote since Spark 4.1, and nothing before and under the setting of that version."""
    sql(f"DELETE FROM {name}")
    sql(f"INSERT INTO {name} VALUES (1, 'its'), (2, concat('it', {ascii_of(quote)}, 's'))")
    spark.conf.set("spark.sql.legacy.consecutiveStringLiterals.enabled", setting)
    try:
        text = f"{quote}it{quote}{quote}s{quote}"
        meant = spark.sql(f"SELECT {text} AS text").first().text
        assert sql(f"SELECT name FROM {name} WHERE name = {text}") == [(meant,)]
        sql(f"DELETE FROM {name} WHERE name = {text}")
        assert (meant,) not in sql(f"SELECT name FROM {name}")
        assert sql(f"SELECT count(*) FROM {name}") == [(1,)]
    finally:
        spark.conf.unset("spark.sql.legacy.consecutiveStringLiterals.enabled")


def ascii_of(character):
    return f"char({ord(character)})"
