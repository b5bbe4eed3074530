"""Concurrent changes of one catalog in PostgreSQL by several clients."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    IcebergError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    TableAlreadyExistsError,
)

from tests.catalogs.conftest import DRIVERS
from tests.catalogs.wire_proxy import TIMEOUT_SECONDS

WORKER = Path(__file__).parent / "append_worker.py"
SCHEMA = pa.schema([("writer", pa.int64()), ("commit", pa.int64())])
RETRIES = {"commit.retry.num-retries": "100", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "200"}
CUTS = 25
LOCK = "update iceberg_namespace_properties set property_value = property_value where namespace = 'db'"


@pytest.fixture
def open_catalog(postgres, database, tmp_path):
    """Return a function that opens the catalog of this test with a driver."""
    opened = []

    def make(driver="psycopg"):
        catalog = SqlCatalog("cat", uri=postgres.url(driver, database=database), warehouse=str(tmp_path / "warehouse"))
        opened.append(catalog)
        return catalog

    yield make
    for catalog in opened:
        catalog.close()


@pytest.fixture
def catalog(open_catalog):
    made = open_catalog()
    made.create_namespace("db")
    return made


@pytest.fixture
def session(postgres, database, catalog):
    """A second session with an open transaction."""
    with psycopg.connect(postgres.address(database)) as connection:
        yield connection


@pytest.fixture
def in_background():
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit


@pytest.fixture
def wait_for_lock(postgres):
    """Return a function that waits until a session waits for a lock."""

    def wait():
        query = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
        with psycopg.connect(postgres.address(), autocommit=True) as monitor:
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while monitor.execute(query).fetchone()[0] == 0:
                assert time.monotonic() < deadline, "no session waits for a lock"
                time.sleep(0.01)

    return wait


def check_commits(table, writers, commits):
    rows = table.scan().to_arrow().to_pylist()
    assert sorted((row["writer"], row["commit"]) for row in rows) == [
        (writer, commit) for writer in range(writers) for commit in range(commits)
    ]
    assert [snapshot.sequence_number for snapshot in table.snapshots()] == list(range(1, writers * commits + 1))


def test_appends_of_many_processes_and_drivers_are_all_committed(postgres, database, catalog, tmp_path):
    table = catalog.create_table("db.t", SCHEMA, properties=RETRIES)
    workers = [
        subprocess.Popen(
            [sys.executable, WORKER, postgres.url(driver, database=database), tmp_path / "warehouse", str(writer), "5"],
            stderr=subprocess.PIPE,
        )
        for writer, driver in enumerate(DRIVERS)
    ]
    errors = [worker.communicate(timeout=600)[1].decode() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * len(DRIVERS), errors
    check_commits(table.refresh(), len(DRIVERS), 5)


@pytest.mark.parametrize("isolation", ["read committed", "serializable"])
def test_appends_of_many_threads_are_all_committed(postgres, database, driver, open_catalog, isolation):
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(f"alter database {database} set default_transaction_isolation = '{isolation}'")
    catalog = open_catalog(driver)
    catalog.create_namespace("db")
    catalog.create_table("db.t", SCHEMA, properties=RETRIES)
    start = threading.Barrier(6)

    def write(writer):
        table = catalog.load_table("db.t")
        start.wait()
        for commit in range(4):
            table.append(pa.table({"writer": [writer], "commit": [commit]}))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    check_commits(catalog.load_table("db.t"), 6, 4)


def test_no_append_is_lost_or_doubled_while_connections_are_cut(postgres, database, driver, line, catalog, tmp_path):
    catalog.create_table("db.t", SCHEMA, properties={**RETRIES, "commit.status-check.min-wait-ms": "20"})
    uri = postgres.url(driver, database=database, port=line.port)
    unknown = set()

    def write(writer):
        with SqlCatalog("cat", uri=uri, warehouse=str(tmp_path / "warehouse"), init_catalog_tables="false") as client:
            for commit in range(8):
                append(client, writer, commit)

    def append(client, writer, commit):
        while True:
            try:
                client.load_table("db.t").append(pa.table({"writer": [writer], "commit": [commit]}))
            except CommitStateUnknownException:
                unknown.add((writer, commit))
            except IcebergError:
                # The row is absent, so the append is repeated.
                continue
            return

    def cut():
        pauses = random.Random(0)
        for _ in range(CUTS):
            time.sleep(pauses.uniform(0.01, 0.1))
            line.hang_up(reset=pauses.random() < 0.5)

    with ThreadPoolExecutor(4) as pool:
        cutter = pool.submit(cut)
        list(pool.map(write, range(3)))
        cutter.result()
    table = catalog.load_table("db.t")
    found = [(row["writer"], row["commit"]) for row in table.scan().to_arrow().to_pylist()]
    assert len(found) == len(set(found)) == len(table.snapshots())
    every = {(writer, commit) for writer in range(3) for commit in range(8)}
    assert every - unknown <= set(found) <= every


def test_namespace_changes_of_many_threads_are_all_committed(driver, open_catalog):
    catalog = open_catalog(driver)
    catalog.create_namespace("db")
    start = threading.Barrier(6)

    def change(writer):
        start.wait()
        for number in range(5):
            catalog.update_namespace_properties("db", updates={f"{writer}": str(number), "shared": str(writer)})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(change, range(6)))
    found = catalog.load_namespace_properties("db")
    assert found.pop("shared") in {str(writer) for writer in range(6)}
    assert found == {str(writer): "4" for writer in range(6)}


def test_concurrent_creations_of_a_table_create_it_once(catalog):
    start = threading.Barrier(6)

    def create(_):
        start.wait()
        try:
            return catalog.create_table("db.t", SCHEMA).metadata_location
        except TableAlreadyExistsError:
            return None

    with ThreadPoolExecutor(6) as pool:
        made = [location for location in pool.map(create, range(6)) if location is not None]
    assert made == [catalog.load_table("db.t").metadata_location]


def test_create_table_fails_when_its_namespace_is_dropped_concurrently(catalog, session, in_background, wait_for_lock):
    session.execute("delete from iceberg_namespace_properties where namespace = 'db'")
    creation = in_background(catalog.create_table, "db.t", SCHEMA)
    wait_for_lock()
    session.commit()
    with pytest.raises(NoSuchNamespaceError):
        creation.result()
    assert catalog.list_namespaces() == []


def test_rename_fails_when_the_new_namespace_is_dropped_concurrently(catalog, session, in_background, wait_for_lock):
    catalog.create_namespace("other")
    catalog.create_table("other.t", SCHEMA)
    session.execute("delete from iceberg_namespace_properties where namespace = 'db'")
    rename = in_background(catalog.rename_table, "other.t", "db.t")
    wait_for_lock()
    session.commit()
    with pytest.raises(NoSuchNamespaceError):
        rename.result()
    assert catalog.table_exists("other.t")


def test_drop_namespace_fails_when_a_table_is_created_concurrently(catalog, session, in_background, wait_for_lock):
    session.execute(LOCK)
    session.execute("insert into iceberg_tables values ('cat', 'db', 't', '/x', null, 'TABLE')")
    removal = in_background(catalog.drop_namespace, "db")
    wait_for_lock()
    session.commit()
    with pytest.raises(NamespaceNotEmptyError):
        removal.result()
    assert catalog.list_tables("db") == [("db", "t")]


def test_set_properties_fails_when_the_namespace_is_dropped_concurrently(
    catalog, session, in_background, wait_for_lock
):
    session.execute("delete from iceberg_namespace_properties where namespace = 'db'")
    change = in_background(catalog.update_namespace_properties, "db", None, {"a": "1"})
    wait_for_lock()
    session.commit()
    with pytest.raises(NoSuchNamespaceError):
        change.result()


def test_deadlock_is_a_failed_commit_with_its_cause(catalog, session, in_background, wait_for_lock):
    # The other session does not check for deadlocks within the test, so PostgreSQL aborts the transaction of the
    # catalog.
    session.execute("set deadlock_timeout = '10min'")
    other = catalog.create_table("db.other", SCHEMA).metadata_location
    session.execute(f"insert into iceberg_tables values ('cat', 'db', 't', '{other}', null, 'TABLE')")
    creation = in_background(catalog.create_table, "db.t", SCHEMA)
    wait_for_lock()
    session.execute(LOCK)
    session.commit()
    with pytest.raises(CommitFailedException, match="nothing has changed: deadlock detected") as caught:
        creation.result()
    assert isinstance(caught.value.__cause__, psycopg.errors.DeadlockDetected)
