"""Random merges and updates, run in Python and as statements, leave the rows that Spark computes from plain DataFrames."""

from __future__ import annotations

import itertools
from collections import Counter

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError

from tests.property.dead_clauses import DEAD, has_dead_clause, reading_rows
from tests.property.row_level_program import SCHEMA, RandomProgram, hashable, merge_query, new_values

NUMBERS = itertools.count()
PAIR = "named_struct('x', {}, 'y', {})"


def pytest_generate_tests(metafunc):
    first = metafunc.config.getoption("--first-history")
    count = 2 if first == 0 else 12
    metafunc.parametrize("seed", range(first, first + count))


@pytest.fixture
def made(seed):
    return RandomProgram(seed)


@pytest.fixture
def tables(catalog, lake, made):
    """Two tables of the same rows, for Python and for statements."""
    mode = made.random.choice(["copy-on-write", "merge-on-read"])
    properties = {f"write.{operation}.mode": mode for operation in ("merge", "update")}
    rows = [made.rows(made.random.randrange(1, 9)) for _ in range(made.random.randrange(1, 4))]
    found = []
    for _ in range(2):
        table = catalog.create_table(f"db.random_merge{next(NUMBERS)}", SCHEMA, properties=properties)
        for part in rows:
            table.append(part)
        found.append(table)
    return found


def view(spark, name, rows):
    """Register rows, with their numbers, under a name."""
    numbered = rows.append_column("row", pa.array(range(rows.num_rows), pa.int64()))
    spark.createDataFrame(numbered).createOrReplaceTempView(name)


def of_spark(spark, query):
    return [hashable(row.values()) for row in spark.sql(query).toArrow().to_pylist()]


def rows_of(table):
    return Counter(hashable(row.values()) for row in table.refresh().scan().to_arrow().to_pylist())


def add(merge, clauses):
    for clause in clauses:
        match = {"matched": "matched", "not_matched": "not_matched", "by_source": "not_matched_by_source"}[clause.match]
        verb = getattr(merge, f"when_{match}_{clause.action}")
        verb(clause.condition) if clause.action == "delete" else verb(clause.values, clause.condition)
    return merge


def statement(table, on, clauses):
    parts = [f"MERGE INTO lake.{'.'.join(table.name())} AS target USING source ON {on}"]
    for clause in clauses:
        kind = {"matched": "MATCHED", "not_matched": "NOT MATCHED", "by_source": "NOT MATCHED BY SOURCE"}[clause.match]
        condition = "" if clause.condition is None else f" AND {clause.condition}"
        action = "DELETE"
        if clause.action == "update":
            action = f"UPDATE SET {', '.join(f'{name} = {value}' for name, value in clause.values.items())}"
        elif clause.action == "insert":
            action = f"INSERT ({', '.join(clause.values)}) VALUES ({', '.join(clause.values.values())})"
        parts.append(f"WHEN {kind}{condition} THEN {action}")
    return " ".join(parts)


def test_random_merge_leaves_the_rows_that_spark_computes(spark, tables, made):
    ours, other = tables
    source, on, clauses = made.source(), made.on(), made.clauses()
    view(spark, "target", ours.scan().to_arrow())
    view(spark, "source", source)
    rows = of_spark(spark, f"select row, {', '.join(SCHEMA.names)} from target")
    changes = of_spark(spark, merge_query(on, clauses, PAIR))
    gone = [row for row, *_ in changes if row is not None]
    before = rows_of(ours)
    of_python = clauses
    if has_dead_clause(clauses):
        with pytest.raises(ValidationError, match=DEAD):
            add(ours.merge(source, on), clauses).execute()
        assert rows_of(ours) == before
        of_python = [reading_rows(clause) for clause in clauses]
    merge = add(ours.merge(source, on), of_python)
    if not clauses or len(set(gone)) < len(gone):
        with pytest.raises(ValidationError, match=r"several source rows|no clause"):
            merge.execute()
        if clauses:
            with pytest.raises(ValidationError, match="several source rows"):
                icefloe.spark.sql(spark, statement(other, on, clauses))
        assert rows_of(ours) == rows_of(other) == before
        return
    merge.execute()
    expected = Counter(tuple(row) for number, *row in rows if number not in gone)
    expected.update(tuple(row) for number, *row in changes if number is None)
    assert rows_of(ours) == expected
    icefloe.spark.sql(spark, statement(other, on, clauses))
    assert rows_of(other) == expected


def test_random_update_leaves_the_rows_that_spark_computes(spark, tables, made):
    ours, other = tables
    view(spark, "target", ours.scan().to_arrow())
    condition, values = made.condition(["target"]), made.values(["target"])
    meets = f"coalesce({condition}, false)"
    kept = of_spark(spark, f"select {', '.join(SCHEMA.names)} from target where not {meets}")
    changed = of_spark(spark, f"select {new_values(values, PAIR)} from target where {meets}")
    assert ours.update(condition, values).rows_updated == len(changed)
    assert rows_of(ours) == Counter(kept + changed)
    name = f"lake.{'.'.join(other.name())}"
    changes = ", ".join(f"{column} = {value}" for column, value in values.items())
    icefloe.spark.sql(spark, f"UPDATE {name} AS target SET {changes} WHERE {condition}")
    assert rows_of(other) == rows_of(ours)
