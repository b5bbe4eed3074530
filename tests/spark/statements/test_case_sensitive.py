"""Names of columns that differ in case alone, in sessions that distinguish case and in sessions that do not."""

from __future__ import annotations

import pytest
from icefloe.exceptions import IcebergError
from pyspark.errors import AnalysisException

ROWS = [(1, "a"), (2, "b"), (3, None)]
STATEMENTS = {
    "UPDATE {} SET NAME = 'x'": [(1, "x"), (2, "x"), (3, "x")],
    "DELETE FROM {} WHERE ID = 1": [(2, "b"), (3, None)],
    "INSERT INTO {} BY NAME SELECT 3L AS ID, 'z' AS name": [*ROWS, (3, "z")],
    "INSERT INTO {} (ID, name) VALUES (1L, 'x')": [*ROWS, (1, "x")],
    "MERGE INTO {} t USING (SELECT 1L ID, 'm' NAME) s ON t.id = s.ID WHEN MATCHED THEN UPDATE SET *": [
        (1, "m"),
        *ROWS[1:],
    ],
    "MERGE INTO {} t USING (SELECT 1L ID, 'm' NAME) s ON t.ID = s.ID WHEN MATCHED THEN DELETE": ROWS[1:],
    "MERGE INTO {} t USING (SELECT 1L id, 'm' n) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET NAME = s.n": [
        (1, "m"),
        *ROWS[1:],
    ],
    "MERGE INTO {} t USING (SELECT 9L id, 'm' n) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (ID) VALUES (s.id)": [
        *ROWS,
        (9, None),
    ],
    "MERGE INTO {} t USING (SELECT 9L id, 'm' n) s ON T.id = s.id WHEN MATCHED THEN DELETE": ROWS,
    "DESCRIBE {} ID": ROWS,
}
"""Statements on a table of `ROWS`, with its rows afterwards in a session that ignores case."""


@pytest.fixture
def exact(spark):
    """A function that makes the session distinguish case; the session ignores it again after the test."""
    yield lambda: spark.conf.set("spark.sql.caseSensitive", "true")
    spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_names_of_another_case_are_refused_where_the_session_distinguishes_case(sql, name, exact, statement):
    before = sql(f"SELECT * FROM {name} ORDER BY id")
    exact()
    with pytest.raises((IcebergError, AnalysisException)):
        sql(statement.format(name))
    assert sql(f"SELECT * FROM {name} ORDER BY id") == before


@pytest.mark.parametrize("statement", STATEMENTS)
def test_names_of_another_case_are_accepted_elsewhere(sql, name, statement):
    sql(statement.format(name))
    assert sorted(sql(f"SELECT id, name FROM {name}"), key=str) == sorted(STATEMENTS[statement], key=str)


def test_columns_that_differ_in_case_alone_are_changed_by_their_exact_names(sql, exact):
    exact()
    made = "lake.db.two_cases"
    sql(f"CREATE TABLE {made} (id int, ID int, p string) USING icefloe PARTITIONED BY (p)")
    sql(f"INSERT INTO {made} BY NAME SELECT 1 AS ID, 2 AS id, 'a' AS p")
    sql(f"INSERT INTO {made} (ID, id, p) VALUES (3, 4, 'a')")
    sql(f"UPDATE {made} SET ID = id * 10 WHERE ID = 3")
    sql(
        f"MERGE INTO {made} t USING (SELECT 2 id, 7 ID, 'm' p) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.ID = s.ID"
    )
    sql(f"MERGE INTO {made} t USING (SELECT 5 ID, 6 id, 'm' p) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    sql(f"INSERT INTO {made} PARTITION (p = 'b') SELECT 8, 9")
    assert sql(f"SELECT id, ID, p FROM {made} ORDER BY id") == [(2, 7, "a"), (4, 40, "a"), (6, 5, "m"), (8, 9, "b")]
