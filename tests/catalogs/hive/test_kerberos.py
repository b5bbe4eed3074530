"""A Hive Metastore that requires Kerberos tickets, with a real key distribution centre."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import StorageError

from tests.catalogs.hive.kerberos_server import SERVICE, key_centre
from tests.catalogs.hive.tables import FAST, entry_of
from tests.catalogs.hive_server import hive_server

KERBEROS = {"hive.kerberos-authentication": "true", **FAST}


@pytest.fixture(scope="module")
def centre(tmp_path_factory):
    pytest.importorskip("kerberos", reason="the package kerberos is not installed: make kerberos")
    pytest.importorskip("puresasl", reason="the package pure-sasl is not installed: make kerberos")
    with key_centre(tmp_path_factory.mktemp("kerberos")) as made:
        yield made


@pytest.fixture(scope="module")
def metastore(centre, tmp_path_factory):
    settings = {
        "hadoop.security.authentication": "kerberos",
        "hive.metastore.sasl.enabled": "true",
        "hive.metastore.kerberos.keytab.file": str(centre.service_keys),
        "hive.metastore.kerberos.principal": SERVICE,
    }
    options = [
        f"-Djava.security.krb5.conf={centre.configuration}",
        "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    ]
    with hive_server(3, tmp_path_factory.mktemp("hive"), settings, options) as server:
        yield server


@pytest.fixture
def connect(centre, metastore, monkeypatch, tmp_path):
    """Return a function that makes a client, for a process with the ticket of a user."""
    for name, value in centre.environment.items():
        monkeypatch.setenv(name, value)
    # The ticket of the service is for the host `localhost`.
    uri = f"thrift://localhost:{metastore.port}"

    def make(**properties):
        return load_catalog("hive", uri=uri, warehouse=str(tmp_path / "warehouse"), **properties)

    return make


def test_tables_are_created_committed_and_dropped_with_a_ticket(connect):
    catalog = connect(**KERBEROS)
    catalog.create_namespace("secured")
    table = catalog.create_table("secured.t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2]}))
    connect(**KERBEROS).load_table("secured.t").append(pa.table({"id": [3]}))
    assert sorted(table.refresh().scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]
    assert entry_of(catalog, ("secured", "t")).parameters["table_type"] == "ICEBERG"
    catalog.rename_table("secured.t", "secured.u")
    catalog.drop_table("secured.u")
    catalog.drop_namespace("secured")
    assert ("secured",) not in catalog.list_namespaces()


def test_client_without_a_ticket_is_refused(connect, monkeypatch, tmp_path):
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/none")
    with pytest.raises(StorageError, match=r"cannot connect.*localhost"):
        connect(**KERBEROS).list_namespaces()


def test_service_name_without_a_principal_is_refused(connect):
    with pytest.raises(StorageError, match=r"cannot connect.*localhost"):
        connect(**KERBEROS, **{"hive.kerberos-service-name": "other"}).list_namespaces()


def test_client_without_kerberos_is_refused(connect):
    with pytest.raises(StorageError):
        connect(**{"hive.metastore.client.socket.timeout": "5"}).list_namespaces()
