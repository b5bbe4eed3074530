"""The table function that returns the plan of an expiry."""

from datetime import datetime, timedelta, timezone

import pytest


@pytest.fixture
def identifier(name):
    return name.removeprefix("lake.")


def test_plan_of_an_expiry_is_a_table_function(spark, sql, lake, name, identifier):
    sql(f"INSERT INTO {name} VALUES (4, 'd')")
    sql(f"ALTER TABLE {name} CREATE TAG audit")
    sql(f"INSERT INTO {name} VALUES (5, 'e')")
    table = lake.catalog.load_table(identifier)
    first, second, third = (one.snapshot_id for one in table.snapshots())
    rows = spark.sql(f"SELECT * FROM lake_plan_expire('{identifier}', older_than => '0s')").collect()
    planned = table.maintenance.expire_snapshots().older_than("0s").plan().rows()
    assert [row.asDict()["reason"] for row in rows] == planned.column("reason").to_pylist()
    assert spark.table(lake.tables()[identifier]).count() == 5
    fates = {row.snapshot_id: row.expires for row in rows if row.kind == "snapshot"}
    assert fates == {first: True, second: False, third: False}
    kept = spark.sql(
        f"SELECT count(*) FROM lake_plan_expire('{identifier}', older_than => '0s', retain_last => 3) WHERE expires"
    )
    assert kept.first()[0] == 0
    assert len(lake.catalog.load_table(identifier).snapshots()) == 3


def test_plan_of_an_expiry_takes_timestamps(spark, identifier):
    past = spark.sql(
        f"SELECT expires, committed_at FROM lake_plan_expire('{identifier}', TIMESTAMP '2001-01-01 00:00:00')"
    )
    assert [row.expires for row in past.collect()] == [False, False]
    committed = past.first().committed_at.astimezone(timezone.utc)
    assert abs(datetime.now(timezone.utc) - committed) < timedelta(hours=1)
