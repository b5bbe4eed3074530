"""Snapshots of version 1 that list their manifests in the table metadata, without a manifest list."""

import json
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "p", LongType()))
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p"))


@pytest.fixture
def catalog(tmp_path):
    made = load_catalog("cat", type="memory", warehouse=str(tmp_path))
    made.create_namespace("db")
    return made


@pytest.fixture
def listed(catalog):
    """A table of version 1 whose snapshots have manifest lists: appends, then a delete that rewrites a file."""
    table = catalog.create_table("db.t", SCHEMA, partition_spec=SPEC, properties={"format-version": "1"})
    for start in (0, 4):
        table.append(pa.table({"id": range(start, start + 4), "p": [0, 0, 1, 1]}))
    table.delete("id = 4")
    return table


@pytest.fixture
def inline(catalog, listed):
    """The same table with its manifests listed in the table metadata."""
    metadata = json.loads(Path(listed.metadata_location).read_text())
    for snapshot in metadata["snapshots"]:
        manifests = listed.inspect.manifests(snapshot["snapshot-id"])
        Path(snapshot.pop("manifest-list")).unlink()
        snapshot["manifests"] = manifests.column("path").to_pylist()
    location = listed.metadata_location.replace("00003-", "00004-")
    Path(location).write_text(json.dumps(metadata))
    Path(listed.metadata_location).unlink()
    return catalog.register_table("db.t", location, overwrite=True)


def register_with_inline_manifests(catalog, table):
    """Register a new version of a table whose snapshots name their manifests themselves."""
    metadata = json.loads(Path(table.metadata_location).read_text())
    for snapshot in metadata["snapshots"]:
        manifests = table.inspect.manifests(snapshot["snapshot-id"])
        del snapshot["manifest-list"]
        snapshot["manifests"] = manifests.column("path").to_pylist()
    version = int(Path(table.metadata_location).name.split("-")[0])
    location = Path(table.metadata_location).with_name(f"{version + 1:05}-{uuid4()}.metadata.json")
    location.write_text(json.dumps(metadata))
    return catalog.register_table("db.t", str(location), overwrite=True)


def without(table, *columns):
    return table.drop_columns(list(columns)).to_pylist()


def test_inspect_returns_manifests_listed_in_a_snapshot(listed, request):
    ids = [snapshot.snapshot_id for snapshot in listed.snapshots()]
    before = [listed.inspect.manifests(snapshot_id) for snapshot_id in ids]
    inline = request.getfixturevalue("inline")
    assert [snapshot.manifest_list for snapshot in inline.snapshots()] == [None] * len(ids)
    for snapshot_id, expected in zip(ids, before, strict=True):
        found = inline.inspect.manifests(snapshot_id)
        assert found.num_rows > 0
        assert without(found, "partition_summaries") == without(expected, "partition_summaries")


@pytest.mark.parametrize("name", ["entries", "files", "data_files", "delete_files", "partitions"])
def test_inspect_reads_entries_of_manifests_listed_in_a_snapshot(listed, request, name):
    ids = [snapshot.snapshot_id for snapshot in listed.snapshots()]
    before = [getattr(listed.inspect, name)(snapshot_id).to_pylist() for snapshot_id in ids]
    inline = request.getfixturevalue("inline")
    assert [getattr(inline.inspect, name)(snapshot_id).to_pylist() for snapshot_id in ids] == before
    assert name == "delete_files" or all(before)


def test_scan_reads_manifests_listed_in_a_snapshot(inline):
    assert sorted(inline.scan().to_arrow().column("id").to_pylist()) == [0, 1, 2, 3, 5, 6, 7]


def test_purge_deletes_files_of_manifests_listed_in_a_snapshot(catalog, inline):
    catalog.purge_table("db.t")
    left = [path for path in Path(inline.location()).rglob("*") if path.is_file()]
    assert left == []


def test_concurrent_snapshot_that_names_its_manifests_is_validated(catalog, listed):
    transaction = catalog.load_table("db.t").transaction()
    transaction.delete("id = 1")
    listed.append(pa.table({"id": [1], "p": [0]}))
    register_with_inline_manifests(catalog, listed)
    with pytest.raises(ValidationException, match="a concurrent commit"):
        transaction.commit_transaction()


