"""Conditions on transforms prune files of tables whose specs change, and select the rows that Spark selects of plain rows."""

from __future__ import annotations

import logging
import random
import re

import icefloe.spark
import pytest
from icefloe.expressions.parser import parse
from icefloe.expressions.transform_ranges import column_condition
from icefloe.spark.session import settings
from icefloe.types import DateType

from tests.spark.statements.random_conditions import RandomConditions, arrow, evolve, schema

CONDITIONS = 40
TRANSFORMS = {
    "a": ["bucket(3, {})", "bucket(5, {})", "truncate(10, {})"],
    "i": ["truncate(10, {})", "truncate(7, {})", "bucket(3, {})"],
    "n": ["truncate(9, {})", "truncate(100, {})", "bucket(3, {})"],
    "d": ["years({})", "months({})", "days({})", "bucket(3, {})"],
    "t": ["years({})", "months({})", "days({})", "hours({})", "bucket(3, {})"],
    "z": ["years({})", "months({})", "days({})", "hours({})"],
    "s": ["truncate(1, {})", "truncate(2, {})", "bucket(3, {})"],
    "y": ["truncate(1, {})", "bucket(3, {})"],
}
ORDINALS = {
    "years": ["0", "-1", "50", "54", "-1969", "8029", "9999999"],
    "months": ["0", "-1", "600", "650", "-23628", "96359"],
    "days": ["DATE'2020-01-01'", "'1969-12-31'", "DATE'0001-01-01'", "DATE'9999-12-31'", "DATE'2024-03-10'"],
    "hours": ["438296", "0", "-1", "475114", "475122"],
    "bucket": ["0", "1", "2", "4", "-1", "1L"],
}
LITERALS = {
    "a": ["0", "-10", "10", "5", "9223372036854775800", "9223372036854775806"],
    "i": ["0", "-10", "7", "5", "2147483640", "2147483647", "-2147483648"],
    "n": ["0", "-0.09", "5.00", "4.95", "9999999.99", "-9999999.99"],
    "s": ["''", "'a'", "'ab'", "'abc'", "'\U0001f600'", "'AB'"],
    "y": ["X''", "X'61'", "X'FF'", "X'6162'"],
}
SPECS = [
    [("a", "bucket[3]"), ("d", "year")],
    [("a", "truncate[10]"), ("z", "hour")],
    [("i", "truncate[10]"), ("t", "month")],
    [("s", "truncate[1]"), ("d", "day")],
    [("n", "truncate[9]"), ("t", "day")],
    [("y", "bucket[3]"), ("z", "year")],
    [("y", "truncate[1]"), ("s", "bucket[3]")],
    [("i", "identity"), ("d", "month")],
]


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        first = metafunc.config.getoption("--first-history")
        metafunc.parametrize("seed", range(first, first + (2 if first == 0 else 12)))


def condition(draw: random.Random, depth: int = 1) -> str:
    if depth > 0 and draw.random() < 0.4:
        return f"({condition(draw, depth - 1)}) {draw.choice(['AND', 'OR'])} ({condition(draw, depth - 1)})"
    name = draw.choice(list(TRANSFORMS))
    call = draw.choice(TRANSFORMS[name])
    values = ORDINALS.get(call.partition("(")[0]) or LITERALS[name]
    one, two = draw.choices(values, k=2)
    term = f"lake.system.{call.format(name)}"
    forms = [f"{term} {draw.choice(['=', '<>', '<', '<=', '>', '>=', '<=>'])} {one}"] * 4
    forms += [f"{one} <= {term}", f"{term} IN ({one}, {two})", f"{term} NOT IN ({one}, {two})"]
    forms += [f"{term} BETWEEN {one} AND {two}", f"{term} IS NULL", f"{term} IS NOT NULL", f"NOT ({term} = {one})"]
    return draw.choice(forms)


def replace_spec(table, new):
    with table.update_spec() as change:
        for one in table.spec().fields:
            if str(one.transform) != "void":
                change.remove_field(one.name)
        for number, (column, transform) in enumerate(new):
            change.add_field(column, transform, f"p{len(table.specs())}_{number}")


def test_random_conditions_on_transforms_lose_no_row(spark, lake, catalog, seed):
    made = RandomConditions(f"transforms {seed}")
    draw, name = made.random, f"transforms{seed}"
    table = catalog.create_table(f"db.{name}", schema(), properties={"format-version": str(1 + seed % 2)})
    for number in range(5):
        table.append(arrow(made.rows(10 * number, 10)))
        replace_spec(table, draw.choice(SPECS))
        if number == 2:
            evolve(table)
    texts = [condition(draw) for _ in range(CONDITIONS)]
    with settings(spark, {"spark.sql.ansi.enabled": "false"}):
        plain = spark.createDataFrame(table.scan().to_arrow(), icefloe.spark.to_spark_schema(table.schema()))
        plain.coalesce(1).createOrReplaceTempView(f"{name}_rows")
        columns = [f"coalesce({text}, false)" for text in texts]
        marks = icefloe.spark.sql(spark, f"SELECT id, {', '.join(columns)} FROM {name}_rows").collect()
        for number, text in enumerate(texts):
            expected = sorted(row[0] for row in marks if row[1 + number])
            found = icefloe.spark.sql(spark, f"SELECT id FROM lake.db.{name} WHERE {text}").collect()
            assert sorted(row[0] for row in found) == expected, text
        delete = draw.randrange(CONDITIONS)
        icefloe.spark.sql(spark, f"DELETE FROM lake.db.{name} WHERE {texts[delete]}")
        kept = table.refresh().scan().to_arrow().column("id").to_pylist()
        assert sorted(kept) == sorted(row[0] for row in marks if not row[1 + delete]), texts[delete]


