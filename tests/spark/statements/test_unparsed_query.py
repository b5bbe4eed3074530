"""Queries whose syntax only Spark has."""

from __future__ import annotations

import pytest
from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.statements.unparsed_query import named_tables
from pyspark.errors import AnalysisException


def test_pipe_operators_of_spark_alone(sql, name):
    assert sql(f"TABLE {name} |> EXTEND id + 1 AS j |> DROP name |> WHERE j = 3") == [(2, 3)]
    assert sql(f"FROM {name} |> UNION ALL SELECT x.* FROM {name} AS x |> WHERE id = 1") == [(1, "a"), (1, "a")]
    table = name.rsplit(".", maxsplit=1)[-1]
    assert sql(f"FROM {name} |> WHERE {table}.id = 2 |> DROP id") == [("b",)]


def test_versions_and_metadata_tables_by_name(sql, name):
    sql(f"ALTER TABLE {name} CREATE TAG kept")
    sql(f"DELETE FROM {name} WHERE id = 1")
    assert sql(f"FROM {name}.tag_kept |> DROP name |> WHERE id < 3 |> ORDER BY id") == [(1,), (2,)]
    assert sql(f"FROM {name}.snapshots |> DROP summary |> AGGREGATE count(*)") == [(2,)]


def test_a_query_that_spark_does_not_parse_is_refused(sql, name):
    for text in (f"FROM {name} |> DROP name |> NOPE id", f"FROM {name} VERSION AS OF 'main' |> DROP name"):
        with pytest.raises(ValidationError, match="SQL: the statement does not parse"):
            sql(text)
    with pytest.raises(AnalysisException, match="nope"):
        sql(f"FROM {name} |> DROP name |> SELECT nope")


def test_named_tables_are_found_with_their_aliases(lake, sql, name):
    from icefloe.spark.statements.references import References

    text = f"FROM {name} AS a JOIN {name} b JOIN {name} |> WHERE lake.f(1) = 'lake.db.x'"
    assert [one.has_alias for one in named_tables(References({"lake": lake}), text)] == [True, True, False]


@pytest.fixture
def relative(sql, name):
    """The name of a table that is relative to the current namespace."""
    sql("USE lake.db")
    yield name.rsplit(".", maxsplit=1)[-1]
    sql("USE spark_catalog.default")


def test_relative_names_stand_wherever_a_query_reads_tables(sql, relative):
    table = relative
    assert sql(f"FROM VALUES (5) AS v(n), {table} x |> SET n = n + id |> WHERE n = 7") == [(7, 2, "b")]
    assert (
        sql(f"FROM {table} AS sort, {table} AS y |> SELECT sort.id AS n |> SET n = n + 1 |> WHERE n = 2") == [(2,)] * 3
    )
    assert sql(f"FROM (({table} AS a) JOIN {table} AS b USING (id)) |> AGGREGATE count(*) AS n |> SET n = n + 1") == [
        (4,)
    ]
    assert sql(f"(TABLE {table}) |> DROP name |> WHERE id = 1") == [(1,)]
    assert sql(f"FROM {table} s, LATERAL (SELECT s.id + 1 AS n) |> SET n = n + 1 |> WHERE n = 3") == [(1, "a", 3)]
    assert sql(
        f"FROM {table} |> SET name = trim(BOTH 'a' FROM name) |> WHERE id = extract(DAY FROM DATE '2024-01-01')"
    ) == [(1, "")]


def test_names_of_common_table_expressions_match_in_any_case_where_they_can_be_read(sql, relative):
    table = relative
    one = f"WITH {table.upper()} AS (SELECT 9 AS id)"
    assert sql(f"{one} FROM {table} |> SET id = id + 1") == [(10,)]
    assert sql(f"WITH {table} (id) AS (SELECT max(id) + 5 FROM {table}) FROM {table} |> SET id = id + 1") == [(9,)]
    assert sql(f"FROM ({one} SELECT id AS n FROM {table}) x JOIN {table} |> DROP name |> WHERE id = 1") == [(9, 1)]


def test_an_unknown_relative_name_is_no_table_of_spark(spark, sql, relative):
    spark.sql("CREATE TABLE IF NOT EXISTS only_spark USING parquet AS SELECT 1 AS id")
    try:
        with pytest.raises(
            NoSuchTableError, match=r"only_spark: no table of lake .*such as spark_catalog\.default\.only_spark"
        ):
            sql("FROM only_spark |> SET id = id + 1")
        assert sql("FROM spark_catalog.default.only_spark |> SET id = id + 1") == [(2,)]
    finally:
        spark.sql("DROP TABLE only_spark")
