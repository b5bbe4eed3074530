"""INSERT OVERWRITE of partitions, and REPLACE WHERE, with values of every type and parameters."""

from __future__ import annotations

import itertools

import pytest
from icefloe.exceptions import SchemaMismatchError, ValidationError
from pyspark.errors import AnalysisException

NUMBERS = itertools.count()


def rows(sql, name):
    return sql(f"SELECT * FROM {name} ORDER BY id")


OVERWRITTEN = {
    "string": ("'it''s'", "5"),
    "int": ("1", "'2'"),
    "date": ("DATE '1969-12-31'", "'2024-01-01'"),
    "timestamp": ("TIMESTAMP '1969-12-31 23:00:00'", "'2024-07-01 12:00:00'"),
    "timestamp_ntz": ("TIMESTAMP_NTZ '2024-03-10 02:30:00'", "NULL"),
    "decimal(9, 2)": ("1.10", "-5"),
    "double": ("-0.0D", "double('nan')"),
    "binary": ("X'00ff'", "X''"),
    "boolean": ("true", ":flag"),
}


@pytest.mark.parametrize("kind", OVERWRITTEN)
def test_insert_overwrite_of_a_partition_takes_every_value(sql, kind):
    made = f"lake.db.of_{kind.split('(')[0]}"
    sql(f"CREATE TABLE {made} (id int, `the p` {kind}) PARTITIONED BY (`the p`)")
    for verb, first in (("INTO", 1), ("OVERWRITE", 3)):
        for index, value in enumerate(OVERWRITTEN[kind]):
            sql(f"INSERT {verb} {made} PARTITION (`THE P` = {value}) SELECT {first + index}", {"flag": False})
    assert sql(f"SELECT id FROM {made} ORDER BY id") == [(3,), (4,)]
    assert sql(f"SELECT count(DISTINCT `the p`) + count_if(`the p` IS NULL) FROM {made}") == [(2,)]


QUOTED = "it's \\"


@pytest.mark.parametrize(("condition", "arguments"), [("kind = :kind", {"kind": QUOTED}), ("kind = ?", [QUOTED])])
def test_replace_where_takes_parameters(sql, condition, arguments):
    sql("CREATE OR REPLACE TABLE lake.db.replaced (id bigint, kind string) PARTITIONED BY (kind)")
    sql("INSERT INTO lake.db.replaced VALUES (1, 'a'), (2, :kind)", {"kind": QUOTED})
    sql(f"INSERT INTO lake.db.replaced REPLACE WHERE {condition} SELECT 3, 'b'", arguments)
    assert rows(sql, "lake.db.replaced") == [(1, "a"), (3, "b")]


def test_changes_of_an_unknown_branch_are_refused(sql, lake, name):
    for change in ("INSERT INTO {} VALUES (9, 'z')", "DELETE FROM {}", "UPDATE {} SET id = 1"):
        with pytest.raises(ValidationError, match="the table has no branch 'typo'; expected one of main"):
            sql(change.format(f"{name}.branch_typo"))
    assert set(lake.catalog.load_table(name.removeprefix("lake.")).refs()) == {"main"}


def test_insert_distinguishes_columns_by_case_where_the_session_does(spark, sql):
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        sql("CREATE TABLE lake.db.cased (id int, ID string)")
        sql("INSERT INTO lake.db.cased VALUES (1, 'a')")
        sql("INSERT INTO lake.db.cased (ID, id) VALUES ('b', 2)")
        sql("INSERT INTO lake.db.cased BY NAME SELECT 'c' AS ID, 3 AS id")
        assert sql("SELECT id, ID FROM lake.db.cased ORDER BY id") == [(1, "a"), (2, "b"), (3, "c")]
        with pytest.raises(SchemaMismatchError, match="expected each column once"):
            sql("INSERT INTO lake.db.cased (id, id) VALUES (1, 2)")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_default_in_values_is_null(sql, name):
    sql(f"INSERT INTO {name} VALUES (7, DEFAULT), (8, default)")
    sql(f"INSERT INTO {name} (name, id) VALUES ('DEFAULT, (', 9), (DEFAULT, 10)")
    assert rows(sql, name)[3:] == [(7, None), (8, None), (9, "DEFAULT, ("), (10, None)]


def test_default_for_a_required_column_is_refused(sql, lake):
    sql("CREATE TABLE lake.db.required (id int NOT NULL, name string)")
    with pytest.raises((ValidationError, SchemaMismatchError)):
        sql("INSERT INTO lake.db.required VALUES (DEFAULT, 'a')")
    assert lake.catalog.load_table("db.required").snapshots() == []


