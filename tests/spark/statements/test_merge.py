"""The source of MERGE: names of its columns, and all of its columns at once."""

from __future__ import annotations

import itertools

import icefloe.spark
import pytest
from icefloe.exceptions import FeatureUnsupportedError, SchemaMismatchError, ValidationError, ValidationException
from icefloe.spark.dml.join import MergeSource
from py4j.protocol import Py4JJavaError
from pyspark.errors import ArithmeticException

NUMBERS = itertools.count()


def rows(sql, name):
    return sql(f"SELECT * FROM {name} ORDER BY id")


def test_merge_names_the_columns_of_its_source(sql, name):
    values = "(VALUES (1, 'x'), (4, 'y')) AS s (key, label)"
    clauses = (
        "WHEN MATCHED THEN UPDATE SET name = s.label WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.key, label)"
    )
    sql(f"MERGE INTO {name} AS t USING {values} ON t.id = s.key {clauses}")
    assert rows(sql, name) == [(1, "x"), (2, "b"), (3, None), (4, "y")]


def test_merge_takes_full_names_of_target_and_source(sql, name):
    sql("CREATE OR REPLACE TABLE lake.db.named_source AS SELECT 2L AS id, 'c' AS name")
    on = f"{name}.id = lake.db.named_source.id"
    sql(
        f"MERGE INTO {name} USING lake.db.named_source ON {on} WHEN MATCHED THEN UPDATE SET name = lake.db.named_source.name"
    )
    assert rows(sql, name) == [(1, "a"), (2, "c"), (3, None)]


def test_merge_refuses_one_name_for_target_and_source(sql, name):
    """Both sides of `t.id = t.id` would be the source's, so every row would match."""
    sql("CREATE NAMESPACE IF NOT EXISTS lake.other")
    table = name.rsplit(".", maxsplit=1)[-1]
    sql(f"CREATE OR REPLACE TABLE lake.other.{table} AS SELECT 2L AS id")
    with pytest.raises(ValidationError, match=f"have the same name '{table}'; expected an alias"):
        sql(f"MERGE INTO {name} USING lake.other.{table} ON {table}.id = {table}.id WHEN MATCHED THEN DELETE")
    assert len(rows(sql, name)) == 3
    sql(f"DROP TABLE lake.other.{table}")
    sql("DROP NAMESPACE lake.other")


def test_merge_inserts_comparisons_and_defaults(sql, name):
    source = "USING (SELECT 8 AS id UNION ALL SELECT 9) AS s ON t.id = s.id WHEN NOT MATCHED"
    sql(f"MERGE INTO {name} t {source} AND s.id = 8 THEN INSERT (id, name) VALUES (s.id, s.id < 9)")
    sql(f"MERGE INTO {name} t {source} THEN INSERT (name, id) VALUES (DEFAULT, s.id)")
    assert rows(sql, name)[3:] == [(8, "true"), (9, None)]


def test_merge_stores_all_columns_as_spark_stores_them(sql, name):
    source = "(SELECT 1 AS id, 5 AS name UNION ALL SELECT 2.0BD, null UNION ALL SELECT 9, 7) AS s"
    clauses = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    sql(f"MERGE INTO {name} AS t USING {source} ON t.id = s.id {clauses}")
    assert rows(sql, name) == [(1, "5"), (2, None), (3, None), (9, "7")]
    sql(f"MERGE INTO {name} AS t USING (SELECT 1L AS id, null AS name) AS s ON t.id = s.id {clauses}")
    assert rows(sql, name)[0] == (1, None)
    with pytest.raises(SchemaMismatchError, match="got id: add the column"):
        sql(f"MERGE INTO {name} AS t USING (SELECT 1 AS id) AS s ON t.id = s.id {clauses}")


@pytest.mark.parametrize(
    "clauses",
    ["t.id = s.id WHEN MATCHED THEN UPDATE SET name = max(s.id)", "t.id = max(s.id) WHEN MATCHED THEN DELETE"],
)
def test_merge_refuses_aggregates(sql, name, clauses):
    with pytest.raises(ValidationError, match=r"expected an expression over one row, got an aggregate"):
        sql(f"MERGE INTO {name} AS t USING (SELECT 1L AS id) AS s ON {clauses}")


