"""Java's Hive catalog and icefloe on one table of a Hive Metastore 3, whose calls Java's client of Hive 2.3 knows."""

from __future__ import annotations

import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hive import calls
from icefloe.catalog.hive.client import Metastore
from icefloe.catalog.hive.lock import LockSettings, table_lock
from icefloe.catalog.hive.structs import ShowLocksRequest
from icefloe.table.environment import SYSTEM
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from pyarrow import parquet
from pyspark import find_spark_home

from tests.catalogs.hive.tables import FAST, NUMBERS
from tests.catalogs.hive_server import hive_server, java
from tests.catalogs.java_gateway import JARS, java_raises
from tests.catalogs.thrift_proxy import ThriftProxy, thrift_proxy
from tests.storage.servers import PATIENCE

pytestmark = pytest.mark.interop

SCHEMA = pa.schema([("id", pa.int64())])
RETRIES = {"commit.retry.num-retries": "100", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "100"}
WRITERS, COMMITS = 2, 4


@dataclass
class SharedMetastore:
    """A metastore with a namespace, a client of icefloe, a client of Java, and the properties that all tables need."""

    java: object
    server: object
    ours: object
    theirs: object
    namespace: str

    def identifier(self, name):
        return self.java.identifier(f"{self.namespace}.{name}")

    def create(self, name="t"):
        return self.ours.create_table((self.namespace, name), SCHEMA, properties=RETRIES)

    def load_java(self, name="t"):
        return self.theirs.loadTable(self.identifier(name))

    def files(self, *numbers):
        """Return Parquet files of one row each, whose table is dropped."""
        source = self.create("source")
        for number in numbers:
            source.append(pa.table({"id": [number]}))
        paths = [path.removeprefix("file:") for path in source.inspect.files()["file_path"].to_pylist()]
        self.ours.drop_table(source.name())
        return {parquet.read_table(path)["id"][0].as_py(): path for path in paths}


@pytest.fixture(scope="module")
def server(java_iceberg, tmp_path_factory):
    """A metastore of version 3 that accepts the lock requests of Java's client, which its test mode refuses.

    Without test mode, a metastore does not create its lock tables.
    """
    directory = tmp_path_factory.mktemp("hive")
    url = f"jdbc:derby:{directory}/database;create=true"
    create_lock_tables(url)
    settings = {"javax.jdo.option.ConnectionURL": url, "metastore.in.test": "false", "hive.in.test": "false"}
    with hive_server(3, directory, settings) as made:
        yield made


def create_lock_tables(url):
    launched = launch_gateway(
        jarpath=str(next((Path(find_spark_home._find_spark_home()) / "jars").glob("py4j-*.jar"))),
        classpath=f"{JARS}/hive-3/*",
        javaopts=["-Xmx256m", "-XX:TieredStopAtLevel=1"],
        java_path=java(),
        die_on_exit=True,
        redirect_stdout=subprocess.DEVNULL,
        redirect_stderr=subprocess.DEVNULL,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=launched))
    conf = gateway.jvm.org.apache.hadoop.conf.Configuration()
    conf.set("javax.jdo.option.ConnectionURL", url)
    gateway.jvm.org.apache.hadoop.hive.metastore.txn.TxnDbUtil.prepDb(conf)
    with java_raises("shutdown"):
        # Derby reports its shutdown as an error.
        gateway.jvm.java.sql.DriverManager.getConnection("jdbc:derby:;shutdown=true")
    gateway.shutdown()


@pytest.fixture
def shared(server, java_iceberg, tmp_path):
    warehouse = str(tmp_path / "warehouse")
    namespace = f"hive_{next(NUMBERS)}_java"
    with load_catalog("hive", uri=server.uri(), warehouse=warehouse, **FAST) as ours:
        ours.create_namespace(namespace)
        theirs = java_iceberg.catalog("hive.HiveCatalog", "hive", uri=server.uri(), warehouse=warehouse)
        yield SharedMetastore(java_iceberg, server, ours, theirs, namespace)


def ids(table):
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def test_java_and_icefloe_commit_in_turn(shared):
    files = shared.files(2, 4)
    mine = shared.create()
    mine.append(pa.table({"id": [1]}))
    java = shared.load_java()
    shared.java.append(java, files[2], 1)
    mine.refresh().append(pa.table({"id": [3]}))
    shared.java.append(java, files[4], 1)
    assert ids(mine.refresh()) == [1, 2, 3, 4]
    java.refresh()
    assert java.currentSnapshot().snapshotId() == mine.current_snapshot().snapshot_id
    java.updateProperties().set("from", "java").commit()
    mine.refresh().delete("id < 3")
    assert mine.properties["from"] == "java"
    assert ids(shared.ours.load_table(mine.name())) == [3, 4]


