"""Changes of Hive catalogs on real metastores that race, lose a reply or are refused."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pyarrow as pa
import pytest
from icefloe.catalog.hive import calls
from icefloe.catalog.hive.client import CallRefusedError
from icefloe.catalog.hive.hive_catalog import MODIFIED
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.exceptions import (
    CommitStateUnknownException,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
)

from tests.catalogs.hive.tables import ROWS, SCHEMA
from tests.catalogs.thrift_proxy import thrift_proxy


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


def repeated(monkeypatch, catalog, call, refusal, unreadable):
    """Have the metastore repeat the next change by `call`, which conflicts with its own effect, and fail the next reads."""
    change, read = catalog._change, catalog._read_call
    failures = []

    def twice(made, *arguments, **others):
        change(made, *arguments, **others)
        if made is call:
            failures.extend([StorageError("the metastore did not reply")] * unreadable)
            raise refusal

    def failing(*arguments):
        if failures:
            raise failures.pop()
        return read(*arguments)

    monkeypatch.setattr(catalog, "_change", twice)
    monkeypatch.setattr(catalog, "_read_call", failing)


REPEATED = {
    "commit": (calls.ALTER_TABLE, CallRefusedError(calls.META, f"{MODIFIED} metadata_location is different")),
    "create": (calls.CREATE_TABLE, CallRefusedError(calls.ALREADY_EXISTS, "table exists")),
    "rename": (calls.ALTER_TABLE, CallRefusedError(calls.INVALID_OPERATION, "table t doesn't exist")),
}


@pytest.mark.parametrize("unreadable", [0, 1, 1000])
@pytest.mark.parametrize("change", REPEATED)
def test_change_that_the_metastore_repeats_is_never_a_failure(
    monkeypatch, hive, catalog, table, namespace, change, unreadable
):
    name = table.name() if change == "commit" else (namespace, "u")
    mine = catalog.load_table(table.name())
    repeated(monkeypatch, catalog, *REPEATED[change], unreadable)
    outcome = pytest.raises(CommitStateUnknownException, match="nothing was cleaned up")
    with outcome if unreadable == 1000 else nullcontext():
        {
            "commit": lambda: mine.append(ROWS),
            "create": lambda: catalog.create_table(name, ROWS.schema),
            "rename": lambda: catalog.rename_table(table.name(), name),
        }[change]()
    assert hive().load_table(name).scan().count() == (3 if change == "commit" else 0)
    assert hive().table_exists(table.name()) is (change != "rename")


def test_rename_that_the_metastore_makes_twice_succeeds(monkeypatch, hive, catalog, table, namespace):
    change = catalog._change

    def twice(made, *arguments, **others):
        change(made, *arguments, **others)
        if made is calls.ALTER_TABLE:
            change(made, *arguments, **others)

    monkeypatch.setattr(catalog, "_change", twice)
    renamed = catalog.rename_table(table.name(), (namespace, "u"))
    assert renamed.metadata.table_uuid == table.metadata.table_uuid
    assert hive().list_tables(namespace) == [(namespace, "u")]


def test_rename_that_the_metastore_makes_twice_succeeds_although_its_old_name_is_taken_again(
    monkeypatch, hive, catalog, table, namespace, tmp_path
):
    change, other = catalog._change, hive(**{"iceberg.engine.hive.lock-enabled": "false"})

    def twice(made, *arguments, **others):
        change(made, *arguments, **others)
        if made is calls.ALTER_TABLE:
            other.create_table((namespace, "t"), SCHEMA, location=f"{tmp_path}/new")
            change(made, *arguments, **others)

    monkeypatch.setattr(catalog, "_change", twice)
    renamed = catalog.rename_table(table.name(), (namespace, "u"))
    assert renamed.metadata.table_uuid == table.metadata.table_uuid
    assert hive().load_table((namespace, "t")).location() == f"{tmp_path}/new"


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("renamed", NoSuchTableError),
        ("dropped and its new name taken", NoSuchTableError),
        ("new name taken", TableAlreadyExistsError),
        ("new namespace dropped", NoSuchNamespaceError),
    ],
)
def test_rename_that_the_metastore_refuses_for_another_change_is_definite(
    monkeypatch, hive, catalog, table, namespace, first, expected
):
    # The other client takes no lock: it would wait for this one's.
    other, change = hive(**{"iceberg.engine.hive.lock-enabled": "false"}), catalog._change
    target = (f"{namespace}_2", "u")
    catalog.create_namespace(target[0])

    def overtake():
        if first == "renamed":
            other.rename_table(table.name(), (namespace, "first"))
        elif first == "new namespace dropped":
            other.drop_namespace(target[0])
        else:
            if first.startswith("dropped"):
                other.drop_table(table.name())
            other.create_table(target, SCHEMA)

    def overtaken_change(made, *arguments, **others):
        if made is calls.ALTER_TABLE:
            monkeypatch.undo()
            overtake()
        return change(made, *arguments, **others)

    monkeypatch.setattr(catalog, "_change", overtaken_change)
    with pytest.raises(expected):
        catalog.rename_table(table.name(), target)


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