def test_default_is_null_in_every_form_of_a_query(sql, name):
    for query in ("SELECT 7, DEFAULT", "(VALUES (7, DEFAULT))", "SELECT 7, default FROM (SELECT 1) WHERE 1 IN (1)"):
        sql(f"INSERT OVERWRITE {name} {query}")
        assert rows(sql, name) == [(7, None)]
    sql(f"INSERT OVERWRITE {name} SELECT 7, concat('DEFAULT', f) FROM (SELECT ', DEFAULT' AS f)")
    assert rows(sql, name) == [(7, "DEFAULT, DEFAULT")]


def test_queries_have_a_with_clause_of_their_own(sql, name):
    sql(f"WITH a AS (SELECT 8 AS id) INSERT INTO {name} WITH b AS (SELECT id, 'x' FROM a) SELECT * FROM b")
    assert rows(sql, name)[3:] == [(8, "x")]


@pytest.mark.parametrize(
    ("insert", "problem"),
    [
        ("(name) BY NAME SELECT 9 AS id", "got both"),
        ("PARTITION () SELECT 9, 'x'", "expected a partition column"),
        ("PARTITION (id = 1, ID = 2) SELECT 'x'", "column 'ID' is given twice"),
        ("REPLACE WHERE SELECT 1, 'x'", "expected a query after the condition"),
    ],
)
def test_clauses_that_contradict_each_other_are_refused(sql, name, insert, problem):
    with pytest.raises(ValidationError, match=problem):
        sql(f"INSERT INTO {name} {insert}")
    assert len(rows(sql, name)) == 3


REPLACED = {
    r"`Kind` = 'it\'s ' '\\'": "b",
    "kind /* or 'a' */ <=> \"a\"": "a",
    "AT >= TIMESTAMP '2026-01-02 00:00:00' AND at < '2026-01-03'": "b",
    "at < DATE '2026-01-01' + INTERVAL 1 DAY": "a",
    "kind IN ('a', 'c') AND (kind = 'a')": "a",
}


@pytest.mark.parametrize("condition", REPLACED)
def test_replace_where_has_the_meaning_of_spark(sql, condition):
    """Texts have Spark's escapes, names match in any case, times are of the session's zone, and the query may be in parentheses."""
    sql("CREATE OR REPLACE TABLE lake.db.zoned (id int, kind string, at timestamp) PARTITIONED BY (kind, at)")
    at = "TIMESTAMP '2026-01-01 23:00:00'"
    sql(f"INSERT INTO lake.db.zoned VALUES (1, 'a', {at}), (2, :kind, {at} + INTERVAL 1 DAY)", {"kind": QUOTED})
    sql(f"INSERT INTO lake.db.zoned REPLACE WHERE {condition} (SELECT 3, 'b', NULL)")
    assert sql("SELECT id FROM lake.db.zoned ORDER BY id") == [(2 if REPLACED[condition] == "a" else 1,), (3,)]


