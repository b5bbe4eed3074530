"""The bounds of a source's keys prune files of a merge's target, and no row that matches."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.schema import Schema
from icefloe.spark.dml.key_bounds import has_bounds, key_range
from icefloe.spark.session import settings
from icefloe.types import (
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)
from pyspark.sql import functions as F  # noqa: N812

ZONE = dt.timezone.utc
KEYS = {
    "int": (IntegerType(), 5, 900),
    "long": (LongType(), 5, 900),
    "date": (DateType(), dt.date(1969, 12, 31), dt.date(2026, 1, 31)),
    "string": (StringType(), "a", "z"),
    "timestamptz": (
        TimestamptzType(),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, ZONE),
        dt.datetime(2026, 3, 29, 1, 30, 0, 1, ZONE),
    ),
    "timestamp": (
        TimestampType(),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
        dt.datetime(2026, 3, 29, 2, 30, 0, 500_000),  # a time that zones with summer time leave out
    ),
    "decimal": (DecimalType(9, 2), Decimal("-1.05"), Decimal("9999999.99")),
}
FARTHEST = {
    "date": ("DATE'-4712-01-01'", "DATE'+290000-01-01'"),
    "timestamp": ("TIMESTAMP'-4712-01-01 00:00:00'", "TIMESTAMP'+290000-01-01 00:00:00'"),
    "timestamp_ntz": ("TIMESTAMP_NTZ'-4712-01-01 00:00:00'", "TIMESTAMP_NTZ'+290000-01-01 00:00:00'"),
}


@pytest.fixture(params=KEYS)
def keyed(request, new_table):
    """Return a table of two files, one for each of two keys, and the keys."""
    kind, low, high = KEYS[request.param]
    table = new_table(Schema(NestedField(1, "k", kind), NestedField(2, "n", LongType())))
    for number, key in enumerate((low, high)):
        table.append(pa.table({"k": [key], "n": [number]}, schema=table.schema().as_arrow()))
    return table, low, high


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize("matched", [0, 1])
def test_merge_reads_no_file_without_keys_of_the_source(spark, keyed, matched, zone):
    table, *keys = keyed
    [task] = table.scan(row_filter=f"n = {1 - matched}").plan_files()
    other = Path(task.file.file_path.removeprefix("file://"))
    other.rename(other.with_suffix(".away"))
    with settings(spark, {"spark.sql.session.timeZone": zone}):
        source = icefloe.spark.read(table, filter=f"n = {matched}", spark=spark).withColumn("n", F.lit(77).cast("long"))
        result = icefloe.spark.merge_into(table, source, on=["k"]).when_matched_update_all().execute()
    assert result.rows_updated == 1
    found = table.refresh().scan(row_filter="n = 77").to_arrow()
    assert found["k"].to_pylist() == [keys[matched]]


@pytest.mark.parametrize("kind", FARTHEST)
def test_keys_of_years_that_python_lacks_are_matched(spark, new_table, kind):
    target = {"date": DateType(), "timestamp": TimestamptzType(), "timestamp_ntz": TimestampType()}[kind]
    table = new_table(Schema(NestedField(1, "k", target), NestedField(2, "n", LongType())))
    low, high = FARTHEST[kind]
    icefloe.spark.write(spark.sql(f"SELECT {low} k, 1L n UNION ALL SELECT {high}, 2L"), table)
    source = spark.sql(f"SELECT {low} k, 7L n UNION ALL SELECT {high}, 8L")
    result = icefloe.spark.merge_into(table, source, on=["k"]).when_matched_update_all().execute()
    assert result.rows_updated == 2
    assert sorted(table.refresh().scan(selected_fields=("n",)).to_arrow()["n"].to_pylist()) == [7, 8]


def test_decimals_of_more_digits_are_matched(spark, new_table):
    table = new_table(Schema(NestedField(1, "k", DecimalType(9, 2)), NestedField(2, "n", LongType())))
    table.append(pa.table({"k": [Decimal("1.00")], "n": [1]}, schema=table.schema().as_arrow()))
    source = spark.sql("SELECT 1.00BD k, 7L n UNION ALL SELECT 123456789012345678901234567890.00BD, 8L")
    merge = icefloe.spark.merge_into(table, source, on=["k"]).when_matched_update({"n": "source.n"})
    assert merge.execute().rows_updated == 1


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("int", DateType()),
        ("string", LongType()),
        ("timestamp", TimestampType()),
        ("timestamp_ntz", TimestamptzType()),
        ("date", TimestampType()),
        ("decimal(9,2)", DecimalType(9, 3)),
        ("decimal(9,2)", DoubleType()),
    ],
)
def test_keys_of_other_types_restrict_nothing(kind, target):
    assert has_bounds(kind)
    assert key_range("k", target, kind, "1", "2") is None


def test_floating_point_and_boolean_keys_have_no_bounds():
    assert not any(map(has_bounds, ("float", "double", "boolean", "binary", "struct<a:int>")))
