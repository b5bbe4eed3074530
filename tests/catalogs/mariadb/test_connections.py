"""Lost connections to MariaDB, and the errors that they and the server raise."""

from __future__ import annotations

import socket
from pathlib import Path

import pyarrow as pa
import pymysql
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import CommitStateUnknownException, StorageError, ValidationError

from tests.catalogs.operations import MORE, SCHEMA
from tests.catalogs.wire_proxy import Cut, Direction, Fault


@pytest.fixture
def distant(open_catalog, mariadb_line, catalog):
    """A catalog behind a proxy, with one table and one pooled connection."""
    catalog.create_table("db.t", SCHEMA, properties={"commit.status-check.min-wait-ms": "10"}).append(MORE)
    made = open_catalog(mariadb_line.port)
    assert made.list_tables("db") == [("db", "t")]
    return made


@pytest.mark.parametrize("reset", [False, True])
def test_idle_connection_that_was_lost_is_replaced(distant, mariadb_line, reset):
    mariadb_line.hang_up(reset=reset)
    assert distant.list_tables("db") == [("db", "t")]
    mariadb_line.hang_up(reset=reset)
    distant.load_table("db.t").append(MORE)
    assert distant.load_table("db.t").scan().count() == 2


def test_connection_that_the_server_ended_is_replaced(catalog, execute):
    catalog.create_table("db.t", SCHEMA)
    for (number,) in execute("select id from information_schema.processlist where id <> connection_id()"):
        execute(f"kill {number}")
    catalog.load_table("db.t").append(MORE)
    assert catalog.load_table("db.t").scan().count() == 1


def test_server_that_is_down_is_a_storage_error_with_its_cause(distant, mariadb_line):
    mariadb_line.is_down = True
    mariadb_line.hang_up()
    with pytest.raises(StorageError) as caught:
        distant.load_table("db.t")
    assert isinstance(caught.value.__cause__, pymysql.Error | OSError)
    with pytest.raises(StorageError):
        distant.create_namespace("other")


def test_unknown_outcome_deletes_nothing(distant, mariadb_line):
    table = distant.load_table("db.t")
    before = set(Path(table.location()).rglob("*"))
    mariadb_line.arm(Cut(Direction.CLIENT, None, Fault.DOWN))
    with pytest.raises(CommitStateUnknownException):
        table.append(MORE)
    left = [path.name for path in set(Path(table.location()).rglob("*")) - before]
    assert any(name.endswith(".parquet") for name in left)
    assert any(name.endswith(".metadata.json") for name in left)
    mariadb_line.heal()
    # The next writer waits for the lock of the transaction whose COMMIT the server has received.
    distant.load_table("db.t").append(MORE)
    assert distant.load_table("db.t").scan().count() == 3


def test_late_commit_finds_all_its_files(distant, mariadb_line):
    table = distant.load_table("db.t")
    mariadb_line.arm(Cut(Direction.CLIENT, None, Fault.LATE))
    with pytest.raises(CommitStateUnknownException, match=r"db\.t.*nothing was cleaned up"):
        table.append(MORE)
    mariadb_line.heal()
    assert distant.load_table("db.t").scan().count() == 1
    mariadb_line.deliver()
    distant.load_table("db.t").append(MORE)
    assert distant.load_table("db.t").scan().count() == 3


def test_permanent_database_error_is_not_retried(catalog, open_catalog, execute, mariadb_database):
    catalog.create_table("db.t", SCHEMA)
    execute("create or replace user reader@'127.0.0.1'", f"grant select on {mariadb_database}.* to reader@'127.0.0.1'")
    reader = open_catalog(user="reader")
    with pytest.raises(StorageError, match="nothing has changed: UPDATE command denied") as caught:
        reader.load_table("db.t").append(MORE)
    assert isinstance(caught.value.__cause__, pymysql.OperationalError)
    assert catalog.load_table("db.t").scan().count() == 0


def test_read_only_server_is_a_storage_error_or_a_failed_commit(catalog, open_catalog, execute, mariadb_database):
    table = catalog.create_table("db.t", SCHEMA, properties={"commit.retry.num-retries": "0"})
    execute("create or replace user writer@'127.0.0.1'", f"grant all on {mariadb_database}.* to writer@'127.0.0.1'")
    execute("set global read_only = 1")
    try:
        with pytest.raises(StorageError, match="read-only"):
            open_catalog(user="writer").drop_table("db.t")
    finally:
        execute("set global read_only = 0")
    table.append(MORE)
    assert catalog.load_table("db.t").scan().count() == 1


@pytest.mark.parametrize("scheme", ["mysql", "mariadb", "mariadb+pymysql"])
def test_scheme_of_a_url_implies_catalog_and_driver(mariadb, mariadb_database, tmp_path, scheme):
    uri = mariadb.url(mariadb_database).replace("mysql+pymysql", scheme)
    with load_catalog("cat", uri=uri, warehouse=str(tmp_path)) as catalog:
        assert isinstance(catalog, SqlCatalog)
        assert catalog.engine.driver == "pymysql"
        catalog.create_namespace("db")
        catalog.create_table("db.t", SCHEMA).append(pa.table({"id": [1]}))
        assert catalog.load_table("db.t").scan().count() == 1


def test_unreachable_server_is_a_storage_error_without_the_password():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StorageError) as caught:
            SqlCatalog("cat", uri=f"mysql+pymysql://me:secret@127.0.0.1:{port}/db")
    assert caught.value.__cause__ is not None
    assert "secret" not in str(caught.value)


def test_autocommit_is_refused():
    with pytest.raises(ValidationError, match="remove 'autocommit' from the URL"):
        SqlCatalog("cat", uri="mysql+pymysql://me@127.0.0.1/db?autocommit=true")