@pytest.mark.parametrize(
    "clauses",
    [
        "WHEN MATCHED AND false THEN DELETE",
        "WHEN NOT MATCHED AND NULL THEN INSERT (id) VALUES (s.id)",
        "WHEN MATCHED AND true THEN DELETE WHEN MATCHED AND t.id = 1 THEN UPDATE SET name = 'x'",
    ],
)
def test_merge_refuses_a_clause_that_never_applies(sql, name, clauses):
    before = rows(sql, name)
    with pytest.raises(ValidationError, match="the clause can never apply; expected a condition"):
        sql(f"MERGE INTO {name} AS t USING (SELECT 1L AS id) AS s ON t.id = s.id {clauses}")
    assert rows(sql, name) == before


@pytest.mark.parametrize(
    ("on", "updated"),
    [
        ("id = k AND end > 5 OR start = 3 AND k = 8", [2, 3]),
        ("end IS NOT NULL AND id = k", [1, 2]),
        ("CASE WHEN end = 5 THEN id = k ELSE false END", [1]),
    ],
)
def test_merge_takes_end_for_the_name_of_a_column(sql, lake, on, updated):
    made = f"lake.db.m{next(NUMBERS)}"
    sql(f"CREATE TABLE {made} (id int, start int, end int)")
    sql(f"INSERT INTO {made} VALUES (1, 1, 5), (2, 2, 6), (3, 3, 7)")
    source = "(VALUES (1, 9), (2, 9), (8, 9)) AS s (k, v)"
    sql(f"MERGE INTO {made} USING {source} ON {on} WHEN MATCHED AND end < 9 THEN UPDATE SET end = v, start = 0")
    assert sql(f"SELECT id FROM {made} WHERE end = 9 AND start = 0 ORDER BY id") == [(key,) for key in updated]


def test_merge_refuses_a_target_that_changed_after_its_source_was_read(spark, sql, lake, name, catalog, monkeypatch):
    compute = MergeSource.__enter__

    def computed_before_another_commit(source):
        entered = compute(source)
        monkeypatch.undo()
        icefloe.spark.sql(spark, f"UPDATE {name} SET name = 'theirs' WHERE id = 1")
        return entered

    monkeypatch.setattr(MergeSource, "__enter__", computed_before_another_commit)
    source = f"(SELECT id, concat(name, '!') AS name FROM {name}) AS s"
    with pytest.raises(ValidationException):
        sql(f"MERGE INTO {name} AS t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET *")
    assert rows(sql, name)[0] == (1, "theirs")


def test_merge_leaves_a_cached_source_in_the_cache(spark, sql, name, catalog):
    changes = spark.sql("SELECT 1L AS id, string(rand()) AS name").cache()
    first = changes.collect()
    table = catalog.load_table(tuple(name.split(".")[1:]))
    icefloe.spark.merge_into(table, changes, on=["id"]).when_matched_update_all().execute()
    assert changes.storageLevel.useMemory
    assert changes.collect() == first
    changes.unpersist()


SOURCE = "(SELECT * FROM VALUES (1L, 'x'), (9L, 'y') AS v(id, s)) s ON t.id = s.id"


def test_merge_takes_scalar_subqueries_as_values(spark, sql, name):
    sql(
        f"WITH most AS (SELECT max(id) AS id FROM {name}) MERGE INTO {name} t USING {SOURCE} "
        f"WHEN MATCHED THEN UPDATE SET name = concat((SELECT max(name) FROM {name}), s.s, '(SELECT 1)') "
        "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id + (SELECT id FROM most), (SELECT CAST(NULL AS string) WHERE false)) "
        "WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN UPDATE SET name = (WITH w AS (SELECT 'w' AS c) SELECT c FROM w)"
    )
    assert sql(f"SELECT * FROM {name} ORDER BY id") == [(1, "bx(SELECT 1)"), (2, "w"), (3, None), (12, None)]
    assert [view.name for view in spark.catalog.listTables() if view.name.startswith("icefloe_scalar")] == []


