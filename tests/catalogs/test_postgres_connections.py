"""Lost, late and inherited connections to PostgreSQL, and the errors that they raise."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import CommitFailedException, CommitStateUnknownException, StorageError, ValidationError
from icefloe.table.environment import SYSTEM
from sqlalchemy import text

from tests.catalogs.operations import MORE, OPERATIONS, one_table, table
from tests.catalogs.wire_proxy import Cut, Direction, Fault

WITHOUT_SLEEP = replace(SYSTEM, sleep=lambda _: None)
READS = {
    "list_tables": lambda catalog: catalog.list_tables("db"),
    "list_namespaces": lambda catalog: catalog.list_namespaces(),
    "load_namespace_properties": lambda catalog: catalog.load_namespace_properties("db"),
    "load_table": lambda catalog: catalog.load_table("db.t"),
    "table_exists": lambda catalog: catalog.table_exists("db.t"),
    "namespace_exists": lambda catalog: catalog.namespace_exists("db"),
    "create_tables": lambda catalog: catalog.create_tables(),
    "destroy_tables": lambda catalog: catalog.destroy_tables(),
}


@pytest.fixture
def catalog(postgres, database, line, driver, tmp_path):
    """A catalog behind a proxy, with one table and one pooled connection."""

    class CatalogWithoutSleep(SqlCatalog):
        """A catalog that does not wait between status checks."""

        environment = WITHOUT_SLEEP

    uri = postgres.url(driver, database=database, port=line.port)
    with CatalogWithoutSleep("cat", uri=uri, warehouse=str(tmp_path / "warehouse")) as made:
        one_table(made)
        yield made


@pytest.mark.parametrize("name", READS)
def test_lost_connection_is_a_storage_error_with_its_cause(catalog, line, name):
    line.is_down = True
    line.hang_up()
    with pytest.raises(StorageError) as caught:
        READS[name](catalog)
    assert caught.value.__cause__ is not None
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - {"register"}))
def test_change_that_never_reaches_the_server_is_a_storage_error(catalog, line, name):
    subject = table(catalog) if name in ("append", "delete", "set-property") else catalog
    line.is_down = True
    line.hang_up()
    with pytest.raises(StorageError) as caught:
        OPERATIONS[name].act(subject)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("reset", [False, True])
def test_idle_connection_that_was_lost_is_replaced(catalog, line, reset):
    line.hang_up(reset=reset)
    assert catalog.list_tables("db") == [("db", "t")]
    line.hang_up(reset=reset)
    catalog.load_table("db.t").append(MORE)
    assert catalog.load_table("db.t").scan().count() == 4


def test_commit_delivered_during_the_outcome_query_is_a_success(catalog, line):
    # PostgreSQL reports the transaction as in progress until the COMMIT arrives.
    loaded = table(catalog)
    slept = []

    def deliver(seconds):
        slept.append(seconds)
        line.deliver()

    catalog.environment = replace(SYSTEM, sleep=deliver)
    line.arm(Cut(Direction.CLIENT, None, Fault.LATE))
    loaded.append(MORE)
    assert line.has_cut
    assert slept
    assert catalog.load_table("db.t").scan().count() == 4


def test_commit_delivered_after_the_client_gave_up_finds_all_its_files(catalog, line):
    loaded = table(catalog)
    line.arm(Cut(Direction.CLIENT, None, Fault.LATE))
    with pytest.raises(CommitStateUnknownException, match=r"db\.t.*nothing was cleaned up") as caught:
        loaded.append(MORE)
    assert caught.value.__cause__ is not None
    line.heal()
    assert catalog.load_table("db.t").scan().count() == 3
    line.deliver()
    # The next writer waits for the lock of the late transaction and commits after it.
    catalog.load_table("db.t").append(MORE)
    assert catalog.load_table("db.t").scan().count() == 5


def test_unknown_outcome_deletes_nothing(catalog, line):
    loaded = table(catalog)
    before = {str(path) for path in Path(loaded.location()).rglob("*")}
    line.arm(Cut(Direction.CLIENT, None, Fault.DOWN))
    with pytest.raises(CommitStateUnknownException):
        loaded.append(MORE)
    left = [Path(path).name for path in {str(path) for path in Path(loaded.location()).rglob("*")} - before]
    assert any(name.endswith(".parquet") for name in left)
    assert any(name.endswith(".metadata.json") for name in left)
    line.heal()
    # The next writer waits for the lock of the transaction whose COMMIT the server has received.
    catalog.load_table("db.t").append(MORE)
    assert catalog.load_table("db.t").scan().count() == 5


def test_waits_for_locks_are_limited(catalog):
    with catalog.engine.connect() as connection:
        assert connection.execute(text("show lock_timeout")).scalar() == "1min"
        connection.rollback()
        assert connection.execute(text("show lock_timeout")).scalar() == "1min"


def test_lock_that_stays_held_is_a_conflict_that_changes_nothing(postgres, database, catalog):
    import psycopg

    with psycopg.connect(postgres.address(database), autocommit=True) as connection:
        connection.execute(f"alter database {database} set lock_timeout = '50ms'")
    uri = catalog.engine.url.render_as_string(hide_password=False)
    with SqlCatalog("cat", uri=uri, warehouse=catalog.properties["warehouse"]) as waiting:
        loaded = waiting.load_table("db.t")
        with loaded.transaction() as transaction:
            transaction.set_properties({"commit.retry.num-retries": "0"})
        with psycopg.connect(postgres.address(database)) as holder:
            holder.execute("select * from iceberg_tables for update")
            with pytest.raises(CommitFailedException, match=r"nothing has changed: .*lock timeout"):
                loaded.append(MORE)
        assert loaded.refresh().scan().count() == 3
        loaded.append(MORE)
        assert loaded.scan().count() == 4


def test_connections_are_not_shared_with_a_forked_child(catalog, tmp_path):
    listed = tmp_path / "listed"
    child = os.fork()
    if child == 0:
        try:
            listed.write_text(repr(catalog.list_tables("db")))
        finally:
            # The objects of a child that exits normally are finalized.
            catalog.__dict__.clear()
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert listed.read_text() == repr([("db", "t")])
    catalog.load_table("db.t").append(pa.table({"id": [7]}))
    assert catalog.load_table("db.t").scan().count() == 4


def test_unreachable_server_is_a_storage_error(driver):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StorageError) as caught:
            SqlCatalog("cat", uri=f"postgresql+{driver}://me:secret@127.0.0.1:{port}/db")
    assert caught.value.__cause__ is not None
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["\0", "a" * 300, "\udc80"])
def test_name_that_the_database_rejects_is_an_icefloe_error(catalog, name):
    with pytest.raises((StorageError, ValidationError)):
        catalog.create_namespace((name,))
    assert catalog.list_namespaces() == [("db",)]


def test_permanent_database_error_is_not_retried(postgres, database, catalog):
    import psycopg

    loaded = table(catalog)
    with psycopg.connect(postgres.address(database), autocommit=True) as connection:
        connection.execute("revoke all on iceberg_tables from public")
        connection.execute("create role reader login")
        connection.execute("grant select on all tables in schema public to reader")
    try:
        uri = postgres.url("psycopg", database=database).replace("postgres@", "reader@")
        with SqlCatalog("cat", uri=uri, warehouse=catalog.properties["warehouse"]) as reader:
            with pytest.raises(StorageError, match="permission denied") as caught:
                reader.load_table("db.t").append(MORE)
            assert isinstance(caught.value.__cause__, psycopg.errors.InsufficientPrivilege)
        assert loaded.refresh().scan().count() == 3
    finally:
        with psycopg.connect(postgres.address(database), autocommit=True) as connection:
            connection.execute("drop owned by reader")
            connection.execute("drop role reader")


def test_url_without_a_driver_uses_one_that_is_installed(postgres, database, tmp_path):
    for scheme in ("postgresql", "postgres"):
        uri = postgres.url("psycopg", database=database).replace("postgresql+psycopg", scheme)
        with SqlCatalog("cat", uri=uri, warehouse=str(tmp_path)) as catalog:
            assert catalog.engine.driver == "psycopg"


def test_missing_driver_is_in_the_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(ValidationError, match=r"no driver for the catalog database.*psycopg2") as caught:
        SqlCatalog("cat", uri="postgresql+psycopg2://me:secret@127.0.0.1/db")
    assert isinstance(caught.value.__cause__, ImportError)
    assert "secret" not in str(caught.value)
