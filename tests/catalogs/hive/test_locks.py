"""Locks of the Hive catalog on a real metastore: waits, time limits, lost replies, heartbeats."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hive import calls
from icefloe.catalog.hive.client import Metastore
from icefloe.catalog.hive.lock import LockSettings, table_lock
from icefloe.catalog.hive.structs import HiveTable, ShowLocksRequest, UnlockRequest
from icefloe.exceptions import CommitFailedException
from icefloe.table.environment import SYSTEM

from tests.catalogs.thrift_proxy import thrift_proxy
from tests.storage.servers import PATIENCE

ROWS = pa.table({"id": [1, 2, 3]})
NUMBERS = itertools.count()
FAST = {"iceberg.hive.lock-check-min-wait-ms": "5"}


@pytest.fixture
def locking(hive3, tmp_path):
    return load_catalog("hive", uri=hive3.uri(), warehouse=str(tmp_path / "warehouse"), **FAST)


@pytest.fixture
def locked_table(locking):
    name = f"hive_locks_{next(NUMBERS)}"
    locking.create_namespace(name)
    return locking.create_table((name, "t"), pa.schema([("id", pa.int64())]))


def test_commit_waits_for_the_lock_of_another_client(hive3, locking, locked_table):
    metastore = Metastore(hive3.uri())
    waits = threading.Event()
    locking.environment = replace(SYSTEM, sleep=lambda _: waits.set())
    with (
        ThreadPoolExecutor(1) as pool,
        table_lock(metastore, *locked_table.name(), LockSettings(), SYSTEM),
    ):
        commit = pool.submit(lambda: locking.load_table(locked_table.name()).append(ROWS))
        assert waits.wait(PATIENCE)
        assert locking.load_table(locked_table.name()).current_snapshot() is None
        locking.environment = SYSTEM
    commit.result(PATIENCE)
    assert locked_table.refresh().scan().count() == 3


def test_lock_that_is_held_too_long_is_a_failed_commit(hive3, locking, locked_table):
    times = itertools.count(0, 1000)
    locking.environment = replace(SYSTEM, sleep=lambda _: None, monotonic=lambda: float(next(times)))
    files = set(locked_table.io.core.list(f"{locked_table.location()}/").column("location").to_pylist())
    with (
        table_lock(Metastore(hive3.uri()), *locked_table.name(), LockSettings(), SYSTEM),
        pytest.raises(CommitFailedException, match="lock-timeout-ms"),
        locking.load_table(locked_table.name()).update_properties() as update,
    ):
        update.set_properties(a="1")
    assert set(locked_table.io.core.list(f"{locked_table.location()}/").column("location").to_pylist()) == files
    locked_table.append(ROWS)
    assert locked_table.scan().count() == 3


def test_lock_whose_reply_was_lost_is_found(hive3, locked_table, tmp_path):
    with thrift_proxy(hive3.port) as line:
        catalog = load_catalog("hive", uri=hive3.uri(line.port), **FAST)
        mine = catalog.load_table(locked_table.name())
        line.fault = "lock"
        mine.append(ROWS)
        assert "show_locks" in line.functions
        assert line.functions.count("unlock") == 1
    assert locked_table.refresh().scan().count() == 3


def test_lock_of_a_name_in_upper_case_is_found(hive3, locked_table):
    database, name = locked_table.name()
    with thrift_proxy(hive3.port) as line:
        mine = load_catalog("hive", uri=hive3.uri(line.port), **FAST).load_table((database.upper(), name.upper()))
        line.fault = "lock"
        mine.append(ROWS)
        assert line.functions.count("unlock") == 1
    assert locked_table.refresh().scan().count() == 3


def test_lost_release_of_a_lock_is_repeated(hive3, locked_table):
    with thrift_proxy(hive3.port) as line:
        mine = load_catalog("hive", uri=hive3.uri(line.port), **FAST).load_table(locked_table.name())
        line.fault = "unlock"
        mine.append(ROWS)
        assert line.functions.count("unlock") == 2
    locks = Metastore(hive3.uri())
    with locks.session() as session:
        request = ShowLocksRequest(dbname=locked_table.name()[0], tablename=locked_table.name()[1])
        assert not session.call(calls.SHOW_LOCKS, request).locks


def test_lock_is_released_after_each_commit(hive3, locked_table):
    with thrift_proxy(hive3.port) as line:
        mine = load_catalog("hive", uri=hive3.uri(line.port), **FAST).load_table(locked_table.name())
        mine.append(ROWS)
        mine.append(ROWS)
        order = [name for name in line.functions if "lock" in name or "alter" in name]
    assert order == ["lock", "alter_table_with_environment_context", "unlock"] * 2


def test_lost_heartbeat_ends_the_commit_before_the_change(hive3, locking, locked_table):
    metastore = Metastore(hive3.uri())
    with table_lock(metastore, *locked_table.name(), LockSettings(heartbeat_ms=2), SYSTEM) as lock:
        with metastore.session() as session:
            locks = session.call(calls.SHOW_LOCKS, _shown(locked_table)).locks
            session.call(calls.UNLOCK, _unlock(locks[0].lockid))
        while lock.is_held:
            SYSTEM.sleep(0.001)
        with pytest.raises(CommitFailedException, match="lock was lost"):
            locking._alter(locked_table.name()[:1], "t", HiveTable(), "x", None, lock)


def _shown(table):
    return ShowLocksRequest(dbname=table.name()[0], tablename=table.name()[1])


def _unlock(number):
    return UnlockRequest(lockid=number)
