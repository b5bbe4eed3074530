"""The Hive catalog on real metastores: stored entries, locks, conditional changes, races and lost replies."""

import itertools
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hive import HiveCatalog, calls
from icefloe.catalog.hive.client import CallRefusedError
from icefloe.catalog.hive.structs import Column, GetTableRequest, HiveTable, Serialisation, StorageDescriptor
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NamespaceNotEmptyError,
    NoSuchIcebergTableError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NotInstalledError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.environment import SYSTEM
from icefloe.transforms import DayTransform
from icefloe.types import (
    DecimalType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
    UUIDType,
)

from tests.catalogs.thrift_proxy import thrift_proxy

ROWS = pa.table({"id": [1, 2, 3]})
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="the key"),
    NestedField(2, "at", TimestamptzType()),
    NestedField(3, "tags", MapType(4, StringType(), 5, ListType(6, DecimalType(9, 2)))),
    NestedField(7, "place", StructType(NestedField(8, "city", StringType()), NestedField(9, "code", UUIDType()))),
)
NUMBERS = itertools.count()
KINDS = {"locks": ("hive3", {}), "no-locks": ("hive4", {"iceberg.engine.hive.lock-enabled": "false"})}
FAST = {"iceberg.hive.lock-check-min-wait-ms": "5"}


@pytest.fixture(params=KINDS)
def hive(request, tmp_path):
    """Return a function that makes a client, for the port of a proxy if one is given."""
    fixture, settings = KINDS[request.param]
    server = request.getfixturevalue(fixture)

    def client(port=None, **others):
        properties = {"warehouse": str(tmp_path / "warehouse"), **FAST, **settings, **others}
        made = load_catalog("hive", uri=server.uri(port), **properties)
        made.environment = replace(SYSTEM, sleep=lambda _: None)
        return made

    client.port = server.port
    return client


@pytest.fixture
def catalog(hive):
    return hive()


@pytest.fixture
def namespace(catalog):
    name = f"hive_{next(NUMBERS)}"
    catalog.create_namespace(name)
    return name


@pytest.fixture
def table(catalog, namespace):
    return catalog.create_table((namespace, "t"), pa.schema([("id", pa.int64())]))


@pytest.fixture
def namespace_of_hive3(hive3, tmp_path):
    name = f"hive_{next(NUMBERS)}"
    load_catalog("hive", uri=hive3.uri(), warehouse=str(tmp_path / "warehouse")).create_namespace(name)
    return name


def entry_of(catalog, table):
    metastore = catalog._metastore
    with metastore.session() as session:
        return session.call(calls.GET_TABLE, GetTableRequest(dbName=table[0], tblName=table[1])).table


def test_uri_of_thrift_implies_a_hive_catalog(catalog):
    assert isinstance(catalog, HiveCatalog)


def test_entry_describes_the_table(catalog, namespace):
    spec = PartitionSpec(PartitionField(2, 1000, DayTransform(), "at_day"))
    properties = {"owner": "x", "gc.enabled": "false", "hive.metastore.table.owner": "me"}
    table = catalog.create_table((namespace, "t"), SCHEMA, partition_spec=spec, properties=properties)
    first = table.metadata_location
    with table.update_properties() as update:
        update.set_properties(later="1")
        update.remove_properties("owner")
    entry = entry_of(catalog, table.name())
    parameters = entry.parameters
    assert (entry.owner, entry.tableType, parameters["EXTERNAL"]) == ("me", "EXTERNAL_TABLE", "TRUE")
    assert (parameters["table_type"], parameters["uuid"]) == ("ICEBERG", str(table.metadata.table_uuid))
    assert (parameters["metadata_location"], parameters["previous_metadata_location"]) == (
        table.metadata_location,
        first,
    )
    assert (parameters["external.table.purge"], parameters["later"], parameters["snapshot-count"]) == (
        "false",
        "1",
        "0",
    )
    assert not {"owner", "gc.enabled", "hive.metastore.table.owner", "current-snapshot-id"} & set(parameters)
    assert json.loads(parameters["default-partition-spec"])["fields"][0]["name"] == "at_day"
    assert json.loads(parameters["current-schema"])["fields"][0]["doc"] == "the key"
    assert [(column.name, column.type, column.comment) for column in entry.sd.cols] == [
        ("id", "bigint", "the key"),
        ("at", "timestamp with local time zone", None),
        ("tags", "map<string,array<decimal(9,2)>>", None),
        ("place", "struct<city:string,code:string>", None),
    ]
    assert entry.sd.location == table.location()


