"""Changes of a catalog with their initial states, and the state of a catalog as read by another client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from icefloe.catalog.sql import SqlCatalog

SCHEMA = pa.schema([("id", pa.int64())])
ROWS = pa.table({"id": [1, 2, 3]})
MORE = pa.table({"id": [4]})


def no_table(catalog: SqlCatalog) -> None:
    catalog.create_namespace("db", {"owner": "me", "old": "1"})


def one_table(catalog: SqlCatalog) -> None:
    no_table(catalog)
    catalog.create_table("db.t", SCHEMA).append(ROWS)


def loose_table(catalog: SqlCatalog) -> None:
    """Create a table in storage that is registered in no catalog."""
    one_table(catalog)
    catalog.drop_table("db.t")


@dataclass(frozen=True)
class Operation:
    """A change of a catalog. `start` creates the initial state, `prepare` returns the argument of the change."""

    start: Callable[[SqlCatalog], None]
    act: Callable
    prepare: Callable[[SqlCatalog], object] = lambda catalog: catalog


def table(catalog: SqlCatalog):
    return catalog.load_table("db.t")


def set_table_property(loaded) -> None:
    with loaded.update_properties() as update:
        update.set_properties({"a": "1"})


def register(catalog: SqlCatalog) -> None:
    metadata = sorted((Path(catalog.properties["warehouse"]) / "db" / "t" / "metadata").glob("*.metadata.json"))
    catalog.register_table("db.t", str(metadata[-1]))


def change_namespace(catalog: SqlCatalog) -> None:
    catalog.update_namespace_properties("db", removals={"old"}, updates={"owner": "you", "new": "2"})


def disconnected(catalog: SqlCatalog) -> SqlCatalog:
    catalog.close()
    return catalog


OPERATIONS = {
    "append": Operation(one_table, lambda loaded: loaded.append(MORE), table),
    "connect-and-append": Operation(one_table, lambda catalog: table(catalog).append(MORE), disconnected),
    "delete": Operation(one_table, lambda loaded: loaded.delete("id = 2"), table),
    "set-property": Operation(one_table, set_table_property, table),
    "create": Operation(no_table, lambda catalog: catalog.create_table("db.t", SCHEMA)),
    "rename": Operation(one_table, lambda catalog: catalog.rename_table("db.t", "db.u")),
    "drop": Operation(one_table, lambda catalog: catalog.drop_table("db.t")),
    "purge": Operation(one_table, lambda catalog: catalog.purge_table("db.t")),
    "register": Operation(loose_table, register),
    "create-namespace": Operation(no_table, lambda catalog: catalog.create_namespace("other", {"owner": "me"})),
    "drop-namespace": Operation(no_table, lambda catalog: catalog.drop_namespace("db")),
    "change-namespace": Operation(no_table, change_namespace),
}


def state_of(catalog: SqlCatalog) -> dict:
    """Return namespaces with their properties, and tables with their rows, properties and number of snapshots."""
    found: dict = {}
    for namespace in catalog.list_namespaces():
        found[namespace] = catalog.load_namespace_properties(namespace)
        for identifier in catalog.list_tables(namespace):
            loaded = catalog.load_table(identifier)
            ids = sorted(loaded.scan().to_arrow()["id"].to_pylist())
            found[identifier] = (ids, dict(loaded.properties), len(loaded.snapshots()))
    return found


def files_of(catalog: SqlCatalog) -> set[str]:
    return {str(path) for path in Path(catalog.properties["warehouse"]).rglob("*") if path.is_file()}


def write_next(catalog: SqlCatalog) -> None:
    """Append to every table, or create a table if there is none, as the next writer after an unknown outcome."""
    tables = [name for namespace in catalog.list_namespaces() for name in catalog.list_tables(namespace)]
    for name in tables:
        loaded = catalog.load_table(name)
        before = loaded.scan().count()
        loaded.append(pa.table({"id": [9]}))
        assert catalog.load_table(name).scan().count() == before + 1
    if not tables:
        catalog.create_namespace_if_not_exists("db")
        catalog.create_table("db.next", SCHEMA).append(ROWS)
