"""Random programs of INSERT, UPDATE, DELETE and MERGE leave the same rows as in DuckDB on a plain table."""

from __future__ import annotations

import itertools

import duckdb
import icefloe.spark

from tests.spark.statements.random_statements import RandomStatements, ordered

NUMBERS = itertools.count()


def pytest_generate_tests(metafunc):
    first = metafunc.config.getoption("--first-history")
    count = 2 if first == 0 else 12
    metafunc.parametrize("seed", range(first, first + count))


def test_random_statements_leave_the_rows_of_duckdb(spark, lake, seed):
    made = RandomStatements(seed)
    name = f"lake.db.random{next(NUMBERS)}"
    modes = made.random.choice(["copy-on-write", "merge-on-read"])
    properties = ", ".join(f"'write.{verb}.mode' = '{modes}'" for verb in ("delete", "update", "merge"))
    parted = made.random.choice(["", "PARTITIONED BY (bucket(2, id))", "PARTITIONED BY (truncate(1, s))"])
    icefloe.spark.sql(
        spark, f"CREATE TABLE {name} (id bigint, n bigint, s string) {parted} TBLPROPERTIES ({properties})"
    )
    plain = duckdb.connect()
    plain.execute("CREATE TABLE plain (id bigint, n bigint, s varchar)")
    program = [f"INSERT INTO {{t}} VALUES {made.rows(10)}", *[made.statement() for _ in range(5)]]
    for statement in program:
        plain.execute(statement.format(t="plain"))
        icefloe.spark.sql(spark, statement.format(t=name))
        where = made.condition(["t"])
        expected = plain.execute(f"SELECT * FROM plain AS t WHERE {where}").fetchall()
        found = icefloe.spark.sql(spark, f"SELECT * FROM {name} AS t WHERE {where}").collect()
        assert ordered(found) == ordered(expected), (statement, where)
    expected = plain.execute("SELECT * FROM plain").fetchall()
    assert ordered(icefloe.spark.sql(spark, f"SELECT * FROM {name}").collect()) == ordered(expected), program