def test_entry_counts_files_and_rows(catalog, table):
    table.append(ROWS)
    table.append(ROWS)
    parameters = entry_of(catalog, table.name()).parameters
    assert (parameters["numRows"], parameters["numFiles"], parameters["snapshot-count"]) == ("6", "2", "2")
    assert parameters["current-snapshot-id"] == str(table.current_snapshot().snapshot_id)
    assert "operation" not in json.loads(parameters["current-snapshot-summary"])


def test_entry_for_hive_names_the_storage_handler(catalog, namespace):
    table = catalog.create_table((namespace, "t"), SCHEMA, properties={"engine.hive.enabled": "true"})
    entry = entry_of(catalog, table.name())
    assert entry.parameters["storage_handler"].endswith("HiveIcebergStorageHandler")
    assert entry.sd.serdeInfo.serializationLib.endswith("HiveIcebergSerDe")


def test_timestamps_of_hive_2_have_no_zone(hive, namespace):
    catalog = hive(**{"hive.hive2-compatible": "true"})
    table = catalog.create_table((namespace, "t"), SCHEMA)
    assert entry_of(catalog, table.name()).sd.cols[1].type == "timestamp"


def test_parameters_of_other_engines_are_kept(catalog, table):
    entry = entry_of(catalog, table.name())
    entry.parameters["engine"] = "other"
    catalog._change(calls.ALTER_TABLE, *table.name(), entry, None)
    table.append(ROWS)
    assert entry_of(catalog, table.name()).parameters["engine"] == "other"


def test_tables_of_hive_are_not_listed_loaded_or_dropped(catalog, namespace, tmp_path):
    sd = StorageDescriptor(
        cols=[Column(name="id", type="bigint")], location=f"file:{tmp_path}/plain", serdeInfo=Serialisation()
    )
    plain = HiveTable(
        tableName="plain", dbName=namespace, owner="me", sd=sd, parameters={"a": "b"}, tableType="EXTERNAL_TABLE"
    )
    catalog._change(calls.CREATE_TABLE, plain)
    assert catalog.list_tables(namespace) == []
    assert not catalog.table_exists((namespace, "plain"))
    for change in (catalog.load_table, catalog.drop_table, catalog.purge_table):
        with pytest.raises(NoSuchIcebergTableError, match=r"plain.*not an Iceberg table"):
            change((namespace, "plain"))
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table((namespace, "plain"), SCHEMA)
    assert entry_of(catalog, (namespace, "plain")).parameters["a"] == "b"


def test_namespace_location_and_comment_are_fields_of_the_database(catalog, tmp_path):
    name = f"hive_{next(NUMBERS)}"
    catalog.create_namespace(name, {"location": f"file:{tmp_path}/own", "comment": "text"})
    loaded = catalog.load_namespace_properties(name)
    assert (loaded["location"], loaded["comment"]) == (f"file:{tmp_path}/own", "text")
    assert loaded["hive.metastore.database.owner-type"] == "USER"
    assert catalog.create_table((name, "t"), SCHEMA).location() == f"file:{tmp_path}/own/t"


def test_concurrent_appends_are_all_kept(hive, table):
    def append(_):
        mine = hive().load_table(table.name())
        for _ in range(4):
            mine.append(ROWS)

    with table.update_properties() as update:
        update.set_properties({"commit.retry.num-retries": "100"})
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(4)))
    table.refresh()
    assert len(table.snapshots()) == 16
    assert table.scan().count() == 48


