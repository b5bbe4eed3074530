"""Conditions of procedures: names in any case, and times of the session's zone."""

from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.spark.maintenance.session_zone import zone_of
from icefloe.spark.maintenance.where import where

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
def typed():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        kinds = {"at": pa.timestamp("us", "UTC"), "local": pa.timestamp("us"), "day": pa.date32(), "late": pa.bool_()}
        columns = pa.schema(list((kinds | {"name": pa.string(), "number": pa.int64(), "cost": pa.float64()}).items()))
        times = [START + timedelta(hours=6 * number) for number in range(12)]
        rows = [
            {
                "at": time,
                "local": time.replace(tzinfo=None),
                "day": time.date(),
                "late": None if number % 5 == 4 else number > 5,
                "name": ["soon", "IT'S", None, "later"][number % 4],
                "number": number,
                "cost": number / 2,
            }
            for number, time in enumerate(times)
        ]
        made = catalog.create_table("db.typed", columns)
        made.append(pa.Table.from_pylist(rows, columns))
        yield made


def spark_rows(table, spark):
    schema = "at timestamp, local timestamp_ntz, day date, late boolean, name string, number bigint, cost double"
    return spark.createDataFrame(table.scan().to_arrow()).to(spark.createDataFrame([], schema).schema)


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


ZONES = [
    "Z",
    "UTC+3",
    "-0:30",
    "Asia/Tokyo",
    "GMT+1",
    "UTC+01:00",
    "UT-1:30",
    "+01:02:03",
    "-0530",
    "+05:3",
    "GMT0",
    "+18:00",
]
SHORT_NAMES = [
    "ACT",
    "AET",
    "AGT",
    "ART",
    "AST",
    "BET",
    "BST",
    "CAT",
    "CNT",
    "CST",
    "CTT",
    "EAT",
    "ECT",
    "EST",
    "HST",
    "IET",
    "IST",
    "JST",
    "MIT",
    "MST",
    "NET",
    "NST",
    "PLT",
    "PNT",
    "PRT",
    "PST",
    "SST",
    "VST",
]


@pytest.mark.parametrize("name", ZONES + SHORT_NAMES)
def test_zones_have_the_offsets_of_spark(spark, zone, name):
    zone(name)
    moments = [datetime(2026, month, 1, 12, tzinfo=timezone.utc) for month in (1, 7)]
    listed = ", ".join(
        f"date_format(timestamp_seconds({int(moment.timestamp())}), 'yyyy-MM-dd HH:mm:ss')" for moment in moments
    )
    local = [f"{moment.astimezone(zone_of(name)):%Y-%m-%d %H:%M:%S}" for moment in moments]
    assert local == list(spark.sql(f"SELECT {listed}").first())


@pytest.mark.parametrize("name", ["PST", "+01:02:03", "GMT+7"])
def test_times_of_conditions_are_of_any_zone_of_spark(typed, spark, zone, name):
    rows = spark_rows(typed, spark)  # pyarrow, which makes them, has fewer zones
    zone(name)
    condition = "at >= '2026-07-02 01:02:03' and at < '2026-07-02 13:02:03'"
    found = typed.scan(where(condition, typed.schema(), spark)).to_arrow().column("number").to_pylist()
    assert found == [row.number for row in rows.where(condition).collect()]
    assert found != typed.scan(where(condition, typed.schema())).to_arrow().column("number").to_pylist()


def test_a_condition_without_times_needs_no_zone(typed, spark, monkeypatch):
    def fail(name):
        raise AssertionError(name)

    monkeypatch.setattr("icefloe.spark.maintenance.where.zone_of", fail)
    assert typed.scan(where("number > 3", typed.schema(), spark)).count() == 8


CONSTANTS = [
    "day > date_sub(date '2026-07-04', 2)",
    "at < timestamp '2026-07-03 00:00:00' - interval '1' day and day >= '2026-07-01'",
    "at >= date '2026-07-02'",
    "at between to_date('2026-07-01') + 1 and current_timestamp() + interval 100 years",
    "local > make_timestamp_ntz(2026, 7, 2, 6, 0, 0)",
    "day in (current_date(), date '2026-07-01' + 1)",
    "late",
    "not late and day < current_date() + interval 100 years",
    "(late) or name like concat('s', '%')",
    "name = upper('it\\'s') or name <=> concat('so', 'on')",
    "1 = 1 and late",
    "number > 1 + 1 and number <> abs(-4)",
    "number * 1 is null or cost < 10.5 / 3",
]


@pytest.mark.parametrize("name", ["UTC", "America/Los_Angeles"])
@pytest.mark.parametrize("condition", CONSTANTS[:-1])
def test_constants_and_boolean_columns_select_the_rows_of_spark(typed, spark, zone, name, condition):
    zone(name)
    found = typed.scan(where(condition, typed.schema(), spark))
    assert found.count() == spark_rows(typed, spark).where(condition).count()


def test_transforms_may_have_the_name_of_their_catalog(typed, spark):
    for condition in ("lake.system.days(at) = date '2026-07-02'", "system.bucket(4, number) = 4 - 1"):
        plain = condition.split("system.")[1].replace("4 - 1", "3")
        assert where(condition, typed.schema(), spark) == where(plain, typed.schema())


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("number = 1 + null", "NULL"),
        ("number > rand()", "differs from call to call"),
        ("name = uuid()", "differs from call to call"),
        (CONSTANTS[-1], "filter"),
    ],
)
def test_refused_conditions_say_why(typed, spark, condition, reason):
    with pytest.raises(ValidationError, match=reason):
        where(condition, typed.schema(), spark)