@pytest.mark.parametrize("version", [1, 2])
def test_table_with_manifests_listed_in_a_snapshot_is_written(inline, version):
    if version == 2:
        merge_on_read = {"write.delete.mode": "merge-on-read", "commit.manifest.min-count-to-merge": "2"}
        inline.transaction().upgrade_table_version(2).set_properties(merge_on_read).commit_transaction()
    inline.append(pa.table({"id": [8], "p": [0]}))
    inline.delete("id = 1")
    inline.overwrite(pa.table({"id": [60], "p": [1]}), "id = 6")
    inline.rewrite_manifests().commit()
    assert sorted(inline.scan().to_arrow()["id"].to_pylist()) == [0, 2, 3, 5, 7, 8, 60]
    assert all(snapshot.manifest_list is None for snapshot in inline.snapshots()[:3])
    assert all(manifest.added_snapshot_id is not None for manifest in inline.current_snapshot().manifests(inline.io))
    assert inline.metadata.last_sequence_number == (4 if version == 2 else 0)


def test_doctor_names_the_command_that_ends_its_finding(inline):
    def command():
        return {one.code: one.command for one in inline.doctor().findings}.get("inline-manifests", "no finding")

    assert command() == "icefloe --catalog cat rewrite-manifests db.t"
    inline.maintenance.rewrite_manifests().execute()
    assert command() is None
    with inline.update_properties() as update:
        update.set_properties({"history.expire.max-snapshot-age-ms": "1"})
    assert command() == "icefloe --catalog cat expire db.t"
    inline.maintenance.expire_snapshots().execute()
    assert command() == "no finding"


@pytest.fixture
def upgraded(catalog, inline):
    """The table after an upgrade to version 2, with row-level changes that write delete files."""
    modes = {f"write.{operation}.mode": "merge-on-read" for operation in ("delete", "update", "merge")}
    inline.transaction().upgrade_table_version(2).set_properties(modes).commit_transaction()
    return catalog.load_table("db.t")


def ids(table):
    return sorted(table.refresh().scan().to_arrow()["id"].to_pylist())


def test_upgrade_keeps_the_manifests_listed_in_snapshots(upgraded):
    metadata = json.loads(Path(upgraded.metadata_location).read_text())
    assert (metadata["format-version"], metadata["last-sequence-number"]) == (2, 0)
    assert all("manifests" in one and "manifest-list" not in one for one in metadata["snapshots"])
    assert ids(upgraded) == [0, 1, 2, 3, 5, 6, 7]


def test_delete_files_apply_to_files_of_manifests_listed_in_a_snapshot(upgraded):
    upgraded.delete("id = 1")
    upgraded.update("id = 2", {"p": 7})
    upgraded.upsert(pa.table({"id": [3, 11], "p": [1, 1]}), ["id"])
    (deletes,) = write_equality_deletes(upgraded.io, upgraded.metadata, pa.table({"id": [0], "p": [0]}), [1, 2])
    upgraded.new_row_delta().add_deletes(deletes).commit()
    assert ids(upgraded) == [2, 3, 5, 6, 7, 11]
    assert upgraded.inspect.delete_files().num_rows > 1


def test_maintenance_of_an_upgraded_table_ends_the_manifests_listed_in_snapshots(upgraded):
    upgraded.append(pa.table({"id": [9], "p": [0]}))
    upgraded.maintenance.rewrite_data_files().options(rewrite_all=True).execute()
    upgraded.maintenance.expire_snapshots().older_than("0s").execute()
    assert ids(upgraded) == [0, 1, 2, 3, 5, 6, 7, 9]
    assert [one.manifest_paths for one in upgraded.snapshots()] == [None]


def test_changes_after_a_manifest_listed_in_a_snapshot_and_an_upgrade_are_read(catalog, upgraded):
    first = upgraded.snapshots()[0].snapshot_id
    other = catalog.load_table("db.t")
    upgraded.append(pa.table({"id": [1], "p": [0]}))
    with pytest.raises(ValidationException, match="added data"):
        other.delete("id = 1")
    changes = upgraded.incremental_changelog_scan(from_snapshot_id_exclusive=first).to_arrow()
    kinds = zip(changes["_change_type"].to_pylist(), changes["id"].to_pylist(), strict=True)
    assert {*kinds} == {("INSERT", 4), ("INSERT", 5), ("INSERT", 6), ("INSERT", 7), ("DELETE", 4), ("INSERT", 1)}
