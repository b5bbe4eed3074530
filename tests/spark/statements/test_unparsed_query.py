"""Queries whose syntax only Spark has."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError
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
