"""Commits of a handle whose head another client has replaced and expired: the files of the handle's version are gone."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import FeatureUnsupportedError, MissingFileError, ValidationException
from icefloe.table import Table


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def staged(table, rows):
    """Stage an append and return its snapshot id."""
    table.append(rows, branch=None, snapshot_properties={"wap.id": "w"})
    return table.refresh().snapshots()[-1].snapshot_id


def expire(catalog, rows):
    """Append a row 20, and expire every snapshot that no ref needs."""
    other = catalog.load_table("db.t")
    other.append(rows)
    other.maintenance.expire_snapshots().older_than("0s").execute()


@pytest.fixture
def table(new_table):
    return new_table()


@pytest.fixture
def row(rows):
    return rows((20, "a", None))


def test_append_is_staged_on_the_newest_version(catalog, table, row):
    expire(catalog, row)
    table.append(pa.table({"id": [7]}))
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7, 20]


def test_changes_of_a_transaction_are_all_staged_on_the_newest_version(catalog, table, row):
    transaction = table.transaction()
    transaction.append(pa.table({"id": [7]}))
    transaction.set_properties({"owner": "me"})
    expire(catalog, row)
    transaction.append(pa.table({"id": [8]}))
    transaction.append(pa.table({"id": [9]}))
    transaction.commit_transaction()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 20]
    assert table.properties["owner"] == "me"


def test_cherry_pick_takes_a_snapshot_that_a_tag_keeps(catalog, table, rows, row):
    picked = staged(table, rows((7, "a", None)))
    table.manage_snapshots().create_tag(picked, "keep").commit()
    expire(catalog, row)
    table.manage_snapshots().cherry_pick(picked).commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7, 20]


def pick(table, picked):
    table.manage_snapshots().cherry_pick(picked).commit()


def publish(table, picked):
    table.manage_snapshots().publish_changes("w").commit()


def pick_in_transaction(table, picked):
    with table.transaction() as transaction:
        transaction.set_properties({"owner": "me"})
        transaction.manage_snapshots().cherry_pick(picked).commit()


@pytest.mark.parametrize("verb", [pick, publish, pick_in_transaction])
@pytest.mark.parametrize("follows_main", [False, True])
def test_expired_snapshot_is_not_picked(catalog, table, rows, row, verb, follows_main):
    picked = staged(table, rows((7, "a", None)))
    if not follows_main:
        table.append(rows((8, "a", None)))
    before = ids(table)
    expire(catalog, row)
    with pytest.raises(
        ValidationException, match=f"cannot cherry-pick snapshot {picked}: a concurrent commit has expired it"
    ):
        verb(table, picked)
    assert ids(table) == sorted([*before, 20])


def delete(table):
    table.delete("id = 1")


def overwrite(table):
    table.overwrite(pa.table({"id": [7]}), "id = 1")


def overwrite_partitions(table):
    table.dynamic_partition_overwrite(pa.table({"id": [7]}))


def update(table):
    table.update("id = 1", {"id": 7})


def upsert(table):
    table.upsert(pa.table({"id": [1], "kind": ["z"], "value": [0.5]}), join_cols=["id"])


def merge(table):
    table.merge(pa.table({"id": [1]}), on=["id"]).when_matched_delete().execute()


def add_files(table):
    metadata = table.metadata if isinstance(table, Table) else table.table_metadata
    location = f"{metadata.location}/added.parquet"
    pq.write_table(pa.table({"id": pa.array([7], pa.int64())}), location)
    table.add_files([location])


OPERATIONS = [delete, overwrite, overwrite_partitions, update, upsert, merge, add_files]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation_on_an_expired_snapshot_says_to_reload(catalog, table, row, mode, operation):
    table.transaction().set_properties(mode).commit_transaction()
    read = table.current_snapshot().snapshot_id
    expire(catalog, row)
    message = (
        f"cannot read snapshot {read}: a concurrent commit has expired it, .* reload the table and repeat the operation"
    )
    with pytest.raises(ValidationException, match=message):
        operation(table)
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 20]
    operation(catalog.load_table("db.t"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_transaction_on_an_expired_snapshot_says_to_reload(catalog, table, row, operation):
    transaction = table.transaction()
    expire(catalog, row)
    with pytest.raises(ValidationException, match="reload the table and repeat the operation"):
        operation(transaction)
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 20]


def upgrade_to_version_3(catalog, table):
    """Replace a table's metadata as a writer of format version 3 does when it upgrades the table."""
    value = {**json.loads(table.metadata.model_dump_json()), "format-version": 3, "next-row-id": 0}
    location = f"{table.location()}/metadata/upgraded.metadata.json"
    table.io.core.write(location, json.dumps(value).encode(), overwrite=False)
    catalog.register_table(table.name(), location, overwrite=True)


def test_snapshot_is_not_added_to_a_table_that_was_upgraded_to_version_3(catalog, table):
    transaction = table.transaction()
    transaction.append(pa.table({"id": [7]}))
    upgrade_to_version_3(catalog, table)
    with pytest.raises(FeatureUnsupportedError, match="version 3"):
        transaction.commit_transaction()
    newest = catalog.load_table("db.t")
    assert (newest.metadata.format_version, len(newest.snapshots())) == (3, 2)
    assert ids(newest) == [1, 2, 3, 4, 5, 6]


def test_properties_are_set_on_a_table_that_was_upgraded_to_version_3(catalog, table):
    transaction = table.transaction().set_properties({"owner": "me"})
    upgrade_to_version_3(catalog, table)
    transaction.commit_transaction()
    assert (table.metadata.format_version, table.properties["owner"]) == (3, "me")


def test_missing_manifest_of_a_live_snapshot_is_reported_by_a_delete(table):
    table.io.core.delete(table.current_snapshot().manifest_list)
    with pytest.raises(MissingFileError, match="snap-"):
        table.delete("id = 1")


def test_missing_file_of_the_newest_version_is_reported(table, rows):
    table.io.core.delete(table.current_snapshot().manifest_list)
    with pytest.raises(MissingFileError, match="snap-"):
        table.append(rows((7, "a", None)))
