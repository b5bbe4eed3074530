"""Catalogs that store metadata locations: operations that hadoop catalogs do not have."""

from dataclasses import replace

import pyarrow as pa
import pytest
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.catalog.pointer_catalog import StoredVersion
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    MissingFileError,
    NoSuchNamespaceError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.table.environment import SYSTEM

SCHEMA = pa.schema([("id", pa.int64())])


def test_rename_keeps_the_files(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    renamed = pointer_catalog.rename_table("db.a", "db.b")
    assert renamed.metadata_location == table.metadata_location
    with pytest.raises(NoSuchTableError):
        pointer_catalog.load_table("db.a")


def test_rename_to_an_existing_name_is_refused(pointer_catalog):
    pointer_catalog.create_namespace("db")
    pointer_catalog.create_table("db.a", SCHEMA)
    pointer_catalog.create_table("db.b", SCHEMA)
    with pytest.raises(TableAlreadyExistsError):
        pointer_catalog.rename_table("db.a", "db.b")


def test_registered_table_is_the_same_table(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    other = pointer_catalog.register_table("db.b", table.metadata_location)
    assert other.metadata.table_uuid == table.metadata.table_uuid
    with pytest.raises(TableAlreadyExistsError):
        pointer_catalog.register_table("db.b", table.metadata_location)
    pointer_catalog.register_table("db.b", table.metadata_location, overwrite=True)


def test_first_snapshots_of_two_branches_have_different_sequence_numbers(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    pointer_catalog.load_table("db.a").append(pa.table({"id": [1]}), branch="dev")
    table.append(pa.table({"id": [2]}))
    assert [one.sequence_number for one in table.snapshots()] == [1, 2]


def earlier_version(catalog):
    """Return the location of the first metadata of a table with two versions, and the table."""
    catalog.create_namespace("db")
    table = catalog.create_table("db.a", SCHEMA)
    first = table.metadata_location
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    return first, table


def test_lost_registration_of_an_earlier_version_is_no_success(pointer_catalog, monkeypatch):
    first, table = earlier_version(pointer_catalog)
    pointer_catalog.environment = replace(SYSTEM, sleep=lambda _: None)

    def lose_request(*_):
        raise OutcomeUnknownError("no reply")

    monkeypatch.setattr(pointer_catalog, "_swap", lose_request)
    with pytest.raises(CommitStateUnknownException, match="registration"):
        pointer_catalog.register_table("db.a", first, overwrite=True)
    assert pointer_catalog.load_table("db.a").metadata_location == table.metadata_location


def test_repeated_registration_over_a_table_meets_its_own_effect(pointer_catalog, monkeypatch):
    first, _ = earlier_version(pointer_catalog)
    swap = pointer_catalog._swap

    def repeat(*arguments):
        swap(*arguments)
        swap(*arguments)

    monkeypatch.setattr(pointer_catalog, "_swap", repeat)
    pointer_catalog.register_table("db.a", first, overwrite=True)
    assert pointer_catalog.load_table("db.a").metadata_location == first


def test_registration_over_a_table_that_changes_meanwhile_is_refused(pointer_catalog, monkeypatch):
    first, table = earlier_version(pointer_catalog)
    swap = pointer_catalog._swap

    def commit_before(*arguments):
        monkeypatch.undo()
        with table.update_properties() as update:
            update.set_properties({"a": "2"})
        swap(*arguments)

    monkeypatch.setattr(pointer_catalog, "_swap", commit_before)
    with pytest.raises(CommitFailedException):
        pointer_catalog.register_table("db.a", first, overwrite=True)
    assert pointer_catalog.load_table("db.a").properties["a"] == "2"


def test_metadata_files_are_numbered(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    assert table.metadata_location.rsplit("/", 1)[-1].startswith("00000-")
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert table.metadata_location.rsplit("/", 1)[-1].startswith("00001-")


def test_namespace_properties_are_set_and_removed(pointer_catalog):
    pointer_catalog.create_namespace("db", {"owner": "me", "old": "1"})
    summary = pointer_catalog.update_namespace_properties("db", removals={"old", "none"}, updates={"new": "2"})
    assert (summary.removed, summary.updated, summary.missing) == (["old"], ["new"], ["none"])
    assert pointer_catalog.load_namespace_properties("db") == {"owner": "me", "new": "2"}
    with pytest.raises(ValidationError, match="both"):
        pointer_catalog.update_namespace_properties("db", removals={"a"}, updates={"a": "1"})


def test_old_metadata_files_are_deleted_after_commit(pointer_catalog):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table(
        "db.a",
        SCHEMA,
        properties={
            "write.metadata.delete-after-commit.enabled": "true",
            "write.metadata.previous-versions-max": "2",
        },
    )
    first = table.metadata_location
    for number in range(4):
        with table.update_properties() as update:
            update.set_properties({"n": str(number)})
    logged = [entry.metadata_file for entry in table.metadata.metadata_log]
    assert len(logged) == 2
    assert not table.io.core.exists(first)
    assert all(table.io.core.exists(path) for path in logged)


@pytest.mark.parametrize(
    "name", ["a b", "100%", "it's", 'a"b', "a_b", "a\\b", "a;b", "täble", "a.b", "-- x", "?", ":x", "%s"]
)
def test_names_with_special_characters_are_accepted(pointer_catalog, name):
    pointer_catalog.create_namespace(("n", name.replace(".", "")))
    namespace = ("n", name.replace(".", ""))
    table = pointer_catalog.create_table((*namespace, name), SCHEMA)
    table.append(pa.table({"id": [1]}))
    assert pointer_catalog.list_tables(namespace) == [(*namespace, name)]
    assert pointer_catalog.list_namespaces("n") == [namespace]
    renamed = pointer_catalog.rename_table((*namespace, name), (*namespace, name + "2"))
    assert renamed.scan().count() == 1
    pointer_catalog.drop_table((*namespace, name + "2"))
    pointer_catalog.drop_namespace(namespace)
    assert not pointer_catalog.namespace_exists("n")


@pytest.mark.parametrize("identifier", [("db", "../../t"), ("db", ".."), ("a/b", "t"), ("db", "a/b")])
def test_name_outside_the_warehouse_needs_a_location(pointer_catalog, identifier, tmp_path):
    pointer_catalog.create_namespace(identifier[:-1])
    with pytest.raises(ValidationError, match="pass location="):
        pointer_catalog.create_table(identifier, SCHEMA)
    table = pointer_catalog.create_table(identifier, SCHEMA, location=str(tmp_path / "own"))
    assert table.location() == str(tmp_path / "own")


def test_table_is_not_created_in_or_renamed_to_a_dropped_namespace(pointer_catalog):
    # As when the namespace is dropped between the look at it and the change.
    pointer_catalog.create_namespace("db")
    pointer_catalog.create_table("db.t", SCHEMA)
    with pytest.raises(NoSuchNamespaceError):
        pointer_catalog._insert(("dropped",), "t", StoredVersion("/x", None))
    with pytest.raises(NoSuchNamespaceError):
        pointer_catalog._rename((("db",), "t"), (("dropped",), "t"))
    assert pointer_catalog.list_namespaces() == [("db",)]
    assert pointer_catalog.list_tables("db") == [("db", "t")]


def test_rename_fails_if_metadata_cannot_be_read(pointer_catalog):
    # The handle of the renamed table needs the metadata: an error after the rename would read like a failure of it.
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.t", SCHEMA)
    table.io.core.delete_many([table.metadata_location])
    with pytest.raises(MissingFileError):
        pointer_catalog.rename_table("db.t", "db.u")
    assert pointer_catalog.list_tables("db") == [("db", "t")]


def repeated(pointer_catalog, name, error):
    """Let the store carry out a change and report a conflict, as after a repeated request."""
    change = getattr(pointer_catalog, name)

    def change_twice(*args):
        change(*args)
        raise error

    return change_twice


def test_commit_that_conflicts_with_its_own_effect_has_taken_effect(pointer_catalog, monkeypatch):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    conflict = CommitFailedException("simulated")
    monkeypatch.setattr(pointer_catalog, "_swap", repeated(pointer_catalog, "_swap", conflict))
    table.append(pa.table({"id": [1]}))
    loaded = pointer_catalog.load_table("db.a")
    assert loaded.scan().to_arrow().column("id").to_pylist() == [1]
    assert len(loaded.snapshots()) == 1


def test_creation_that_conflicts_with_its_own_effect_has_taken_effect(pointer_catalog, monkeypatch):
    pointer_catalog.create_namespace("db")
    conflict = TableAlreadyExistsError("simulated")
    monkeypatch.setattr(pointer_catalog, "_insert", repeated(pointer_catalog, "_insert", conflict))
    table = pointer_catalog.create_table("db.a", SCHEMA)
    assert pointer_catalog.load_table("db.a").metadata_location == table.metadata_location


def test_conflict_after_which_the_table_cannot_be_read_is_unknown_and_deletes_nothing(pointer_catalog, monkeypatch):
    pointer_catalog.create_namespace("db")
    table = pointer_catalog.create_table("db.a", SCHEMA)
    pointer, swap = pointer_catalog._pointer, pointer_catalog._swap

    def lost_pointer(*args):
        raise StorageError("simulated")

    def swap_and_disconnect(*args):
        swap(*args)
        monkeypatch.setattr(pointer_catalog, "_pointer", lost_pointer)
        raise CommitFailedException("simulated")

    monkeypatch.setattr(pointer_catalog, "_swap", swap_and_disconnect)
    with pytest.raises(CommitStateUnknownException, match="nothing was cleaned up"):
        table.append(pa.table({"id": [1]}))
    monkeypatch.setattr(pointer_catalog, "_pointer", pointer)
    assert pointer_catalog.load_table("db.a").scan().to_arrow().num_rows == 1
