"""Arguments of wrong types: each call is refused by an error that names the argument, and leaves no file and no commit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import InvalidIdentifierError, ResolveError, ValidationError

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
ROWS = pa.table({"id": [1]})

CALLS: dict[str, tuple[Callable[[Any], object], str]] = {
    "append to an empty branch name": (lambda t: t.append(ROWS, branch=""), "branch: expected the name"),
    "append to a number": (lambda t: t.append(ROWS, branch=5), "branch: expected the name"),
    "summary that sets the operation": (
        lambda t: t.append(ROWS, snapshot_properties={"Operation": "x"}),
        "the commit sets the key 'operation'",
    ),
    "summary with None": (lambda t: t.append(ROWS, snapshot_properties={"a": None}), "None type is not a supported"),
    "summary with a number as key": (lambda t: t.append(ROWS, snapshot_properties={1: "a"}), "name of a property"),
    "summary that is a list": (lambda t: t.append(ROWS, snapshot_properties=["a"]), "expected a mapping"),
    "summary key of a builder": (lambda t: t.new_append().set_summary("operation", "x"), "sets the key 'operation'"),
    "files that are None": (lambda t: t.add_files(None), "add_files: expected the locations of files, got None"),
    "files with a number": (lambda t: t.add_files([7]), "add_files: expected the locations of files, got 7"),
    "tag of a list": (lambda t: t.manage_snapshots().create_tag([], "x"), "expected the id of a snapshot"),
    "tag of None": (lambda t: t.manage_snapshots().create_tag(None, "x"), "expected the id of a snapshot"),
    "tag without a name": (lambda t: t.manage_snapshots().create_tag(head(t), ""), "branch or tag: expected its name"),
    "branch named by a list": (
        lambda t: t.manage_snapshots().remove_branch([]),
        "branch or tag: expected its name, got \\[\\]",
    ),
    "retention that is text": (
        lambda t: t.manage_snapshots().create_branch(head(t), "b", max_ref_age_ms="7"),
        "max_ref_age_ms: expected a whole number, 1 or above, got '7'",
    ),
    "roll back to text": (lambda t: t.manage_snapshots().rollback_to_timestamp("now"), "expected milliseconds since"),
    "format version that is text": (lambda t: t.transaction().upgrade_table_version("2"), "expected 1 or 2, got '2'"),
    "location that is None": (lambda t: t.transaction().update_location(None), "update_location: expected a location"),
    "removed properties in a list": (
        lambda t: t.transaction().remove_properties(["a"]),
        "expected the name of a property, got \\['a'\\]",
    ),
    "column path that is None": (lambda t: t.update_schema().add_column(None, "int"), "column path: expected a name"),
    "column path without a name": (lambda t: t.update_schema().delete_column(()), "column path: expected a name"),
    "column renamed to nothing": (lambda t: t.update_schema().rename_column("id", ""), "column path: expected a name"),
    "union with None": (lambda t: t.update_schema().union_by_name(None), "schema: expected an icefloe.schema.Schema"),
    "statistics that are None": (
        lambda t: t.update_statistics().set_statistics(None),
        "statistics file: expected a StatisticsFile, got None",
    ),
    "catalog location that is a number": (
        lambda t: t.catalog.create_table("db.u", SCHEMA, location=5),
        "location: expected text",
    ),
    "catalog schema that is a dict": (lambda t: t.catalog.create_table("db.u", {}), "schema: expected an icefloe"),
    "catalog spec that is None": (
        lambda t: t.catalog.create_table("db.u", SCHEMA, partition_spec=None),
        "partition spec: expected a PartitionSpec, got None",
    ),
    "catalog order that is None": (
        lambda t: t.catalog.create_table("db.u", SCHEMA, sort_order=None),
        "sort order: expected a SortOrder, got None",
    ),
    "catalog properties that are None": (
        lambda t: t.catalog.create_table("db.u", SCHEMA, properties=None),
        "properties: expected a mapping of names to values, got None",
    ),
}


def head(table: Any) -> int:
    return int(table.current_snapshot().snapshot_id)


@pytest.fixture
def table(tmp_path: Path) -> Any:
    catalog = InMemoryCatalog("cat", str(tmp_path))
    catalog.create_namespace("db")
    made = catalog.create_table("db.t", SCHEMA)
    made.append(ROWS)
    return made


@pytest.mark.parametrize("name", CALLS)
def test_argument_of_a_wrong_type_is_refused(name: str, table: Any, tmp_path: Path) -> None:
    call, message = CALLS[name]
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValidationError, match=message):
        call(table)
    assert sorted(tmp_path.rglob("*")) == before
    assert table.catalog.load_table("db.t").metadata_location == table.metadata_location


@pytest.mark.parametrize("identifier", [None, 7, 1.5, b"db.t", ("db", None)], ids=repr)
def test_identifier_of_a_wrong_type_is_refused(identifier: Any, table: Any) -> None:
    for call in (table.catalog.load_table, table.catalog.drop_table, table.catalog.list_tables):
        with pytest.raises(InvalidIdentifierError, match="expected text in every level"):
            call(identifier)


@pytest.mark.parametrize("name", [None, 1.5, [], b"id"], ids=repr)
def test_column_of_a_wrong_type_is_refused(name: Any, table: Any) -> None:
    for call in (table.update_sort_order().asc, lambda column: table.update_spec().add_field(column, "identity")):
        with pytest.raises(ResolveError, match="column: expected its full name or its field id"):
            call(name)


def test_snapshot_ids_of_numpy_are_accepted(table: Any) -> None:
    with table.manage_snapshots() as manage:
        manage.create_tag(np.int64(head(table)), "tagged")
    assert table.refs()["tagged"].snapshot_id == head(table)
