"""Random conditions of Spark SQL select the rows that they select of plain rows in Spark."""

from __future__ import annotations

import functools

import icefloe.spark
from icefloe.spark.reader.native import FIELD_ID_READ
from icefloe.spark.session import settings
from pyspark.sql import functions as F  # noqa: N812

from tests.spark.statements.random_conditions import RandomConditions, arrow, evolve, schema

CONDITIONS, DELETES = 16, 1
SPECS = [
    [],
    [("a", "bucket[3]")],
    [("i", "truncate[10]"), ("d", "year")],
    [("z", "hour"), ("o", "identity")],
    [("s", "truncate[1]")],
    [("n", "truncate[9]"), ("t", "day")],
    [("f", "identity"), ("y", "truncate[1]")],
    [("y", "bucket[2]"), ("d", "month")],
    [("x", "identity"), ("n", "bucket[2]")],
    [("i", "identity"), ("b", "truncate[7]")],
]
SMALL = {"write.parquet.row-group-size-bytes": "400", "write.parquet.page-row-limit": "3"}


def pytest_generate_tests(metafunc):
    first = metafunc.config.getoption("--first-history")
    metafunc.parametrize("seed", range(first, first + (1 if first == 0 else 12)))


def test_random_conditions_select_the_rows_of_plain_spark(spark, lake, catalog, seed):
    made = RandomConditions(f"conditions {seed}")
    name = f"lake.db.conditions{seed}"
    table = catalog.create_table(f"db.conditions{seed}", schema(), properties=SMALL)
    with table.update_spec() as change:
        for column, transform in made.random.choice(SPECS):
            change.add_field(column, transform, f"{column}_part")
    for number in range(4):
        table.append(arrow(made.rows(10 * number, 10)))
        if number == 1:
            evolve(table)
    # Non-ANSI casts of literals select rows where ANSI casts fail.
    with settings(spark, {"spark.sql.ansi.enabled": "false", FIELD_ID_READ: "true"}):
        rows = table.scan().to_arrow()
        plain = spark.createDataFrame(rows, icefloe.spark.to_spark_schema(table.schema())).coalesce(1)
        conditions = [made.condition() for _ in range(CONDITIONS)]
        expected = selected([plain.where(one) for one in conditions])
        assert icefloe.spark.explain_read(table, spark=spark).native
        frame = icefloe.spark.read(table, spark=spark)
        check(conditions, expected, selected([frame.where(one) for one in conditions]))
        query = f"SELECT id FROM {name} WHERE "
        check(conditions, expected, selected([icefloe.spark.sql(spark, query + one) for one in conditions]))
        counts = functools.reduce(
            lambda one, other: one.unionAll(other),
            [icefloe.spark.sql(spark, f"SELECT count(*) FROM {name} WHERE {one}") for one in conditions],
        )
        check(conditions, [len(ids) for ids in expected], [row[0] for row in counts.collect()])
        for number in made.random.sample(range(CONDITIONS), DELETES):
            branch = f"b{number}"
            table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, branch).commit()
            icefloe.spark.sql(spark, f"DELETE FROM {name}.branch_{branch} WHERE {conditions[number]}")
            kept = table.refresh().scan().use_ref(branch).to_arrow().column("id").to_pylist()
            assert sorted(kept) == sorted(set(range(40)) - set(expected[number])), conditions[number]


def selected(frames):
    """Return the ids of the rows of each frame, by one job."""
    marked = [frame.select(F.lit(number), "id") for number, frame in enumerate(frames)]
    found = [[] for _ in frames]
    for number, row_id in functools.reduce(lambda one, other: one.union(other), marked).collect():
        found[number].append(row_id)
    return [sorted(ids) for ids in found]


def check(conditions, expected, found):
    wrong = [(text, *both) for text, *both in zip(conditions, expected, found, strict=True) if both[0] != both[1]]
    assert not wrong