@pytest.mark.parametrize(
    ("condition", "new", "left"),
    [
        ("kind IS NOT DISTINCT FROM 'b'", "b", ["a", None]),
        ("kind IS DISTINCT FROM 'b'", "c", ["b"]),
        ("kind <=> NULL", None, ["a", "b"]),
        ("NULL IS NOT DISTINCT FROM kind", None, ["a", "b"]),
        ("kind IS DISTINCT FROM NULL", "c", [None]),
        ("NOT (kind <=> 'a')", "c", ["a"]),
        ("kind IS DISTINCT FROM :kind", "c", [None]),
    ],
)
def test_replace_where_takes_null_safe_comparisons(sql, condition, new, left):
    sql("CREATE OR REPLACE TABLE lake.db.null_safe (id int, kind string) PARTITIONED BY (kind)")
    sql("INSERT INTO lake.db.null_safe VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    sql(f"INSERT INTO lake.db.null_safe REPLACE WHERE {condition} VALUES (9, :new)", {"kind": None, "new": new})
    found = sql("SELECT id, kind FROM lake.db.null_safe")
    assert sorted(found, key=str) == sorted(
        [*((" ab".index(kind or " ") or 3, kind) for kind in left), (9, new)], key=str
    )


@pytest.mark.parametrize(
    ("verb", "rows", "operation"),
    [
        ("OVERWRITE {} PARTITION (p = 'b')", "SELECT 1", "overwrite"),
        ("OVERWRITE {} PARTITION (p = 'b')", "SELECT 1 WHERE false", "delete"),
        ("OVERWRITE {}", "SELECT 1, 'a'", "overwrite"),
        ("OVERWRITE {}", "SELECT 1, 'a' WHERE false", "delete"),
        ("INTO {} REPLACE WHERE p = 'b'", "SELECT 1, 'b'", "overwrite"),
        ("INTO {} REPLACE WHERE p = 'b'", "SELECT 1, 'b' WHERE false", "delete"),
    ],
)
@pytest.mark.parametrize("before", [[], ["SELECT 1, 'a'"]], ids=["empty", "other partition"])
def test_overwrites_have_the_operation_of_the_java_runtime(sql, lake, verb, rows, operation, before):
    made = f"lake.db.o{next(NUMBERS)}"
    sql(f"CREATE TABLE {made} (id int, p string) PARTITIONED BY (p)")
    for query in before:
        sql(f"INSERT INTO {made} {query}")
    sql(f"INSERT {verb.format(made)} {rows}")
    assert lake.catalog.load_table(made.removeprefix("lake.")).current_snapshot().operation.value == operation


@pytest.mark.parametrize("partition", ["id = 1", "id", "p = 'a', id = 1"])
def test_partition_of_insert_names_identity_partition_columns(sql, lake, partition):
    sql("CREATE TABLE IF NOT EXISTS lake.db.by_p (id int, p string) PARTITIONED BY (p, bucket(2, id))")
    for verb in ("INTO", "OVERWRITE"):
        with pytest.raises(ValidationError, match=r"PARTITION: expected identity partition columns \(p\), got id"):
            sql(f"INSERT {verb} lake.db.by_p PARTITION ({partition}) SELECT 1, 'a'")
    assert lake.catalog.load_table("db.by_p").current_snapshot() is None


def test_insert_matches_fields_of_structs_as_columns_by_position_or_name(spark, sql, lake):
    """As Spark resolves writes to tables of every catalog: by position at every depth, or by name in any case at every depth."""
    sql("CREATE TABLE lake.db.nested (id int, a int, b int, s struct<a: int, b: int>)")
    plain = lake.tables()["db.nested"]
    values = "SELECT {} AS id, 1 AS B, 2 AS a, named_struct('B', 3, 'a', 4) AS s"
    sql(f"INSERT INTO lake.db.nested {values.format(1)}")
    spark.sql(f"INSERT INTO {plain} {values.format(2)}")
    spark.sql(values.format(3)).write.insertInto(plain)
    sql(f"INSERT INTO lake.db.nested BY NAME {values.format(4)}")
    spark.sql(f"INSERT INTO {plain} BY NAME {values.format(5)}")
    spark.sql(values.format(6)).writeTo(plain).append()
    by_position, by_name = (1, 2, (3, 4)), (2, 1, (4, 3))
    assert rows(sql, "lake.db.nested") == [
        (number, *(by_position if number <= 3 else by_name)) for number in range(1, 7)
    ]


def test_default_is_a_column_of_the_query_if_the_query_has_one(sql, name):
    source = "FROM VALUES (7, 'a') AS v(default, name)"
    for query in (
        f"SELECT default, name {source}",
        f"{source} SELECT DEFAULT, name",
        f"(SELECT default, name {source})",
    ):
        sql(f"INSERT OVERWRITE {name} {query}")
        assert rows(sql, name) == [(7, "a")]
    sql(f"{source} INSERT OVERWRITE {name} SELECT default + 1, name INSERT INTO {name} SELECT DEFAULT, NULL")
    assert rows(sql, name) == [(7, None), (8, "a")]


def test_default_is_null_after_a_from_clause_without_such_a_column(sql, name):
    source = "FROM VALUES (7, 'a') AS v(id, name)"
    sql(f"INSERT OVERWRITE {name} {source} SELECT id, DEFAULT")
    assert rows(sql, name) == [(7, None)]
    with pytest.raises(AnalysisException, match="nope"):
        sql(f"INSERT INTO {name} SELECT nope, DEFAULT {source}")


def test_columns_with_names_of_query_words_begin_a_list(sql):
    sql("CREATE OR REPLACE TABLE lake.db.words (id int, table int, values int)")
    sql("INSERT INTO lake.db.words (table, id) VALUES (3, 1)")
    sql("INSERT INTO lake.db.words (values, id) SELECT 4, 2")
    sql("INSERT INTO lake.db.words (values) VALUES (5)")
    sql("INSERT INTO lake.db.words (TABLE lake.db.words)")
    assert sql("SELECT * FROM lake.db.words WHERE id = 1") == [(1, 3, None)] * 2
    assert sql("SELECT * FROM lake.db.words WHERE id = 2") == [(2, None, 4)] * 2
    assert sql("SELECT count(*) FROM lake.db.words WHERE values = 5") == [(2,)]
