"""Errors of catalogs, schema changes and requirements: texts that users match are PyIceberg's."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import pytest

from tests.interop.names.public import OURS, THEIRS

pytestmark = pytest.mark.interop

MESSAGES = [
    ("catalog.load_table('db.nope')", "Table does not exist: db.nope"),
    ("catalog.drop_table('db.nope')", "Table does not exist: db.nope"),
    ("catalog.create_table('db.t', table.schema())", "Table db.t already exists"),
    ("catalog.create_table('nope.t', table.schema())", r"Namespace does not exist: .*nope"),
    ("catalog.create_namespace('db')", r"Namespace .*db.* already exists"),
    ("catalog.drop_namespace('db')", "Namespace db is not empty"),
    ("catalog.drop_namespace('nope')", "Namespace does not exist: "),
    ("catalog.create_namespace('a. ')", "contains an empty segment or a segment with only whitespace"),
    ("table.update_schema().add_column('id', types.LongType())", "Cannot add column, name already exists: id"),
    ("table.update_schema().add_column('a.b', types.LongType())", "Cannot add column with ambiguous name: a.b"),
    ("table.update_schema().add_column('a', types.LongType(), required=True)", "cannot add required column: a"),
    (
        "table.update_schema().update_column('name', types.LongType())",
        "Cannot change column type: name: string -> long",
    ),
    (
        "table.update_schema().update_column('name', required=True)",
        "Cannot change column nullability: name: optional -> req",
    ),
    ("table.update_schema().move_before('id', 'id')", "Cannot move id before itself"),
    ("table.update_schema().delete_column('nope')", "Could not find field with name nope"),
    ("update.AssertCreate().validate(table.metadata)", "Table already exists"),
    ("update.AssertTableUUID(uuid=uuid.UUID(int=5)).validate(table.metadata)", "Table UUID does not match: .* != "),
    (
        "update.AssertTableUUID(uuid=uuid.UUID(int=5)).validate(None)",
        "Requirement failed: current table metadata is missing",
    ),
    (
        "update.AssertCurrentSchemaId(current_schema_id=5).validate(table.metadata)",
        "Requirement failed: current schema id has changed: expected 5, found 0",
    ),
    (
        "update.AssertLastAssignedFieldId(last_assigned_field_id=5).validate(table.metadata)",
        "Requirement failed: last assigned field id has changed: expected 5, found 2",
    ),
    (
        "update.AssertLastAssignedPartitionId(last_assigned_partition_id=5).validate(table.metadata)",
        "Requirement failed: last assigned partition id has changed: expected 5, found 999",
    ),
    (
        "update.AssertDefaultSpecId(default_spec_id=5).validate(table.metadata)",
        "Requirement failed: default spec id has changed: expected 5, found 0",
    ),
    (
        "update.AssertDefaultSortOrderId(default_sort_order_id=5).validate(table.metadata)",
        "Requirement failed: default sort order id has changed: expected 5, found 0",
    ),
    (
        "update.AssertRefSnapshotId(ref='main', snapshot_id=5).validate(table.metadata)",
        "Requirement failed: branch or tag main is missing, expected 5",
    ),
]


@cache
def names_of(package: str, warehouse: str) -> dict[str, Any]:
    def module(path: str) -> Any:
        return importlib.import_module(f"{package}.{path}")

    types = module("types")
    catalog = module("catalog.sql").SqlCatalog("c", uri=f"sqlite:///{warehouse}/{package}.db", warehouse=warehouse)
    catalog.create_namespace("db")
    fields = (types.NestedField(1, "id", types.LongType()), types.NestedField(2, "name", types.StringType()))
    table = catalog.create_table("db.t", module("schema").Schema(*fields))
    update = module("table.update")
    return {
        "catalog": catalog,
        "table": table,
        "types": types,
        "update": update,
        "uuid": importlib.import_module("uuid"),
    }


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("warehouse"))


@pytest.mark.parametrize(("code", "text"), MESSAGES)
@pytest.mark.parametrize("package", [OURS, THEIRS])
def test_message_has_the_text_that_users_match(code: str, text: str, package: str, warehouse: str) -> None:
    with pytest.raises(Exception, match=text):
        eval(code, names_of(package, warehouse))
