"""Commits: requirements, stale handles, concurrent changes and properties."""

import uuid

import pytest
from icefloe.exceptions import (
    CommitFailedException,
    MissingFileError,
    NoSuchTableError,
    ValidationError,
    ValidationException,
)
from icefloe.table.update import (
    AssertCreate,
    AssertCurrentSchemaId,
    AssertDefaultSortOrderId,
    AssertDefaultSpecId,
    AssertLastAssignedFieldId,
    AssertLastAssignedPartitionId,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetPropertiesUpdate,
)
from icefloe.types import LongType

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import can
from tests.catalogs.conformance.rows import MORE, ROWS, SCHEMA, ids

CHANGE = (SetPropertiesUpdate(updates={"a": "1"}),)
BROKEN = {
    "create": AssertCreate(),
    "uuid": AssertTableUUID(uuid=uuid.UUID(int=7)),
    "snapshot of main": AssertRefSnapshotId(ref="main", snapshot_id=7),
    "main must not exist": AssertRefSnapshotId(ref="main", snapshot_id=None),
    "missing branch": AssertRefSnapshotId(ref="audit", snapshot_id=7),
    "field id": AssertLastAssignedFieldId(last_assigned_field_id=7),
    "schema": AssertCurrentSchemaId(current_schema_id=7),
    "partition id": AssertLastAssignedPartitionId(last_assigned_partition_id=7),
    "spec": AssertDefaultSpecId(default_spec_id=7),
    "sort order": AssertDefaultSortOrderId(default_sort_order_id=7),
}


def change(table, **properties):
    with table.update_properties() as update:
        update.set_properties(properties)


def requirements_of(table):
    metadata = table.metadata
    return (
        AssertTableUUID(uuid=metadata.table_uuid),
        AssertRefSnapshotId(ref="main", snapshot_id=metadata.current_snapshot_id),
        AssertRefSnapshotId(ref="audit", snapshot_id=None),
        AssertLastAssignedFieldId(last_assigned_field_id=metadata.last_column_id),
        AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id),
        AssertLastAssignedPartitionId(last_assigned_partition_id=metadata.last_partition_id),
        AssertDefaultSpecId(default_spec_id=metadata.default_spec_id),
        AssertDefaultSortOrderId(default_sort_order_id=metadata.default_sort_order_id),
    )


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_requirement_is_a_failed_commit(subject, catalog, table, identifier, broken):
    before, files = catalog.load_table(identifier), subject.files(table.location())
    with pytest.raises(CommitFailedException):
        catalog.commit_table(table, (*requirements_of(table), BROKEN[broken]), CHANGE)
    assert catalog.load_table(identifier) == before
    assert subject.files(table.location()) == files


def test_met_requirements_let_a_commit_pass(catalog, other_client, table, identifier):
    response = catalog.commit_table(table, requirements_of(table), CHANGE)
    loaded = other_client.load_table(identifier)
    assert response.metadata.properties["a"] == "1"
    assert (loaded.metadata, loaded.metadata_location) == (response.metadata, response.metadata_location)


def test_requirements_are_checked_on_the_newest_version(catalog, other_client, table, identifier):
    stale = catalog.load_table(identifier)
    other_client.load_table(identifier).append(MORE)
    with pytest.raises(CommitFailedException):
        catalog.commit_table(stale, requirements_of(stale), CHANGE)
    assert "a" not in catalog.load_table(identifier).properties


def test_commit_of_a_stale_handle_keeps_changes_of_others(catalog, other_client, table, identifier):
    stale = other_client.load_table(identifier)
    change(table, a="1", both="first")
    change(stale, b="2", both="second")
    properties = catalog.load_table(identifier).properties
    assert (properties["a"], properties["b"], properties["both"]) == ("1", "2", "second")


def test_append_of_a_stale_handle_keeps_rows_of_others(catalog, other_client, table, identifier):
    stale = other_client.load_table(identifier)
    for _ in range(3):
        table.append(MORE)
    stale.append(MORE)
    assert ids(catalog.load_table(identifier)) == [1, 2, 3, 4, 4, 4, 4]
    assert ids(stale) == [1, 2, 3, 4, 4, 4, 4]


def test_transaction_is_repeated_after_changes_of_others(catalog, other_client, table, identifier):
    with table.transaction() as transaction:
        transaction.append(MORE)
        transaction.set_properties({"a": "1"})
        other = other_client.load_table(identifier)
        other.append(MORE)
        change(other, b="2")
    loaded = other_client.load_table(identifier)
    assert ids(loaded) == [1, 2, 3, 4, 4]
    assert (loaded.properties["a"], loaded.properties["b"]) == ("1", "2")
    assert len(loaded.snapshots()) == 3


def test_transaction_that_conflicts_changes_nothing(catalog, other_client, table, identifier):
    stale = catalog.load_table(identifier)
    transaction = stale.transaction()
    transaction.delete("id = 2")
    other_client.load_table(identifier).delete("id = 2")
    before = other_client.load_table(identifier)
    with pytest.raises(Exception, match=r"\.t\b|concurrent|conflict"):
        transaction.commit_transaction()
    assert other_client.load_table(identifier) == before


def test_schema_change_of_another_client_is_a_conflict(catalog, other_client, table, identifier):
    stale = catalog.load_table(identifier)
    with other_client.load_table(identifier).update_schema() as update:
        update.add_column("x", LongType())
    with pytest.raises(CommitFailedException), stale.update_schema() as update:
        update.add_column("y", LongType())
    assert [field.name for field in other_client.load_table(identifier).schema().fields] == ["id", "name", "x"]


