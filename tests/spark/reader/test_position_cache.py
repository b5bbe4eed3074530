"""Deleted positions that the driver keeps."""

from __future__ import annotations

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.spark.reader import deleted_positions, position_cache
from icefloe.spark.reader.position_cache import MAX_ENTRY_BYTES, SECONDS_AFTER_USE, PositionCache


def table_of(size: int) -> pa.Table:
    return pa.table({"pos": pa.nulls(size // 8, pa.int64()).fill_null(0)})


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def unexpected() -> pa.Table:
    raise AssertionError("the table is in the cache")


def test_table_is_made_once():
    cache, table = PositionCache(), table_of(80)
    assert cache.get(b"a", lambda: table) is table
    assert cache.get(b"a", unexpected) is table


def test_table_expires_ten_minutes_after_its_last_use():
    clock = Clock()
    cache = PositionCache(clock)
    first, second = table_of(80), table_of(80)
    cache.get(b"a", lambda: first)
    clock.now = SECONDS_AFTER_USE
    assert cache.get(b"a", unexpected) is first
    clock.now = 2 * SECONDS_AFTER_USE + 1
    assert cache.get(b"a", lambda: second) is second
    assert len(cache) == 1


def test_large_table_is_not_kept():
    cache = PositionCache()
    cache.get(b"a", lambda: table_of(MAX_ENTRY_BYTES + 8))
    assert len(cache) == 0


def test_least_recently_used_table_makes_room(monkeypatch):
    monkeypatch.setattr(position_cache, "MAX_TOTAL_BYTES", 200)
    cache = PositionCache()
    for key in (b"a", b"b"):
        cache.get(key, lambda: table_of(80))
    cache.get(b"a", unexpected)
    cache.get(b"c", lambda: table_of(80))
    assert len(cache) == 2
    for key in (b"a", b"c"):
        cache.get(key, unexpected)


def test_exception_leaves_no_entry():
    cache = PositionCache()
    with pytest.raises(AssertionError):
        cache.get(b"a", unexpected)
    assert len(cache) == 0


def test_positions_are_read_once_for_each_version_of_a_table(spark, new_table, monkeypatch):
    reads = []
    rows = deleted_positions._rows
    monkeypatch.setattr(deleted_positions, "_rows", lambda io, deletes: reads.append(deletes) or rows(io, deletes))
    schema = icefloe.spark.schema_from_spark(spark.range(1).schema)
    table = new_table(schema, write__delete__mode="merge-on-read")
    table.append(pa.table({"id": range(100)}))

    def count() -> int:
        return len(icefloe.spark.read(table, spark=spark).collect())

    table.delete("id < 10")
    assert [count(), count()] == [90, 90]
    assert len(reads) == 1
    table.delete("id = 50")
    assert [count(), count()] == [89, 89]
    assert len(reads) == 2
