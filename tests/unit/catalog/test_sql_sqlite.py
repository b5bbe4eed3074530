"""SQLite: locks, failing disks, threads over one database in memory."""

import copy
import pickle
import resource
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import CommitFailedException, CommitStateUnknownException, StorageError, ValidationError
from icefloe.table.environment import SYSTEM

SCHEMA = pa.schema([("id", pa.int64())])
ROWS = pa.table({"id": [1, 2]})


class CatalogWithoutSleep(SqlCatalog):
    """A catalog that does not wait between status checks."""

    environment = replace(SYSTEM, sleep=lambda _: None)


@pytest.fixture
def catalog(tmp_path):
    uri = f"sqlite:///{tmp_path}/catalog.db?timeout=0.05"
    with CatalogWithoutSleep("cat", uri=uri, warehouse=str(tmp_path / "w")) as made:
        made.create_namespace("db")
        made.create_table("db.t", SCHEMA, properties={"commit.retry.num-retries": "1", "commit.retry.min-wait-ms": "1"})
        yield made


@pytest.fixture
def lock(tmp_path):
    """A connection that holds the database's lock."""
    connection = sqlite3.connect(tmp_path / "catalog.db", check_same_thread=False)
    connection.execute("begin immediate")
    yield connection
    connection.close()


def files(catalog):
    return {str(path) for path in Path(catalog.properties["warehouse"]).rglob("*") if path.is_file()}


def test_commits_sync_the_removal_of_the_journal(catalog):
    with catalog.engine.connect() as connection:
        synchronous = connection.exec_driver_sql("PRAGMA synchronous").scalar_one()
    assert synchronous == 3, "3 is EXTRA: by default a power cut can undo a commit that was reported"


def test_commit_to_a_locked_database_fails_and_leaves_no_files(catalog, lock):
    table = catalog.load_table("db.t")
    before = files(catalog)
    with pytest.raises(CommitFailedException, match="database is locked") as caught:
        table.append(ROWS)
    assert isinstance(caught.value.__cause__, CommitFailedException)
    assert isinstance(caught.value.__cause__.__cause__, sqlite3.OperationalError)
    assert files(catalog) == before
    lock.rollback()
    table.append(ROWS)
    assert catalog.load_table("db.t").scan().count() == 2


def test_commit_fails_while_readers_lock_the_database(catalog, tmp_path):
    # A reader holds off the end of a commit, not its statements.
    table = catalog.load_table("db.t")
    before = files(catalog)
    with sqlite3.connect(tmp_path / "catalog.db") as reader:
        reader.execute("begin")
        reader.execute("select * from iceberg_tables").fetchall()
        with pytest.raises(CommitFailedException, match="database is locked"):
            table.append(ROWS)
    assert files(catalog) == before


def test_locked_database_refuses_other_changes(catalog, lock):
    for change in (
        lambda: catalog.create_namespace("other"),
        lambda: catalog.drop_table("db.t"),
        lambda: catalog.rename_table("db.t", "db.u"),
    ):
        with pytest.raises(CommitFailedException, match="nothing has changed: database is locked"):
            change()
    lock.rollback()
    assert catalog.list_tables("db") == [("db", "t")]
    assert catalog.list_namespaces() == [("db",)]


def test_failing_disk_at_commit_is_unknown_and_deletes_nothing(catalog, tmp_path):
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        connection.execute("create table filler (text)")
        connection.executemany("insert into filler values (?)", [("x" * 3000,)] * 20)
        for number in range(20):
            row = ("cat", "db", f"f{number}", "/x" * 400, None, "TABLE")
            connection.execute("insert into iceberg_tables values (?, ?, ?, ?, ?, ?)", row)
    catalog.create_table("db.z", SCHEMA)
    table = catalog.load_table("db.z")
    before = files(catalog)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The database is larger than a file may grow now: its pages cannot be written at COMMIT, new small files can.
    resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, limits[1]))
    try:
        with pytest.raises(CommitStateUnknownException) as caught:
            table.append(ROWS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert any(path.endswith(".parquet") for path in files(catalog) - before)
    assert catalog.load_table("db.z").scan().count() == 0
    catalog.load_table("db.z").append(ROWS)
    assert catalog.load_table("db.z").scan().count() == 2


def test_read_only_database_is_a_storage_error(catalog, tmp_path):
    uri = f"sqlite:///file:{tmp_path}/catalog.db?mode=ro&uri=true"
    reader = SqlCatalog("cat", uri=uri, warehouse=catalog.properties["warehouse"])
    with pytest.raises(StorageError, match="readonly database"):
        reader.load_table("db.t").append(ROWS)


@pytest.mark.parametrize("database", ["", "file"])
def test_threads_that_share_a_database_keep_each_others_changes(tmp_path, database):
    uri = "sqlite://" if database == "" else f"sqlite:///{tmp_path}/shared.db"
    retries = {"commit.retry.num-retries": "50", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "20"}
    with SqlCatalog("cat", uri=uri, warehouse=str(tmp_path / "w")) as catalog:
        catalog.create_namespace("db")
        catalog.create_table("db.t", SCHEMA, properties=retries)
        start = threading.Barrier(4)

        def change(writer):
            table = catalog.load_table("db.t")
            start.wait()
            for number in range(5):
                catalog.update_namespace_properties("db", updates={f"{writer}": str(number), "shared": str(writer)})
                table.append(pa.table({"id": [10 * writer + number]}))
                catalog.list_tables("db")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(change, range(4)))
        properties = catalog.load_namespace_properties("db")
        assert {properties[f"{writer}"] for writer in range(4)} == {"4"}
        found = catalog.load_table("db.t").scan().to_arrow()["id"].to_pylist()
        assert sorted(found) == [10 * writer + number for writer in range(4) for number in range(5)]


def test_pickled_table_commits_by_connections_of_its_own(catalog):
    table = catalog.load_table("db.t")
    pickle.loads(pickle.dumps(table)).append(ROWS)
    copy.deepcopy(table).refresh().append(ROWS)
    assert table.refresh().scan().count() == 4


def test_catalog_in_memory_is_not_pickled_as_another_one():
    message = "cannot pickle it, since it is in the memory of this process"
    with SqlCatalog("cat", uri="sqlite://") as catalog, pytest.raises(ValidationError, match=message):
        pickle.dumps(catalog)
