"""The functions of an attached catalog in queries and changes; the values are the Java runtime's."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import icefloe
import icefloe.spark
import pytest
from icefloe.exceptions import ValidationError
from pyspark.errors import AnalysisException

COLUMNS = "id bigint, n string, d date, ts timestamp, tn timestamp_ntz, c decimal(9, 2), b binary, i int"
TIME = "'2017-11-16 22:31:08'"
ROW = f"34, 'iceberg', DATE '2017-11-16', TIMESTAMP {TIME[:-1]}+00:00', TIMESTAMP_NTZ {TIME}, 14.20, X'000102', 34"
DAY = date(2017, 11, 16)


@pytest.fixture(scope="module")
def typed(spark, lake):
    """A table with a row of values, and a row of nulls."""
    for text in (
        f"CREATE TABLE lake.db.typed ({COLUMNS})",
        f"INSERT INTO lake.db.typed VALUES ({ROW}), ({', '.join(['NULL'] * 8)})",
    ):
        icefloe.spark.sql(spark, text)
    return "lake.db.typed"


@pytest.fixture
def values(sql, typed):
    """A function that returns the values of functions of the catalog for the row of values; they are null for the row of nulls."""

    def run(*calls):
        listed = ", ".join(f"lake.system.{call}" for call in calls)
        assert sql(f"SELECT {listed} FROM {typed} WHERE id IS NULL") == [(None,) * len(calls)]
        return sql(f"SELECT {listed} FROM {typed} WHERE id = 34")[0]

    return run


def test_bucket_has_the_values_of_the_java_runtime(values, sql):
    names = ("id", "n", "d", "ts", "tn", "c", "b", "i", "cast(i AS smallint)")
    assert values(*(f"bucket(16, {name})" for name in names)) == (3, 9, 10, 7, 7, 3, 7, 3, 3)
    assert values("bucket(i, id)", "bucket(CAST(NULL AS INT), id)", "bucket(-4, i)") == (33, None, 3)
    assert sql("SELECT lake.system.bucket(7, 9999999999999999999999999999999999999.9BD)") == [(1,)]
    assert sql("SELECT lake.system.bucket(5, lake.system.truncate(2, 'abcdef'))") == [(3,)]


def test_truncate_has_the_values_and_types_of_the_java_runtime(values, spark, sql, typed):
    calls = ("truncate(10, id)", "truncate(3S, n)", "truncate(10, c)", "truncate(2, b)", "truncate(10, i)")
    assert values(*calls) == (30, "ice", Decimal("14.20"), b"\x00\x01", 30)
    listed = ", ".join(f"lake.system.{call}" for call in calls)
    kinds = icefloe.spark.sql(spark, f"SELECT {listed} FROM {typed}").schema
    assert [one.dataType.simpleString() for one in kinds] == ["bigint", "string", "decimal(9,2)", "binary", "int"]
    ints = "(10, -1), (10, -1L), (10, 1Y), (2147483647, -2147483648), (10, -9223372036854775808L), (10, CAST(-128 AS TINYINT))"
    calls = ", ".join(f"lake.system.truncate{one}" for one in ints.replace("), ", "),;").split(",;"))
    assert sql(f"SELECT {calls}") == [(-10, -10, 0, 2, 9223372036854775806, 126)]
    texts = "lake.system.truncate(3, 'a😀bc'), lake.system.truncate(-1, 'abc'), lake.system.truncate(3, CAST('abcd' AS CHAR(4)))"
    assert sql(f"SELECT {texts}") == [("a😀b", "", "abc")]
    decimals = "lake.system.truncate(10, -0.05BD), lake.system.truncate(2, 1.5BD), lake.system.truncate(2, CAST(3.5 AS DECIMAL(38, 1)))"
    assert sql(f"SELECT {decimals}") == [(Decimal("-0.10"), Decimal("1.4"), Decimal("3.4"))]


def test_parameters_of_functions_have_their_own_values_and_types(spark, sql, typed):
    query = f"SELECT id FROM {typed} WHERE n = ? AND lake.system.bucket(16, ?) = ? AND lake.system.truncate(?, n) = ?"
    assert sql(query, ["iceberg", 34, 3, 3, "ice"]) == [(34,)]
    assert sql(query, ["iceberg", 34, 4, 3, "ice"]) == []
    # The expression of a value that calls functions has the number of buckets twice.
    assert sql("SELECT lake.system.bucket(?, abs(?)) = ?", [16, -34, 3]) == [(True,)]
    frame = icefloe.spark.sql(spark, "SELECT lake.system.bucket(?, ?), ? + 1 FROM lake.db.typed", [16, 34, 5])
    assert frame.columns == ["lake.system.bucket(?, ?)", "(5 + 1)"]


def test_times_are_those_of_utc(values, sql):
    assert values(*(f"{f}({c})" for f in ("years", "months", "days") for c in ("d", "ts", "tn"))) == (
        *(47, 47, 47),
        *(574, 574, 574),
        *(DAY, DAY, DAY),
    )
    assert values("hours(ts)", "hours(tn)") == (419686, 419686)
    before = "TIMESTAMP '1969-12-31 23:59:59+00:00'"
    assert sql(f"SELECT lake.system.days({before}), lake.system.hours({before})") == [(date(1969, 12, 31), -1)]


def test_functions_are_parts_of_queries(spark, sql, typed):
    frame = icefloe.spark.sql(
        spark, f"SELECT lake.system.bucket(16, id), 1 + lake.system.bucket(16, id) AS j FROM {typed}"
    )
    assert frame.columns == ["lake.system.bucket(16, id)", "j"]
    assert sql(
        f"SELECT id FROM {typed} WHERE LAKE.SYSTEM.Bucket(16, n) = 9 AND lake.system.truncate(3, n) = 'ice'"
    ) == [(34,)]
    grouped = f"SELECT lake.system.days(ts) AS day, count(*) FROM {typed} GROUP BY lake.system.days(ts) HAVING count(*) = 1 ORDER BY day DESC"
    assert sql(grouped) == [(DAY, 1), (None, 1)]
    assert sql(f"SELECT lake.system.truncate(10, max(id)) FROM (SELECT id + 7 AS id FROM {typed})") == [(40,)]
    correlated = (
        f"SELECT (SELECT max(lake.system.truncate(r.id + 9, t.n)) FROM range(0, 1) r) FROM {typed} t WHERE t.id = 34"
    )
    with pytest.raises(
        ValidationError, match=r"lake.system.truncate: expected a number of type tinyint, .* got bigint"
    ):
        sql(correlated)
    exists = f"SELECT id FROM {typed} t WHERE EXISTS (SELECT 1 FROM range(5) r WHERE lake.system.truncate(4, concat(t.n, r.id)) = 'iceb')"
    assert sql(exists) == [(34,)]
    renamed = f"WITH w AS (SELECT lake.system.truncate(2, n) AS id FROM {typed}) SELECT 'x' || id AS id FROM w"
    assert sql(f"{renamed} ORDER BY lake.system.truncate(2, id) DESC") == [("xic",), (None,)]
    # A random value is computed once.
    random = "SELECT lake.system.truncate(10, cast(rand() * 1000 AS bigint)) % 10 AS digit FROM range(100)"
    assert sql(f"SELECT DISTINCT digit FROM ({random})") == [(0,)]
    assert sql("SELECT lake.system.iceberg_version()") == [(f"icefloe {icefloe.__version__}",)]
    assert "hash" in sql(f"EXPLAIN SELECT lake.system.bucket(16, id) FROM {typed}")[0][0]
    assert sql(f"FROM {typed} |> EXTEND lake.system.bucket(16, id) AS p |> WHERE p = 3 |> DROP b |> SELECT p") == [(3,)]


def test_functions_are_parts_of_changes(sql):
    sql("CREATE TABLE lake.db.by_functions (id bigint, name string, p int)")
    table = "lake.db.by_functions"
    rows = "(1L, 'ab'), (34L, 'bc'), (35L, 'bd'), (NULL, NULL)"
    sql(f"INSERT INTO {table} SELECT id, name, lake.system.bucket(16, id) FROM VALUES {rows} AS v(id, name)")
    assert sql(f"SELECT p FROM {table} WHERE id = 34") == [(3,)]
    sql(f"UPDATE {table} SET p = lake.system.bucket(8, name) WHERE lake.system.truncate(10, id) = 30")
    assert sql(f"SELECT count(*) FROM {table} WHERE p = lake.system.bucket(8, name) AND id >= 34") == [(2,)]
    assert sql(f"DELETE FROM {table} WHERE lake.system.bucket(16, name) = lake.system.bucket(16, 'ab')") == [(0, 1, 0)]
    source = "(SELECT 34L AS id, 'b' AS start, 'new' AS name)"
    on = "lake.system.bucket(16, t.id) = lake.system.bucket(16, s.id) AND lake.system.truncate(1, t.name) = s.start"
    sql(
        f"MERGE INTO {table} t USING {source} s ON {on} "
        "WHEN MATCHED AND lake.system.truncate(10, t.id) = 30 THEN UPDATE SET p = lake.system.bucket(4, s.name), name = s.name"
    )
    assert sql(f"SELECT id, name, p = lake.system.bucket(4, 'new') FROM {table} WHERE name = 'new'") == [
        (34, "new", True)
    ]
    by_udf = "lake.system.bucket(16, concat(t.name, s.start)) = lake.system.bucket(16, concat('new', 'b'))"
    sql(
        f"MERGE INTO {table} t USING {source} s ON {by_udf} AND t.name = 'new' WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, lake.system.bucket(2, s.name))"
    )
    assert sorted(sql(f"SELECT id FROM {table} WHERE id > 0")) == [(35,)]


def test_functions_of_the_current_catalog(sql):
    sql("USE lake.db")
    try:
        assert sql("SELECT system.bucket(16, 34L) AS p, system.truncate(1, 'ab') AS s") == [(3, "a")]
    finally:
        sql("USE spark_catalog.default")
    with pytest.raises(AnalysisException):
        sql("SELECT system.bucket(16, 34L) AS p")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("bucket(16)", "lake.system.bucket: expected numBuckets and value, got 16"),
        ("days(DATE '2020-01-01', 1)", "lake.system.days: expected value, got DATE '2020-01-01', 1"),
        ("iceberg_version(1)", "lake.system.iceberg_version: expected no argument, got 1"),
        ("bucket(0, 1)", "lake.system.bucket: expected a number from 1 to 2147483647 first, got 0"),
        ("bucket(4L, 1)", "lake.system.bucket: expected a number of type tinyint, smallint or int first, got bigint"),
        ("bucket(4, 1.5D)", "lake.system.bucket: expected a value of type tinyint, .* got double"),
        ("bucket(4, NULL)", "lake.system.bucket: expected a value of type tinyint, .* got void"),
        ("truncate(4, DATE '2020-01-01')", "lake.system.truncate: expected a value of type tinyint, .* got date"),
        ("hours(DATE '2020-01-01')", "lake.system.hours: expected a value of type timestamp, got date"),
        ("years(1)", "lake.system.years: expected a value of type date or timestamp, got int"),
        ("year(DATE '2020-01-01')", "lake.system.year: expected one of bucket, days, .* got year"),
    ],
)
def test_a_call_that_the_java_runtime_refuses_is_refused(sql, call, message):
    with pytest.raises(ValidationError, match=message):
        sql(f"SELECT lake.system.{call}")
