"""Addresses and properties of Hive catalogs."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import (
    CommitFailedException,
    NotInstalledError,
    StorageError,
    ValidationError,
)

from tests.catalogs.hive.tables import NUMBERS, ROWS, SCHEMA
from tests.catalogs.thrift_proxy import thrift_proxy


def test_metastore_without_lock_tables_is_a_clear_error(hive4, tmp_path):
    catalog = load_catalog("hive", uri=hive4.uri(), warehouse=str(tmp_path))
    name = f"hive_{next(NUMBERS)}"
    catalog.create_namespace(name)
    table = catalog.create_table((name, "t"), SCHEMA)
    with (
        pytest.raises(CommitFailedException, match=r"engine\.hive\.lock-enabled=false"),
        table.update_properties() as update,
    ):
        update.set_properties(a="1")
    assert "a" not in table.refresh().properties


def test_table_property_disables_locks(hive4, tmp_path):
    catalog = load_catalog("hive", uri=hive4.uri(), warehouse=str(tmp_path))
    name = f"hive_{next(NUMBERS)}"
    catalog.create_namespace(name)
    properties = {"engine.hive.lock-enabled": "false"}
    table = catalog.create_table((name, "t"), pa.schema([("id", pa.int64())]), properties=properties)
    table.append(ROWS)
    assert catalog.rename_table(table.name(), (name, "u")).scan().count() == 3
    catalog.purge_table((name, "u"))


def test_first_address_that_answers_is_used(hive3):
    with thrift_proxy(hive3.port) as line:
        closed = line.port
    catalog = load_catalog("hive", uri=f"thrift://127.0.0.1:{closed},{hive3.uri()}")
    assert ("default",) in catalog.list_namespaces()


def test_address_that_accepts_connections_without_replying_is_passed_over_in_reads(hive3):
    with thrift_proxy(1) as line:
        catalog = load_catalog("hive", uri=f"thrift://127.0.0.1:{line.port},{hive3.uri()}")
        assert ("default",) in catalog.list_namespaces()


def test_no_address_that_replies_is_a_storage_error():
    with thrift_proxy(1) as first, thrift_proxy(1) as second:
        catalog = load_catalog("hive", uri=f"thrift://127.0.0.1:{first.port},thrift://127.0.0.1:{second.port}")
        with pytest.raises(StorageError, match=f"{second.port}, get_all_databases"):
            catalog.list_namespaces()


@pytest.mark.parametrize("uri", ["http://h:1", "thrift://", "thrift://h:x", "h:9083", ""])
def test_invalid_address_is_refused(uri):
    with pytest.raises(ValidationError, match="thrift://host:port"):
        load_catalog("hive", type="hive", uri=uri)


def test_unreachable_metastore_is_a_storage_error():
    with thrift_proxy(1) as line:
        closed = line.port
    with pytest.raises(StorageError, match="check the property 'uri'"):
        load_catalog("hive", uri=f"thrift://127.0.0.1:{closed}").list_namespaces()


def test_server_of_another_protocol_is_a_storage_error():
    def reply(listener):
        client, _ = listener.accept()
        with client:
            client.recv(1 << 16)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        pool.submit(reply, listener)
        catalog = load_catalog("hive", uri=f"thrift://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(StorageError, match="get_all_databases"):
            catalog.list_namespaces()


@pytest.mark.parametrize(
    "key", ["iceberg.hive.lock-timeout-ms", "lock-check-min-wait-time", "iceberg.engine.hive.lock-enabled"]
)
@pytest.mark.parametrize("value", ["x", "-1"])
def test_invalid_property_is_refused(key, value):
    with pytest.raises(ValidationError, match=key):
        load_catalog("hive", uri="thrift://h:1", **{key: value})


def test_kerberos_without_its_package_is_refused(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "kerberos", None)
    with pytest.raises(NotInstalledError, match=r"icefloe\[hive-kerberos\]"):
        load_catalog("hive", uri="thrift://h:1", **{"hive.kerberos-authentication": "true"})
