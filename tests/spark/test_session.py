"""The session of calls that name none."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark.session import active_session, settings


def test_active_session_is_found_in_other_threads(spark):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(active_session).result() is spark


@pytest.mark.parametrize("value", ["local[2]", 5, object])
def test_active_session_refuses_what_is_no_session(value):
    with pytest.raises(ValidationError, match="spark: expected a SparkSession, got "):
        active_session(value)


BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
SIZE = "spark.sql.adaptive.advisoryPartitionSizeInBytes"


@pytest.fixture
def session(spark):
    """A session whose settings no other test changes."""
    return spark.newSession()


def test_settings_of_overlapping_blocks_end_with_the_last_block(session):
    before = [session.conf.get(key) for key in (BYTES, SIZE)]
    first, second = (settings(session, {BYTES: "7"}) for _ in range(2))
    with ExitStack() as stack:
        first.__enter__()
        stack.push(second)
        second.__enter__()
        first.__exit__(None, None, None)
        assert session.conf.get(BYTES) == "7"
    assert [session.conf.get(key) for key in (BYTES, SIZE)] == before


def test_settings_have_the_value_of_the_last_block_that_has_not_ended(session):
    before, unset = session.conf.get(SIZE), "icefloe.tests.unset"
    outer, inner, other = (settings(session, {SIZE: f"{n}b", unset: str(n)}) for n in (1, 2, 3))
    values = []
    for change in (outer.__enter__, inner.__enter__, other.__enter__):
        change()
        values.append((session.conf.get(SIZE), session.conf.get(unset, None)))
    for block in (inner, other, outer):
        block.__exit__(None, None, None)
        values.append((session.conf.get(SIZE), session.conf.get(unset, None)))
    assert values == [("1b", "1"), ("2b", "2"), ("3b", "3"), ("3b", "3"), ("1b", "1"), (before, None)]


def test_settings_of_concurrent_threads_are_restored(session):
    before, barrier = session.conf.get(BYTES), Barrier(4)

    def set_often(number):
        barrier.wait()
        for _ in range(25):
            with settings(session, {BYTES: str(number + 1)}):
                assert session.conf.get(BYTES) != before

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(set_often, range(4)))
    assert session.conf.get(BYTES) == before


def test_settings_are_restored_if_one_of_them_is_refused(session):
    before = session.conf.get(BYTES)
    with (
        pytest.raises(Exception, match=r"spark\.sql\.shuffle\.partitions"),
        settings(session, {BYTES: "7", "spark.sql.shuffle.partitions": "many"}),
    ):
        pass
    assert session.conf.get(BYTES) == before


def test_settings_of_sessions_do_not_meet(spark, session):
    before = spark.conf.get(BYTES)
    with settings(session, {BYTES: "7"}):
        assert spark.conf.get(BYTES) == before
        with settings(spark, {BYTES: "8"}):
            assert session.conf.get(BYTES) == "7"
        assert spark.conf.get(BYTES) == before
