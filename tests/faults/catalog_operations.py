"""The operations that change a catalog: names of tables, namespaces, views and several tables at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
from icefloe.catalog.rest.commits import TableCommit
from icefloe.exceptions import NoSuchNamespaceError
from icefloe.table.update import AssertTableUUID, SetPropertiesUpdate

from tests.faults.table_operations import SCHEMA, TableOperation

if TYPE_CHECKING:
    from icefloe.catalog import Catalog

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


def _register(catalog: Catalog, namespace: str) -> None:
    catalog.register_table(f"{namespace}.again", catalog.load_table(f"{namespace}.t").metadata_location)


def _register_first_version(catalog: Catalog, namespace: str) -> None:
    first = catalog.load_table(f"{namespace}.t").metadata.metadata_log[0].metadata_file
    catalog.register_table(f"{namespace}.t", first, overwrite=True)


def _other(namespace: str) -> str:
    """Return the name of a namespace beside the namespace of a sweep."""
    return f"{namespace}_other"


def _create_other(catalog: Catalog, namespace: str) -> None:
    catalog.create_namespace(_other(namespace))


def _create_other_with_properties(catalog: Catalog, namespace: str) -> None:
    catalog.create_namespace(_other(namespace), {"old": "1"})


def _state_of_other(catalog: Catalog, namespace: str) -> Any:
    try:
        properties = catalog.load_namespace_properties(_other(namespace))
    except NoSuchNamespaceError:
        return None
    return {key: properties[key] for key in ("old", "owner") if key in properties}


def _change_properties_of_other(catalog: Catalog, namespace: str) -> None:
    catalog.update_namespace_properties(_other(namespace), removals={"old"}, updates={"owner": "me"})


def _create_view(catalog: Catalog, namespace: str) -> None:
    uri = f"{catalog.properties['uri']}/v1/namespaces/{namespace}/views"
    httpx.post(uri, json=VIEW).raise_for_status()


def _create_second_table(catalog: Catalog, namespace: str) -> None:
    catalog.create_table(f"{namespace}.u", SCHEMA)


def _commit_to_two_tables(catalog: Any, namespace: str) -> None:
    tables = [catalog.load_table(f"{namespace}.{name}") for name in ("t", "u")]
    update = SetPropertiesUpdate(updates={"together": "yes"})
    catalog.commit_transaction(
        [TableCommit(table.name(), (AssertTableUUID(uuid=table.metadata.table_uuid),), (update,)) for table in tables]
    )


CATALOG_OPERATIONS = {
    "register": TableOperation(_register, needs="register"),
    "register over a table": TableOperation(_register_first_version, needs="register over a table"),
    "rename": TableOperation(
        lambda catalog, namespace: catalog.rename_table(f"{namespace}.t", f"{namespace}.renamed"), needs="rename"
    ),
    "drop": TableOperation(lambda catalog, namespace: catalog.drop_table(f"{namespace}.t")),
    "purge": TableOperation(lambda catalog, namespace: catalog.purge_table(f"{namespace}.t"), deletes_files=True),
    "create namespace": TableOperation(_create_other, begins_without_table=True, observed=_state_of_other),
    "drop namespace": TableOperation(
        lambda catalog, namespace: catalog.drop_namespace(_other(namespace)),
        begins_without_table=True,
        surroundings=_create_other,
        observed=_state_of_other,
    ),
    "namespace properties": TableOperation(
        _change_properties_of_other,
        begins_without_table=True,
        needs="namespace properties",
        surroundings=_create_other_with_properties,
        observed=_state_of_other,
    ),
    "drop view": TableOperation(
        lambda catalog, namespace: catalog.drop_view((namespace, "v")),
        begins_without_table=True,
        needs="views",
        surroundings=_create_view,
        observed=lambda catalog, namespace: [name for _, name in catalog.list_views(namespace)],
    ),
    "commit to two tables": TableOperation(
        _commit_to_two_tables, needs="commits to several tables", surroundings=_create_second_table
    ),
}
