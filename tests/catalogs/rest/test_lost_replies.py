"""Faults at every change of a REST catalog: the reported outcome agrees with the state of the catalog."""

from __future__ import annotations

import httpx
import pytest
from icefloe.catalog.rest import TableCommit
from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.table.update import AssertTableUUID, SetPropertiesUpdate
from icefloe.types import StringType

from tests.catalogs.rest.conftest import ROWS, SCHEMA
from tests.catalogs.rest.fault_proxy import Fault


def create_with_rows(client, namespace):
    with client.create_table_transaction((namespace, "new"), SCHEMA) as transaction:
        transaction.append(ROWS)


class Change:
    """A change: a function that makes it, a function that returns whether it took effect, and the path of its request."""

    def __init__(self, make, effect, path="") -> None:
        self.make, self.effect, self.path = make, effect, path


def rows(catalog, namespace):
    return catalog.load_table((namespace, "t")).scan().count()


def commit_several(client, namespace):
    tables = [client.load_table((namespace, name)) for name in ("t", "u")]
    client.commit_transaction(
        [
            TableCommit(
                table.name(),
                (AssertTableUUID(uuid=table.metadata.table_uuid),),
                (SetPropertiesUpdate(updates={"together": "yes"}),),
            )
            for table in tables
        ]
    )


def add_column(client, namespace):
    with client.load_table((namespace, "t")).update_schema() as update:
        update.add_column("note", StringType())


CHANGES = {
    "create namespace": Change(
        lambda client, namespace: client.create_namespace((namespace, "new")),
        lambda catalog, namespace: catalog.namespace_exists((namespace, "new")),
    ),
    "drop namespace": Change(
        lambda client, namespace: client.drop_namespace((namespace, "empty")),
        lambda catalog, namespace: not catalog.namespace_exists((namespace, "empty")),
    ),
    "set namespace properties": Change(
        lambda client, namespace: client.update_namespace_properties(namespace, updates={"a": "b"}),
        lambda catalog, namespace: catalog.load_namespace_properties(namespace).get("a") == "b",
    ),
    "create table": Change(
        lambda client, namespace: client.create_table((namespace, "new"), SCHEMA),
        lambda catalog, namespace: catalog.table_exists((namespace, "new")),
    ),
    "create table with rows": Change(
        create_with_rows,
        lambda catalog, namespace: catalog.table_exists((namespace, "new")),
        # The preceding request only prepares the metadata.
        path="/tables/new",
    ),
    "drop table": Change(
        lambda client, namespace: client.drop_table((namespace, "t")),
        lambda catalog, namespace: not catalog.table_exists((namespace, "t")),
    ),
    "purge table": Change(
        lambda client, namespace: client.purge_table((namespace, "t")),
        lambda catalog, namespace: not catalog.table_exists((namespace, "t")),
    ),
    "rename table": Change(
        lambda client, namespace: client.rename_table((namespace, "t"), (namespace, "new")),
        lambda catalog, namespace: catalog.table_exists((namespace, "new")),
    ),
    "register table": Change(
        lambda client, namespace: client.register_table(
            (namespace, "new"), client.load_table((namespace, "t")).metadata_location
        ),
        lambda catalog, namespace: catalog.table_exists((namespace, "new")),
    ),
    "append": Change(
        lambda client, namespace: client.load_table((namespace, "t")).append(ROWS),
        lambda catalog, namespace: rows(catalog, namespace) == 6,
    ),
    "delete": Change(
        lambda client, namespace: client.load_table((namespace, "t")).delete("id = 1"),
        lambda catalog, namespace: rows(catalog, namespace) == 2,
    ),
    "add column": Change(
        add_column,
        lambda catalog, namespace: len(catalog.load_table((namespace, "t")).schema().fields) == 3,
    ),
    "drop view": Change(
        lambda client, namespace: client.drop_view((namespace, "v")),
        lambda catalog, namespace: not catalog.view_exists((namespace, "v")),
    ),
    "overwrite": Change(
        lambda client, namespace: client.load_table((namespace, "t")).overwrite(ROWS.slice(0, 1)),
        lambda catalog, namespace: rows(catalog, namespace) == 1,
    ),
    "commit several tables": Change(
        commit_several,
        lambda catalog, namespace: catalog.load_table((namespace, "u")).properties.get("together") == "yes",
    ),
}
VIEW = {
    "name": "v",
    "schema": {"type": "struct", "schema-id": 0, "fields": []},
    "view-version": {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": ["db"],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    },
    "properties": {},
}
# Changes whose effect the client can read back: snapshots by id, dropped and renamed tables by name.
FOUND = {"append", "delete", "create table with rows", "drop table", "rename table", "drop view", "overwrite"}

# Changes whose reply is a status without a body: half of it is all of it.
BODILESS = {"drop namespace", "drop table", "purge table", "rename table", "drop view", "commit several tables"}
REFUSALS = (Fault.STATUS_409, Fault.STATUS_503, Fault.STATUS_419, Fault.STATUS_429, Fault.STATUS_403)


def expected_report(name: str, fault: Fault) -> bool | None:
    """Return whether the client reports that a change took effect; None for an unknown outcome."""
    if not fault.is_forwarded:
        return False if fault in REFUSALS else None
    is_complete = fault is Fault.TRUNCATED and name in BODILESS
    return True if name in FOUND or is_complete else None


@pytest.fixture
def scene(catalog, namespace, table):
    catalog.create_table((namespace, "u"), SCHEMA)
    catalog.create_namespace((namespace, "empty"))
    httpx.post(f"{catalog.uri}/v1/namespaces/{namespace}/views", json=VIEW).raise_for_status()
    return namespace


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name.lower())
@pytest.mark.parametrize("name", CHANGES)
def test_reported_outcome_is_the_outcome(catalog, far, proxy, scene, name, fault):
    change = CHANGES[name]
    proxy.arm(fault, times=1 if fault.is_forwarded else 20, path=change.path)
    try:
        change.make(far, scene)
        reported = True
    except CommitStateUnknownException as error:
        reported = None
        text = str(error)
        assert "unknown whether the change took effect" in text
    except IcebergError as error:
        reported = False
        text = str(error)
    assert change.effect(catalog, scene) == fault.is_forwarded
    assert reported is expected_report(name, fault)
    if reported is not True:
        assert "'far'" in text
        assert proxy.uri in text
        assert "token-of-the-test" not in text
        assert "secret=1" not in text
    if "t" in {levels[-1] for levels in catalog.list_tables(scene)}:
        catalog.load_table((scene, "t")).append(ROWS)


@pytest.mark.parametrize("name", CHANGES)
def test_change_succeeds_after_a_server_that_was_not_ready(catalog, far, proxy, scene, waits, name):
    proxy.arm(Fault.STATUS_503, times=2)
    CHANGES[name].make(far, scene)
    assert CHANGES[name].effect(catalog, scene)
    assert len(waits) == 2
    assert waits[0] < waits[1]


def test_files_of_an_unknown_commit_are_kept(catalog, far, proxy, scene):
    """The server replies with an error and the snapshot is not visible, so the outcome stays unknown."""
    proxy.arm(Fault.STATUS_500_BEFORE)
    table = far.load_table((scene, "t"))
    with pytest.raises(CommitStateUnknownException):
        table.append(ROWS)
    location = table.location()
    kept = [
        path for path in table.io.core.list(f"{location}/").column("location").to_pylist() if path.endswith(".parquet")
    ]
    assert len(kept) == 2
