"""Concurrent changes of one catalog in MariaDB by several clients."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pymysql
import pytest
from icefloe.exceptions import (
    CommitFailedException,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    TableAlreadyExistsError,
)

from tests.catalogs.wire_proxy import TIMEOUT_SECONDS

SCHEMA = pa.schema([("writer", pa.int64()), ("commit", pa.int64())])
RETRIES = {"commit.retry.num-retries": "100", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "200"}
LOCK = "update iceberg_namespace_properties set property_value = 'x' where namespace = 'db'"
WAITING = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
# Servers differ in these defaults: MariaDB 11.6 turned snapshot isolation on.
DEFAULTS = (
    ("tx_isolation", "'READ-COMMITTED'"),
    ("tx_isolation", "'SERIALIZABLE'"),
    ("innodb_snapshot_isolation", "1"),
)


@pytest.fixture
def session(mariadb, mariadb_database, catalog):
    """A second session with an open transaction."""
    with mariadb.connect(mariadb_database) as connection, connection.cursor() as cursor:
        connection.autocommit(False)
        yield cursor
        connection.rollback()


@pytest.fixture
def in_background():
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit


@pytest.fixture
def wait_for_lock(execute):
    """Return a function that waits until a session waits for a lock."""

    def wait():
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while execute(WAITING)[0][0] == 0:
            assert time.monotonic() < deadline, "no session waits for a lock"
            # The server refreshes this view only after 0.1 seconds without a read.
            time.sleep(0.15)

    return wait


@pytest.mark.parametrize(("variable", "value"), DEFAULTS)
def test_appends_of_many_threads_are_all_committed(execute, open_catalog, variable, value):
    execute(f"set global {variable} = {value}")
    try:
        catalog = open_catalog()
        catalog.create_namespace("db")
        catalog.create_table("db.t", SCHEMA, properties=RETRIES)
        start = threading.Barrier(4)

        def write(writer):
            table = catalog.load_table("db.t")
            start.wait()
            for commit in range(4):
                table.append(pa.table({"writer": [writer], "commit": [commit]}))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        table = catalog.load_table("db.t")
        rows = table.scan().to_arrow().to_pylist()
        assert sorted((row["writer"], row["commit"]) for row in rows) == [(w, c) for w in range(4) for c in range(4)]
        assert [snapshot.sequence_number for snapshot in table.snapshots()] == list(range(1, 17))
    finally:
        execute(f"set global {variable} = default")


def test_setting_a_property_to_its_value_again_is_no_conflict(catalog):
    # MySQL's own count of changed rows is 0 for such an update; the driver reports the rows that were found.
    catalog.update_namespace_properties("db", updates={"a": "1"})
    assert catalog.update_namespace_properties("db", updates={"a": "1"}).updated == ["a"]
    assert catalog.create_table("db.t", SCHEMA).scan().count() == 0


def test_create_table_fails_when_its_namespace_is_dropped_concurrently(catalog, session, in_background, wait_for_lock):
    session.execute("delete from iceberg_namespace_properties where namespace = 'db'")
    creation = in_background(catalog.create_table, "db.t", SCHEMA)
    wait_for_lock()
    session.connection.commit()
    with pytest.raises(NoSuchNamespaceError):
        creation.result()
    assert catalog.list_namespaces() == []


def test_drop_namespace_fails_when_a_table_is_created_concurrently(catalog, session, in_background, wait_for_lock):
    session.execute(LOCK)
    session.execute("insert into iceberg_tables values ('cat', 'db', 't', '/x', null, 'TABLE')")
    removal = in_background(catalog.drop_namespace, "db")
    wait_for_lock()
    session.connection.commit()
    with pytest.raises(NamespaceNotEmptyError):
        removal.result()
    assert catalog.list_tables("db") == [("db", "t")]


def test_concurrent_creation_of_a_table_is_reported_after_its_commit(catalog, session, in_background, wait_for_lock):
    other = catalog.create_table("db.other", SCHEMA).metadata_location
    session.execute(f"insert into iceberg_tables values ('cat', 'db', 't', '{other}', null, 'TABLE')")
    creation = in_background(catalog.create_table, "db.t", SCHEMA)
    wait_for_lock()
    session.connection.commit()
    with pytest.raises(TableAlreadyExistsError):
        creation.result()


def test_lock_that_is_not_released_is_a_failed_commit(catalog, open_catalog, session, execute):
    execute("set global innodb_lock_wait_timeout = 1")
    try:
        impatient = open_catalog()
        session.execute(LOCK)
        with pytest.raises(CommitFailedException, match="nothing has changed: Lock wait timeout") as caught:
            impatient.create_table("db.t", SCHEMA)
        assert isinstance(caught.value.__cause__, pymysql.OperationalError)
    finally:
        execute("set global innodb_lock_wait_timeout = default")
    session.connection.rollback()
    assert catalog.list_tables("db") == []


def test_deadlock_is_a_failed_commit_with_its_cause(catalog, session, in_background, wait_for_lock):
    # The other session has changed more rows, so MariaDB rolls back the transaction of the catalog.
    other = catalog.create_table("db.other", SCHEMA).metadata_location
    rows = ", ".join(f"('cat', 'db', 'x{number}', '/x', null, 'TABLE')" for number in range(50))
    session.execute(f"insert into iceberg_tables values {rows}, ('cat', 'db', 't', '{other}', null, 'TABLE')")
    creation = in_background(catalog.create_table, "db.t", SCHEMA)
    wait_for_lock()
    session.execute(LOCK)
    session.connection.commit()
    with pytest.raises(CommitFailedException, match="nothing has changed: Deadlock found"):
        creation.result()