@pytest.fixture
def planned(caplog):
    """Return a function that runs statements and returns the numbers of data files that scans planned, and their readers."""
    caplog.set_level(logging.INFO, "icefloe.spark")

    def run(sql, text):
        caplog.clear()
        rows = sql(text)
        return rows, [
            (int(found[1]), found[2])
            for found in (re.search(r"(\d+) data files and .* by (Spark|icefloe)", one) for one in caplog.messages)
            if found is not None
        ]

    return run


@pytest.fixture
def buckets(sql, request):
    """The name of a table of the numbers 0 to 39 in 4 files, one for each bucket."""
    name = f"lake.db.{request.node.name[:40].replace('[', '_').replace(']', '')}"
    sql(f"CREATE TABLE {name} (id bigint, n string) USING icefloe PARTITIONED BY (bucket(4, id))")
    sql(f"INSERT INTO {name} SELECT id, 'a' FROM RANGE(0, 40, 1, 1)")
    return name


def test_query_plans_the_files_of_a_bucket_for_sparks_reader(sql, planned, buckets):
    rows, plans = planned(sql, f"SELECT count(n) FROM {buckets} WHERE lake.system.bucket(4, id) = 3")
    assert (rows, plans) == ([(11,)], [(1, "Spark")])


def test_functions_of_the_current_catalog_prune(sql, planned, buckets):
    sql("USE lake.db")
    try:
        rows, plans = planned(sql, f"SELECT count(n) FROM {buckets} WHERE system.bucket(4, id) IN (1, 3)")
    finally:
        sql("USE spark_catalog")
    assert plans == [(2, "Spark")]
    assert rows == sql(f"SELECT count(n) FROM {buckets} WHERE pmod(lake.system.bucket(4, id), 2) = 1")


def test_delete_of_a_bucket_drops_its_file_without_reading(sql, catalog, buckets):
    assert sql(f"DELETE FROM {buckets} WHERE lake.system.bucket(4, id) = 3") == [(0, 11, 0)]
    summary = catalog.load_table(buckets.removeprefix("lake.")).current_snapshot().summary
    assert (summary["deleted-data-files"], summary.get("added-data-files")) == ("1", None)


def test_update_plans_the_files_of_a_bucket(sql, planned, buckets):
    condition = "lake.system.bucket(4, id) = 3 AND id % 2 = 0"
    counted, plans = planned(sql, f"UPDATE {buckets} SET n = 'b' WHERE {condition}")
    assert plans[0] == (1, "Spark")
    assert sql(f"SELECT count(*) FROM {buckets} WHERE n = 'b'") == [counted[0][:1]]


def test_merge_plans_the_files_of_a_bucket(sql, planned, buckets):
    source = "(SELECT id, 'm' AS n FROM RANGE(0, 40))"
    text = f"MERGE INTO {buckets} t USING {source} s ON t.id = s.id AND lake.system.bucket(4, t.id) = 3 WHEN MATCHED THEN UPDATE SET n = s.n"
    counted, plans = planned(sql, text)
    assert (counted, plans[0]) == ([(11, 0, 0)], (1, "Spark"))
    assert sql(f"SELECT count(*) FROM {buckets} WHERE n = 'm'") == [(11,)]


def test_merge_by_source_keeps_the_files_outside_of_a_bucket(sql, buckets):
    text = f"MERGE INTO {buckets} t USING (SELECT 1L AS id) s ON t.id = s.id AND lake.system.bucket(4, t.id) = 9"
    assert sql(f"{text} WHEN NOT MATCHED BY SOURCE THEN DELETE") == [(0, 40, 0)]


def test_years_prune_manifests_of_days(sql, planned, catalog):
    sql("CREATE TABLE lake.db.of_days (d date) USING icefloe PARTITIONED BY (days(d))")
    for year in (2022, 2023, 2024):
        sql(f"INSERT INTO lake.db.of_days VALUES (DATE '{year}-01-01'), (DATE '{year}-12-31')")
    for condition, count in (("years(d) = 53", 2), ("months(d) BETWEEN 636 AND 647", 2), ("days(d) = '2023-01-01'", 1)):
        rows, plans = planned(sql, f"SELECT d FROM lake.db.of_days WHERE lake.system.{condition}")
        assert (len(rows), plans) == (count, [(count, "Spark")])
    table = catalog.load_table("db.of_days")
    of_column = column_condition(parse("years(d) = 2023"), DateType())
    assert table.scan(of_column).plan().counters["data_manifests_skipped"] == 2
