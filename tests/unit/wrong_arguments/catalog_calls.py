"""Right arguments of the calls of a catalog with the table `db.t`."""

from __future__ import annotations

from typing import Any

from icefloe.partitioning import PartitionSpec
from icefloe.table.sorting import UNSORTED_SORT_ORDER

from tests.unit.wrong_arguments.table_calls import SCHEMA, method
from tests.unit.wrong_arguments.walk import FromSubject


def used(result: Any) -> object:
    return result.commit_transaction() if hasattr(result, "commit_transaction") else result


NEW_TABLE = {
    "location": None,
    "partition_spec": PartitionSpec(),
    "sort_order": UNSORTED_SORT_ORDER,
    "properties": {"a": "b"},
}
CREATIONS = {
    name: method(name, identifier, SCHEMA, then=used, **NEW_TABLE)
    for name, identifier in (
        ("create_table", "db.u"),
        ("create_table_if_not_exists", "db.u"),
        ("create_table_transaction", "db.u"),
        ("create_or_replace_table", "db.u"),
        ("create_or_replace_table_transaction", "db.t"),
        ("replace_table", "db.t"),
        ("replace_table_transaction", "db.t"),
    )
}
LOCATION = FromSubject(lambda catalog: catalog.load_table("db.t").metadata_location)
TABLES = {
    "load_table": method("load_table", "db.t"),
    "table_exists": method("table_exists", "db.t"),
    "drop_table": method("drop_table", "db.t"),
    "purge_table": method("purge_table", "db.t"),
    "rename_table": method("rename_table", "db.t", "db.u"),
    "register_table": method("register_table", "db.t", LOCATION, overwrite=True),
    "list_tables": method("list_tables", "db"),
    "commit_table": method("commit_table", FromSubject(lambda catalog: catalog.load_table("db.t")), (), ()),
    "table_properties": method("table_properties", {"a": "b"}),
    "absolute": method("absolute", "/x"),
    "file_io": method("file_io", "/x"),
}
NAMESPACES = {
    "create_namespace": method("create_namespace", "new", {"a": "b"}),
    "create_namespace_if_not_exists": method("create_namespace_if_not_exists", "new", {"a": "b"}),
    "drop_namespace": method("drop_namespace", "empty"),
    "list_namespaces": method("list_namespaces", "db"),
    "load_namespace_properties": method("load_namespace_properties", "db"),
    "namespace_exists": method("namespace_exists", "db"),
    "update_namespace_properties": method("update_namespace_properties", "db", removals={"x"}, updates={"a": "b"}),
}
