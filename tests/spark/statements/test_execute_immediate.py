"""Statements and names that another statement computes, and variables of the session."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError


@pytest.fixture
def variables(spark):
    spark.sql("DECLARE OR REPLACE VARIABLE n BIGINT")
    spark.sql("DECLARE OR REPLACE VARIABLE q STRING")
    yield
    spark.sql("DROP TEMPORARY VARIABLE n")
    spark.sql("DROP TEMPORARY VARIABLE q")


def test_execute_immediate_runs_queries_and_changes_with_parameters(sql, name):
    assert sql(f"EXECUTE IMMEDIATE 'SELECT id FROM {name} WHERE id = ? OR id = ? ORDER BY id' USING 1, 1 + 1") == [
        (1,),
        (2,),
    ]
    assert sql(f"EXECUTE IMMEDIATE 'SELECT id FROM {name} WHERE id = :a' USING (3 AS a)") == [(3,)]
    assert sql(f"EXECUTE IMMEDIATE 'UPDATE {name} SET name = :b WHERE id = :a' USING 3 AS a, 'c' AS b") == [(1, 0, 0)]
    assert sql(f"SELECT name FROM {name} WHERE id = 3") == [("c",)]
    with pytest.raises(ValidationError, match="expected a name for each parameter or for none"):
        sql(f"EXECUTE IMMEDIATE 'SELECT id FROM {name} WHERE id = :a' USING 3 AS a, 4")


def test_execute_immediate_takes_its_text_from_a_variable(sql, spark, name, variables):
    spark.sql(f"SET VAR q = 'SELECT count(*) FROM {name}'")
    assert sql("EXECUTE IMMEDIATE q") == [(3,)]
    assert sql("EXECUTE IMMEDIATE 'SELECT 1'") == [(1,)]


def test_into_assigns_the_only_row(sql, name, variables):
    sql(f"EXECUTE IMMEDIATE 'SELECT id, name FROM {name} WHERE id = ?' INTO n, q USING 2")
    assert sql("SELECT n, q") == [(2, "b")]
    sql(f"EXECUTE IMMEDIATE 'SELECT id FROM {name} WHERE id = 1000' INTO n")
    assert sql("SELECT n") == [(None,)]
    with pytest.raises(Exception, match="ROW_SUBQUERY_TOO_MANY_ROWS"):
        sql(f"EXECUTE IMMEDIATE 'SELECT id FROM {name}' INTO n")


def test_set_variable_reads_attached_tables(sql, name, variables):
    sql(f"SET VAR n = (SELECT count(*) FROM {name})")
    assert sql("SELECT n") == [(3,)]
    sql(f"SET VARIABLE (n, q) = (SELECT id, name FROM {name} WHERE id = :id)", {"id": 2})
    assert sql("SELECT n, q") == [(2, "b")]
    sql(f"SET VAR n = 1 + (SELECT max(id) FROM {name}), q = 'x'")
    assert sql("SELECT n, q") == [(4, "x")]
    with pytest.raises(ValidationError, match="expected a value"):
        sql(f"SET VAR n = (SELECT max(id) FROM {name}), q =")
