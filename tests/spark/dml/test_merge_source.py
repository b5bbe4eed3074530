"""The source of a merge: its cache, its size, and the range of its keys."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.spark import MergeResult
from icefloe.spark.dml import join
from icefloe.spark.dml.join import MergeSource
from icefloe.table.row_level.join_keys import JoinKey
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

MODES = ["merge-on-read", "copy-on-write"]
KEYS = [JoinKey("id", "id")]


@pytest.fixture(params=MODES)
def table(request, spark, new_table):
    frame = spark.range(20).selectExpr("id", "'old' AS s")
    made = new_table(frame.schema, write__merge__mode=request.param)
    icefloe.spark.write(frame.coalesce(1), made)
    return made


def rows(table):
    return {row["id"]: row["s"] for row in table.refresh().scan().to_arrow().to_pylist()}


def has_cache(spark):
    return not spark._jsparkSession.sharedState().cacheManager().isEmpty()


def is_cached(frame):
    return frame.storageLevel.useMemory or frame.storageLevel.useDisk


def is_broadcast(frame):
    return "strategy=broadcast" in frame._jdf.queryExecution().analyzed().toString()


def test_merge_releases_a_source_that_fails(spark, table):
    spark.catalog.clearCache()
    source = spark.range(3).selectExpr("id", "if(id = 2, raise_error('no source'), 'new') AS s")
    with pytest.raises((PySparkException, Py4JJavaError), match="no source"):
        icefloe.spark.merge_into(table, source, ["id"]).when_matched_update_all().execute()
    assert not is_cached(source)
    assert not has_cache(spark)


def test_merge_releases_a_source_that_is_interrupted(spark, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    spark.catalog.clearCache()
    monkeypatch.setattr(type(spark.range(1)), "first", interrupted)
    with pytest.raises(KeyboardInterrupt):
        MergeSource(spark.range(3), KEYS).__enter__()
    assert not has_cache(spark)


def test_merges_of_one_frame_have_caches_of_their_own(spark):
    frame = spark.range(3)
    with MergeSource(frame, KEYS) as first:
        with MergeSource(frame, KEYS) as second:
            assert is_cached(second.frame)
        assert not is_cached(second.frame)
        assert is_cached(first.frame)
        assert not is_cached(frame)
    assert not is_cached(first.frame)


def test_merge_keeps_the_cache_of_the_source_that_its_owner_made(spark, table):
    source = spark.range(3).selectExpr("id", "'new' AS s").persist()
    icefloe.spark.merge_into(table, source, ["id"]).when_matched_update_all().execute()
    assert is_cached(source)
    source.unpersist()


def test_merge_deletes_rows_that_several_source_rows_match_and_updates_the_others(spark, table):
    source = spark.createDataFrame([(3,), (3,), (5,)], "id long")
    merge = icefloe.spark.merge_into(table, source, ["id"]).when_matched_delete()
    result = merge.when_not_matched_by_source_update({"s": "'rest'"}).execute()
    assert result == MergeResult(18, 2, 0)
    assert rows(table) == {one: "rest" for one in range(20) if one not in (3, 5)}


def test_broadcast_of_matched_keys_has_each_key_once(spark):
    matched = spark.range(1_000).selectExpr(f"id % 2 AS {join._KEY.format(0)}")
    with MergeSource(spark.range(3), KEYS) as source:
        rest = source.without_match(matched)
        assert "Deduplicate" in rest._jdf.queryExecution().analyzed().toString()
        assert [row.id for row in rest.collect()] == [2]


@pytest.mark.parametrize("kind", ["s", "array(s)", "named_struct('s', s)", "map(id, s)", "encode(s, 'utf-8')"])
def test_source_of_more_bytes_than_the_limit_is_not_broadcast(spark, monkeypatch, kind):
    frame = spark.range(100).selectExpr("id", "repeat('x', 1000) AS s").selectExpr("id", f"{kind} AS s")
    with MergeSource(frame, KEYS) as source:
        assert is_broadcast(source.hinted(source.frame))
        monkeypatch.setattr(join, "_MAX_BROADCAST_BYTES", 100_000)
        assert not is_broadcast(source.hinted(source.frame))
        # The keys alone are small.
        assert is_broadcast(source.hinted(source.frame.select("id"), keys=True))
        monkeypatch.setattr(join, "_MAX_BROADCAST_ROWS", 99)
        assert not is_broadcast(source.hinted(source.frame.select("id"), keys=True))


def test_merge_without_broadcasts_has_the_same_result(spark, table, monkeypatch):
    monkeypatch.setattr(join, "_MAX_BROADCAST_BYTES", 1)
    source = spark.range(15, 25).selectExpr("id", "'new' AS s")
    merge = icefloe.spark.merge_into(table, source, ["id"]).when_matched_update_all()
    assert merge.when_not_matched_insert_all().execute() == MergeResult(5, 0, 5)
    assert rows(table) == {one: "old" if one < 15 else "new" for one in range(25)}


@pytest.mark.parametrize("mode", MODES)
def test_merge_joins_dates_outside_of_the_calendar_of_python(spark, new_table, mode):
    days = spark.range(3).select(F.expr("date_from_unix_date(int((id - 1) * 4000000))").alias("day"), "id")
    made = new_table(days.schema, write__merge__mode=mode)
    icefloe.spark.write(days, made)
    source = days.selectExpr("day", "id + 10 AS id")
    assert icefloe.spark.merge_into(made, source, ["day"]).when_matched_update_all().execute() == MergeResult(3, 0, 0)
    found = icefloe.spark.read(made, spark=spark).selectExpr("unix_date(day) AS day", "id").collect()
    assert {row.day: row.id for row in found} == {-4_000_000: 10, 0: 11, 4_000_000: 12}
