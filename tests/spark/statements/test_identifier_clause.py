"""IDENTIFIER: names of tables and columns from texts and parameters."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError


def test_names_of_tables_and_columns_are_values(sql, name):
    assert sql(f"SELECT IDENTIFIER('name') FROM IDENTIFIER('{name}') WHERE IDENTIFIER('id') = 2") == [("b",)]
    assert sql("SELECT id FROM IDENTIFIER('lake.' || :t) WHERE id = :id", {"t": name[5:], "id": 1}) == [(1,)]
    assert sql("SELECT id FROM IDENTIFIER(?) WHERE id = ?", [name, 3]) == [(3,)]


def test_statements_take_names_from_values(sql, name):
    sql(f"INSERT INTO IDENTIFIER('{name}') VALUES (4, 'd')")
    sql("UPDATE IDENTIFIER(:t) SET name = :x WHERE id = 4", {"t": name, "x": "e"})
    sql(f"DELETE FROM IDENTIFIER('{name}') WHERE id < 4")
    assert sql(f"TABLE {name}") == [(4, "e")]
    assert sql(f"DESCRIBE IDENTIFIER('{name}')")[0] == ("id", "bigint", None)


def test_a_name_that_is_null_is_refused(sql, name):
    with pytest.raises(ValidationError, match="IDENTIFIER: expected a text with a name, got NULL = None"):
        sql(f"SELECT IDENTIFIER(:c) FROM {name}", {"c": None})


def test_names_of_other_tables_are_left_to_spark(sql, spark):
    spark.range(2).createOrReplaceTempView("of_spark")
    assert sql("SELECT count(*) FROM IDENTIFIER('of_' || ?)", ["spark"]) == [(2,)]