@pytest.mark.parametrize("change", ["commit", "create", "rename", "drop", "create namespace", "drop namespace"])
def test_lost_reply_is_found_to_be_a_success(hive, table, namespace, change):
    with thrift_proxy(hive.port) as line:
        catalog = hive(line.port)
        mine = catalog.load_table(table.name())
        line.fault = "reply"
        {
            "commit": lambda: mine.append(ROWS),
            "create": lambda: catalog.create_table((namespace, "u"), SCHEMA),
            "rename": lambda: catalog.rename_table(table.name(), (namespace, "u")),
            "drop": lambda: catalog.drop_table(table.name()),
            "create namespace": lambda: catalog.create_namespace(f"{namespace}_2"),
            "drop namespace": lambda: catalog.drop_namespace(f"{namespace}_2"),
        }[change]() if change != "drop namespace" else drop_new(catalog, f"{namespace}_2", line)
        assert line.fault is None
    direct = hive()
    if change == "commit":
        assert direct.load_table(table.name()).scan().count() == 3
        assert len(direct.load_table(table.name()).snapshots()) == 1
    assert {"create": 2, "drop": 0}.get(change, 1) == len(direct.list_tables(namespace))
    assert direct.namespace_exists(f"{namespace}_2") is (change == "create namespace")


def drop_new(catalog, name, line):
    line.fault = None
    catalog.create_namespace(name)
    line.fault = "reply"
    catalog.drop_namespace(name)


def test_lost_request_is_unknown_and_deletes_nothing(hive, table):
    with thrift_proxy(hive.port) as line:
        mine = hive(line.port).load_table(table.name())
        line.fault = "request"
        with pytest.raises(CommitStateUnknownException, match="nothing was cleaned up"):
            mine.append(ROWS)
    assert hive().load_table(table.name()).scan().count() == 0
    table.append(ROWS)
    assert table.scan().count() == 3


def test_purge_deletes_nothing_after_a_lost_reply(hive, table):
    table.append(ROWS)
    with thrift_proxy(hive.port) as line:
        catalog = hive(line.port)
        line.fault = "reply"
        with pytest.raises(CommitStateUnknownException):
            catalog.purge_table(table.name())
    assert table.scan().count() == 3


VIOLATED = "the statement was aborted because of a violated constraint"


def overtaken(monkeypatch, catalog, call, overtake, message=VIOLATED):
    """Have the metastore refuse the next change by `call`, which another client overtakes, without a definite exception."""
    change = catalog._change

    def refused(made, *arguments, **others):
        if made is not call:
            return change(made, *arguments, **others)
        monkeypatch.undo()
        overtake()
        cause = CallRefusedError(calls.META, message)
        raise OutcomeUnknownError(str(cause)) from cause

    monkeypatch.setattr(catalog, "_change", refused)


def test_creation_that_the_database_refuses_for_another_is_definite(monkeypatch, hive, catalog, namespace, tmp_path):
    schema, other = pa.schema([("id", pa.int64())]), hive()
    overtaken(
        monkeypatch, catalog, calls.CREATE_TABLE, lambda: other.create_table((namespace, "t"), schema).append(ROWS)
    )
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table((namespace, "t"), schema, location=f"{tmp_path}/own")
    assert list((tmp_path / "own").rglob("*.json")) == []
    assert catalog.load_table((namespace, "t")).scan().count() == 3


def test_creation_that_the_database_refuses_for_a_dropped_namespace_is_definite(
    monkeypatch, hive, catalog, namespace, tmp_path
):
    other = hive()
    overtaken(monkeypatch, catalog, calls.CREATE_TABLE, lambda: other.drop_namespace(namespace))
    with pytest.raises(NoSuchNamespaceError):
        catalog.create_table((namespace, "t"), pa.schema([("id", pa.int64())]), location=f"{tmp_path}/own")
    assert list((tmp_path / "own").rglob("*.json")) == []