def test_each_reads_commits_renames_and_drops_tables_of_the_other(shared):
    theirs = shared.theirs.createTable(shared.identifier("theirs"), shared.java.schema())
    table = shared.ours.load_table((shared.namespace, "theirs"))
    table.append(pa.table({"id": [1]}))
    theirs.refresh()
    assert theirs.currentSnapshot().summary().get("total-records") == "1"
    shared.create("mine")
    shared.theirs.renameTable(shared.identifier("mine"), shared.identifier("moved"))
    shared.ours.rename_table((shared.namespace, "theirs"), (shared.namespace, "kept"))
    names = ["kept", "moved"]
    assert shared.ours.list_tables(shared.namespace) == [(shared.namespace, name) for name in names]
    listed = shared.theirs.listTables(shared.java.namespace(shared.namespace))
    assert sorted(name.name() for name in listed) == names
    assert shared.theirs.dropTable(shared.identifier("kept"), False)
    shared.ours.drop_table((shared.namespace, "moved"))
    assert shared.ours.list_tables(shared.namespace) == []


def test_concurrent_commits_of_java_and_icefloe_are_all_there_once(shared):
    files = shared.files(*range(WRITERS * COMMITS))
    mine = shared.create()

    def write_icefloe(writer):
        table = shared.ours.load_table(mine.name())
        for commit in range(COMMITS):
            table.append(pa.table({"id": [100 + writer * COMMITS + commit]}))

    def write_java(writer):
        table = shared.load_java()
        for commit in range(COMMITS):
            shared.java.append(table, files[writer * COMMITS + commit], 1)

    with ThreadPoolExecutor(2 * WRITERS) as pool:
        jobs = [pool.submit(write, writer) for write in (write_icefloe, write_java) for writer in range(WRITERS)]
        for job in jobs:
            job.result()
    count = WRITERS * COMMITS
    table = shared.ours.load_table(mine.name())
    assert ids(table) == [*range(count), *range(100, 100 + count)]
    assert [snapshot.sequence_number for snapshot in table.snapshots()] == list(range(1, 2 * count + 1))


def test_java_waits_for_the_lock_of_icefloe(shared):
    files = shared.files(1)
    mine = shared.create()
    java = shared.load_java()
    with ThreadPoolExecutor(1) as pool:
        with table_lock(Metastore(shared.server.uri()), *mine.name(), LockSettings(), SYSTEM):
            commit = pool.submit(shared.java.append, java, files[1], 1)
            wait_for_locks(shared.server, mine, 2)
            assert not commit.done()
            assert ids(mine.refresh()) == []
        commit.result()
    assert ids(mine.refresh()) == [1]


def test_icefloe_waits_for_the_lock_of_java(shared, tmp_path):
    files = shared.files(1)
    mine = shared.create()
    released = threading.Event()
    with thrift_proxy(shared.server.port) as line, ThreadPoolExecutor(2) as pool:

        def hold_changes(request):
            ThriftProxy.fault_of(line, request)
            if line.functions[-1].startswith("alter_table"):
                released.wait(PATIENCE)

        line.fault_of = hold_changes
        uri = shared.server.uri(line.port)
        distant = shared.java.catalog("hive.HiveCatalog", "far", uri=uri, warehouse=str(tmp_path / "warehouse"))
        table = distant.loadTable(shared.identifier("t"))
        theirs = pool.submit(shared.java.append, table, files[1], 1)
        wait_for_locks(shared.server, mine, 1)
        commit = pool.submit(mine.append, pa.table({"id": [2]}))
        wait_for_locks(shared.server, mine, 2)
        assert shared.ours.load_table(mine.name()).current_snapshot() is None
        released.set()
        theirs.result()
        commit.result()
    assert ids(shared.ours.load_table(mine.name())) == [1, 2]


def wait_for_locks(server, table, count):
    """Wait until a number of locks on a table are held or waited for."""
    deadline = time.monotonic() + PATIENCE
    database, name = table.name()
    with Metastore(server.uri()).session() as session:
        while len(session.call(calls.SHOW_LOCKS, ShowLocksRequest(dbname=database, tablename=name)).locks) < count:
            assert time.monotonic() < deadline, f"expected {count} locks"
            time.sleep(0.01)
