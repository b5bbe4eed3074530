"""Conditions of procedures: names in any case, and times of the session's zone."""

from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ResolveError
from icefloe.spark.maintenance.where import where, zone_of

START = datetime(2026, 7, 1, tzinfo=timezone.utc)
ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        columns = pa.schema([("At", pa.timestamp("us", "UTC")), ("local", pa.timestamp("us")), ("day", pa.date32())])
        made = catalog.create_table("db.timed", columns)
        times = [START + timedelta(hours=6 * number) for number in range(12)]
        plain = [time.replace(tzinfo=None) for time in times]
        made.append(pa.table({"At": times, "local": plain, "day": [time.date() for time in times]}, columns))
        yield made


@pytest.fixture
def zone(spark):
    before = spark.conf.get(ZONE)
    yield lambda name: spark.conf.set(ZONE, name)
    spark.conf.set(ZONE, before)


CONDITIONS = [
    "At >= '2026-07-01 18:00:00'",
    "at < '2026-07-02'",
    "at = '2026-07-02T07:00:00+01:00' or AT > '2026-07-03T06:00:00Z'",
    "not (at between '2026-07-01 12:00:00' and '2026-07-02 12:00:00')",
    "at in ('2026-07-02 00:00:00', '2026-07-03 06:00:00') and day > '2026-07-01'",
    "local >= '2026-07-03 00:00:00'",
    "at is not null and at >= timestamp '2026-07-02 00:00:00'",
]


@pytest.mark.parametrize("name", ["UTC", "America/Los_Angeles", "+02:00"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_they_select_the_rows_of_spark(table, spark, zone, name, condition):
    zone(name)
    schema = "At timestamp, local timestamp_ntz, day date"
    expected = spark.createDataFrame(table.scan().to_arrow()).to(spark.createDataFrame([], schema).schema)
    found = table.scan(where(condition, table.schema(), spark))
    assert found.count() == expected.where(condition).count()


def test_without_a_session_times_are_of_utc(table):
    assert table.scan(where("at < '2026-07-02'", table.schema())).count() == 4


def test_other_columns_are_named(table):
    with pytest.raises(ResolveError, match="nowhere"):
        where("nowhere = 1", table.schema())


@pytest.mark.parametrize(("name", "hours"), [("Z", 0), ("UTC+3", 3), ("-0:30", -0.5), ("Asia/Tokyo", 9)])
def test_zones_are_regions_or_offsets(name, hours):
    assert START.astimezone(zone_of(name)).utcoffset() == timedelta(hours=hours)