def test_creation_without_a_definite_reply_or_table_is_unknown(monkeypatch, catalog, namespace, tmp_path):
    overtaken(monkeypatch, catalog, calls.CREATE_TABLE, lambda: None)
    with pytest.raises(CommitStateUnknownException):
        catalog.create_table((namespace, "t"), pa.schema([("id", pa.int64())]), location=f"{tmp_path}/own")
    assert len(list((tmp_path / "own").rglob("*.json"))) == 1


def test_rename_that_the_database_refuses_for_another_is_definite(monkeypatch, hive, catalog, table, namespace):
    other = hive()
    overtaken(
        monkeypatch,
        catalog,
        calls.ALTER_TABLE,
        lambda: other.create_table((namespace, "u"), pa.schema([("id", pa.int64())])).append(ROWS),
    )
    with pytest.raises(TableAlreadyExistsError, match=r"\.u\b"):
        catalog.rename_table(table.name(), (namespace, "u"))
    assert catalog.list_tables(namespace) == [table.name(), (namespace, "u")]
    assert catalog.load_table(table.name()).scan().count() == 0


def test_rename_of_a_table_that_another_client_renames_meanwhile_finds_no_table(
    monkeypatch, hive, catalog, table, namespace
):
    # The other client takes no lock: it would wait for this one's.
    other = hive(**{"iceberg.engine.hive.lock-enabled": "false"})
    overtaken(
        monkeypatch,
        catalog,
        calls.ALTER_TABLE,
        lambda: other.rename_table(table.name(), (namespace, "first")),
        message=f"table {namespace}.t doesn't exist",
    )
    with pytest.raises(NoSuchTableError, match=r"\.t\b"):
        catalog.rename_table(table.name(), (namespace, "second"))
    assert catalog.list_tables(namespace) == [(namespace, "first")]


def test_namespace_removal_that_the_database_refuses_for_a_new_table_is_definite(monkeypatch, hive, catalog, namespace):
    other = hive()
    overtaken(
        monkeypatch,
        catalog,
        calls.DROP_DATABASE,
        lambda: other.create_table((namespace, "t"), pa.schema([("id", pa.int64())])),
    )
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace(namespace)
    assert catalog.list_tables(namespace) == [(namespace, "t")]


@pytest.mark.parametrize("name", ["a.b", "..", "a ", " a", "a\x1fb"])
def test_table_name_that_the_metastore_changes_or_misreads_is_refused(catalog, table, namespace, name):
    with pytest.raises(ValidationError, match="cannot store the name"):
        catalog.create_table((namespace, name), pa.schema([("id", pa.int64())]))
    with pytest.raises(ValidationError, match="cannot store the name"):
        catalog.rename_table(table.name(), (namespace, name))
    assert catalog.list_tables(namespace) == [table.name()]


def test_table_name_that_cannot_be_locked_is_refused(hive3, namespace_of_hive3, tmp_path):
    locking = load_catalog("hive", uri=hive3.uri(), warehouse=str(tmp_path / "warehouse"), **FAST)
    schema, name = pa.schema([("id", pa.int64())]), (namespace_of_hive3, "n" * 200)
    with pytest.raises(ValidationError, match=r"cannot lock a name of 200 characters; expected at most 128"):
        locking.create_table(name, schema)
    locking.create_table(name, schema, properties={"engine.hive.lock-enabled": "false"}).append(ROWS)
    assert locking.load_table(name).scan().count() == 3


def test_purge_deletes_the_files(catalog, table):
    table.append(ROWS)
    io, location = table.io, table.location()
    catalog.purge_table(table.name())
    assert io.core.list(f"{location}/").num_rows == 0


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


def test_replaced_column_of_an_incompatible_type_is_refused_with_advice(catalog, table):
    table.append(ROWS)
    with pytest.raises(StorageError, match=r"disallow\.incompatible\.col\.type\.changes=false"):
        catalog.replace_table(table.name(), pa.schema([("id", pa.list_(pa.int64()))]))
    assert catalog.load_table(table.name()).scan().count() == 3