def test_refresh_loads_changes_of_others(catalog, other_client, table, identifier):
    other_client.load_table(identifier).append(MORE)
    assert ids(table) == [1, 2, 3]
    assert ids(table.refresh()) == [1, 2, 3, 4]
    assert table == other_client.load_table(identifier)


def test_commit_to_a_dropped_table_is_refused(subject, catalog, other_client, table, identifier):
    other_client.drop_table(identifier)
    with pytest.raises(NoSuchTableError):
        change(table, a="1")
    # Catalogs that delete the files of a dropped table delete the manifests that the append reads.
    keeps_files = can(type(subject), Capability.DROP_KEEPS_FILES)
    with pytest.raises(NoSuchTableError if keeps_files else MissingFileError):
        table.append(MORE)
    assert not catalog.table_exists(identifier)


def test_commit_to_a_recreated_table_is_refused(subject, catalog, other_client, table, identifier):
    other_client.drop_table(identifier)
    other_client.create_table(identifier, SCHEMA)
    with pytest.raises(ValidationError, match="the table was dropped and created again"):
        change(table, a="1")
    # Catalogs that delete the files of a dropped table delete the manifests that the append reads.
    with pytest.raises(ValidationError if can(type(subject), Capability.DROP_KEEPS_FILES) else MissingFileError):
        table.append(ROWS)
    loaded = other_client.load_table(identifier)
    assert "a" not in loaded.properties
    assert loaded.current_snapshot() is None


def test_properties_are_stored_exactly(catalog, other_client, table, identifier):
    values = {"empty": "", "space": " ", "a.b-c": "1", "ünïcode": "🧊", "quoted": "'\";--", "long": "x" * 5000}
    with table.update_properties() as update:
        update.set_properties(values)
    loaded = other_client.load_table(identifier).properties
    assert {key: loaded[key] for key in values} == values
    with table.transaction() as transaction:
        transaction.remove_properties("empty", "long")
    loaded = other_client.load_table(identifier).properties
    assert not {"empty", "long"} & set(loaded)


def test_metadata_log_lists_the_files_before(catalog, other_client, identifier):
    table = catalog.create_table(identifier, SCHEMA)
    locations = [table.metadata_location]
    for number in range(3):
        change(table, n=str(number))
        locations.append(table.metadata_location)
    loaded = other_client.load_table(identifier)
    assert [entry.metadata_file for entry in loaded.metadata.metadata_log] == locations[:-1]
    assert loaded.metadata_location == locations[-1]
    assert len(set(locations)) == 4


def test_old_metadata_files_are_deleted_after_commit_if_asked(subject, catalog, identifier):
    properties = {
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "2",
    }
    table = catalog.create_table(identifier, SCHEMA, properties=properties)
    for number in range(6):
        change(table, n=str(number))
    logged = [entry.metadata_file for entry in table.metadata.metadata_log]
    assert len(logged) == 2
    found = {path for path in subject.files(table.location()) if path.endswith(".metadata.json")}
    assert found == {*logged, table.metadata_location}
    assert catalog.load_table(identifier).properties["n"] == "5"


def test_old_metadata_files_are_kept_by_default(subject, catalog, identifier):
    table = catalog.create_table(identifier, SCHEMA, properties={"write.metadata.previous-versions-max": "2"})
    for number in range(6):
        change(table, n=str(number))
    found = [path for path in subject.files(table.location()) if path.endswith(".metadata.json")]
    assert len(found) == 7


def test_partition_spec_and_sort_order_return_to_earlier_ones(catalog, other_client, table, identifier):
    table.update_spec().add_identity("id").commit()
    table.update_sort_order().asc("id").commit()
    added = table.metadata
    table.update_spec().remove_field("id").commit()
    table.update_sort_order().commit()
    table.update_spec().add_identity("id").commit()
    table.update_sort_order().asc("id").commit()
    newest = other_client.load_table(identifier).metadata
    assert newest.partition_specs == added.partition_specs
    assert newest.sort_orders == added.sort_orders
    assert (newest.default_spec_id, newest.default_sort_order_id) == (1, 1)
    location = table.metadata_location
    table.update_spec().commit()
    assert other_client.load_table(identifier).metadata_location == location


def test_tag_created_before_the_commit_of_an_expiry_keeps_its_snapshot(
    catalog, other_client, table, identifier, monkeypatch
):
    for _ in range(2):
        table.append(MORE)
    first, second, third = (snapshot.snapshot_id for snapshot in table.snapshots())
    commit, other = catalog.commit_table, other_client.load_table(identifier)

    def race(*arguments):
        monkeypatch.setattr(catalog, "commit_table", commit)
        other.manage_snapshots().create_tag(first, "audit").commit()
        return commit(*arguments)

    monkeypatch.setattr(catalog, "commit_table", race)
    result = table.maintenance.expire_snapshots().older_than("0s").execute()
    loaded = other_client.load_table(identifier)
    assert (result.snapshot_ids, [one.snapshot_id for one in loaded.snapshots()]) == ((second,), [first, third])
    assert loaded.scan().use_ref("audit").count() == 3


def test_spec_that_a_concurrent_commit_removed_is_not_used_by_new_files(catalog, other_client, table, identifier):
    with table.update_spec() as update:
        update.add_identity("name")
    other = other_client.load_table(identifier)
    with other.update_spec() as update:
        update.remove_field("name")
    other.maintenance.expire_snapshots().clean_expired_metadata().execute()
    with pytest.raises(ValidationException, match="a concurrent commit removed the spec"):
        table.append(MORE)
    loaded = other_client.load_table(identifier)
    assert ids(loaded) == ids(other)