@pytest.mark.parametrize(
    ("clauses", "problem"),
    [
        ("WHEN MATCHED AND t.id = (SELECT 1) THEN DELETE", "MERGE, condition of WHEN MATCHED: subqueries are not"),
        (
            "WHEN NOT MATCHED AND s.id IN (SELECT 1) THEN INSERT (id) VALUES (s.id)",
            "MERGE, condition of WHEN NOT MATCHED: subqueries are not",
        ),
        (
            "WHEN NOT MATCHED BY SOURCE AND EXISTS (SELECT 1) THEN DELETE",
            "MERGE, condition of WHEN NOT MATCHED BY SOURCE: subqueries are not",
        ),
        (
            "WHEN MATCHED THEN UPDATE SET name = IF(s.id IN (SELECT 1), 'a', 'b')",
            "MERGE, UPDATE SET: subqueries are not",
        ),
        (
            "WHEN MATCHED THEN UPDATE SET name = (SELECT max(t.name))",
            "MERGE, UPDATE SET: .*reads no column of the merged",
        ),
        ("WHEN NOT MATCHED THEN INSERT (id) VALUES ((SELECT s.id))", "MERGE, INSERT VALUES: .*reads no column of the"),
    ],
)
def test_merge_refuses_other_subqueries_with_their_clause(sql, name, clauses, problem):
    with pytest.raises((FeatureUnsupportedError, ValidationError), match=problem) as error:
        sql(f"MERGE INTO {name} t USING {SOURCE} {clauses}")
    assert "the query of USING, as a column of the source" in str(error.value)
    assert sql(f"SELECT count(name) FROM {name}") == [(2,)]


DIVISION = (ArithmeticException, Py4JJavaError)
"""Spark's Python has no exception for an error in rows that are cached."""
MERGES = {
    "update": ("WHEN MATCHED THEN UPDATE SET name = 'u'", "", ""),
    "insert": ("WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'n')", "abn", "abn"),
    "both": (
        "WHEN MATCHED THEN UPDATE SET name = 'u' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'n')",
        "",
        "ubn",
    ),
    "rest": ("WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN UPDATE SET name = 'r'", "", ""),
    "all": (
        (
            "WHEN MATCHED THEN UPDATE SET name = 'u' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'n') "
            "WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN UPDATE SET name = 'r'"
        ),
        "urn",
        "urn",
    ),
}
"""Clauses, with the names of ids 1, 2 and 9 after a merge in copy-on-write and in merge-on-read; empty if the merge fails."""


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
@pytest.mark.parametrize("case", MERGES)
def test_merge_evaluates_conditions_on_the_source_for_the_rows_of_java(sql, name, case, mode):
    clauses, *expected = MERGES[case]
    names = expected[mode == "merge-on-read"]
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.merge.mode' = '{mode}')")
    merge = "MERGE INTO {} t USING (SELECT * FROM VALUES {} AS v(id, d)) s ON t.id = s.id AND 1 / s.d > 0 {}"
    with pytest.raises(DIVISION, match="DIVIDE_BY_ZERO"):
        sql(merge.format(name, "(1L, 0), (9L, 1)", clauses))
    without_partner = merge.format(name, "(1L, 1), (9L, 0)", clauses)
    if names:
        sql(without_partner)
        assert [row[1] for row in rows(sql, name) if row[0] != 3] == list(names)
    else:
        with pytest.raises(DIVISION, match="DIVIDE_BY_ZERO"):
            sql(without_partner)


def test_merge_on_read_inserts_rows_that_conditions_on_the_source_exclude(sql, name):
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.merge.mode' = 'merge-on-read')")
    source = "(SELECT * FROM VALUES (1L, 'x', 'D'), (2L, 'y', NULL), (2L, 'z', 'U') AS v(id, name, op)) s"
    clauses = "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)"
    sql(f"MERGE INTO {name} t USING {source} ON t.id = s.id AND s.op = 'U' AND t.name <> 'c' {clauses}")
    assert sorted(rows(sql, name), key=str) == [(1, "a"), (1, "x"), (2, "y"), (2, "z"), (3, None)]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_conditions_of_a_merge_on_pairs_follow_those_on_the_source_before_them(sql, name, mode):
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.merge.mode' = '{mode}')")
    source = "(SELECT * FROM VALUES (1L, 0L), (2L, 1L) AS v(id, d)) s"
    clauses = "WHEN MATCHED THEN UPDATE SET name = 'u' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'n')"
    sql(f"MERGE INTO {name} t USING {source} ON t.id = s.id AND s.d <> 0 AND t.id / s.d > 0 {clauses}")
    assert sorted(rows(sql, name)[:3], key=str) == [(1, "a"), (1, "n"), (2, "u")]
