"""The files that an expiry deletes, and the files that it must never delete."""

import dataclasses
import json
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.table.maintenance.deletion import delete_files
from icefloe.table.write.equality_deletes import write_equality_deletes

from tests.unit.table.maintenance.every_file import (
    BY_KIND,
    SCHEMA,
    add_statistics,
    files_of,
    future,
    ids_of,
    put,
    rows,
    snapshot_ids,
    table_of_every_kind,
)


def append(table, file):
    """Append a data file that exists already."""
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as change:
        change.append_data_file(file)


def test_file_deleted_and_added_again_stays(table):
    """A file that one commit deletes and a later commit adds again."""
    (file,) = {task.file.file_path: task.file for task in table.scan("id = 3").plan_files()}.values()
    table.new_delete().delete([file.file_path]).commit()
    append(table, file)
    result = table.maintenance.expire_snapshots().older_than(future()).commit()
    assert result.deleted_data_files_count == 0
    assert ids_of(table.scan()) == [1, 2, 3]


def test_rollback_then_expiry_keeps_the_current_rows(table):
    first = snapshot_ids(table)[0]
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    result = table.maintenance.expire_snapshots().older_than(future()).commit()
    assert (ids_of(table.scan()), result.deleted_data_files_count) == ([1], 2)


def test_staged_snapshot_that_was_picked_keeps_its_files(table):
    table.append(rows(7), branch=None, snapshot_properties={"wap.id": "w"})
    staged = next(one.snapshot_id for one in table.snapshots() if (one.summary or {}).get("wap.id") == "w")
    table.append(rows(8))
    table.manage_snapshots().cherry_pick(staged).commit()
    result = table.maintenance.expire_snapshots().older_than(future()).commit()
    assert staged in result.snapshot_ids
    assert ids_of(table.scan()) == [1, 2, 3, 7, 8]


def test_branch_outside_of_main_keeps_its_files(table):
    """Branches that are not ancestors of main, one of them with the only reference to a file."""
    first = snapshot_ids(table)[0]
    table.manage_snapshots().create_branch(first, "dev").commit()
    table.append(rows(5), branch="dev")
    table.overwrite(rows(9))
    table.maintenance.expire_snapshots().older_than(future()).commit()
    assert ids_of(table.scan().use_ref("dev")) == [1, 5]
    assert ids_of(table.scan()) == [9]


def test_expiry_after_rewriting_manifests_keeps_every_row(table):
    table.rewrite_manifests().commit()
    result = table.maintenance.expire_snapshots().older_than(future()).commit()
    assert result.deleted_manifest_files_count == 3
    assert ids_of(table.scan()) == [1, 2, 3]


def test_two_spellings_of_one_file_are_one_file(table):
    """A live file that an expired snapshot names in another spelling."""
    plain = next(iter({task.file.file_path: task.file for task in table.scan("id = 3").plan_files()}.values()))
    path = plain.file_path.removeprefix("file://")
    table.new_delete().delete([plain.file_path]).commit()
    append(table, dataclasses.replace(plain, file_path=f"file:{path}"))
    result = table.maintenance.expire_snapshots().older_than(future()).commit()
    assert result.deleted_data_files_count == 0
    assert ids_of(table.scan()) == [1, 2, 3]


def test_files_outside_of_the_table_stay_and_are_counted(table, catalog):
    other = catalog.create_table("db.source", pa.schema([("id", pa.int64()), ("kind", pa.string())]))
    other.append(rows(50))
    (source,) = {task.file.file_path for task in other.scan().plan_files()}
    copy = source.replace("/source/", "/elsewhere/")
    table.io.core.write(copy, table.io.core.read(source), overwrite=False)
    table.add_files([copy])
    table.overwrite(rows(9))
    plan = table.maintenance.expire_snapshots().older_than(future()).plan()
    assert plan.outside == (copy,)
    result = table.maintenance.execute(plan)
    assert (result.deletion.outside, result.deleted_data_files_count) == ((copy,), 3)
    assert table.io.core.exists(copy)


def test_files_outside_of_the_table_are_deleted_if_allowed(table, catalog):
    elsewhere = table.location().replace("/t", "/elsewhere") + "/a.parquet"
    (own,) = {task.file.file_path for task in table.scan("id = 3").plan_files()}
    table.io.core.write(elsewhere, table.io.core.read(own), overwrite=False)
    table.add_files([elsewhere])
    table.overwrite(rows(9))
    result = table.maintenance.expire_snapshots().older_than(future()).allow_outside().execute()
    assert (result.deletion.outside, result.deleted_data_files_count) == ((), 4)
    assert not table.io.core.exists(elsewhere)


def test_statistics_go_with_their_snapshot_unless_another_shares_them(table):
    first, second, third = snapshot_ids(table)
    add_statistics(table, first)
    add_statistics(table, second, "shared", partition=False)
    shared = table.metadata.statistics[-1].model_copy(update={"snapshot_id": third})
    with table.update_statistics() as update:
        update.set_statistics(shared)
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert result.deleted_statistics_files_count == 2
    assert [file.snapshot_id for file in table.metadata.statistics] == [third]
    assert table.io.core.exists(shared.statistics_path)


def test_files_that_are_not_deleted_are_orphans_later(table):
    result = table.maintenance.expire_snapshots().older_than(future()).delete_files(False).execute()
    assert (len(result.snapshot_ids), result.deletion.deleted_files) == (2, 0)
    plan = table.maintenance.remove_orphan_files().older_than(future()).force().plan()
    assert plan.file_count == 2


def test_storage_that_refuses_deletes_is_reported(table):
    table.overwrite(rows(9))
    core = table.io.core

    class Refusing:
        def __getattr__(self, name):
            return getattr(core, name)

        def delete_many(self, locations):
            return [(location, "refused") for location in locations]

    plan = table.maintenance.expire_snapshots().older_than(future()).plan()

    class Storage:
        core = Refusing()

    deletion = delete_files(Storage(), plan.files, (table.location(),))
    assert (deletion.deleted_files, deletion.deleted_bytes, len(deletion.failures)) == (0, 0, plan.file_count)


def test_missing_files_count_as_deleted(table):
    table.overwrite(rows(9))
    plan = table.maintenance.expire_snapshots().older_than(future()).plan()
    table.io.core.delete_many(plan.files.column("location").to_pylist()[:2])
    result = table.maintenance.execute(plan)
    assert (result.deletion.deleted_files, result.deletion.failures) == (plan.file_count, ())


def test_missing_manifest_of_an_expired_snapshot_is_no_failure(table):
    table.overwrite(rows(9))
    table.io.core.delete(table.snapshots()[0].manifest_list)
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (result.unread, result.is_partial) == ((), False)
    assert ids_of(table.scan()) == [9]


def test_unreadable_manifest_of_a_remaining_snapshot_deletes_nothing(table):
    table.overwrite(rows(9))
    table.manage_snapshots().create_tag(snapshot_ids(table)[1], "v1").commit()
    (manifest, *_) = table.snapshot_by_name("v1").manifests(table.io)
    data = table.io.core.read(manifest.manifest_path)
    table.io.core.write(manifest.manifest_path, data[: len(data) // 2], overwrite=True)
    before = files_of(table)
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (len(result.snapshot_ids), result.deletion.deleted_files, result.is_partial) == (2, 0, True)
    assert before <= files_of(table)
    assert manifest.manifest_path in result.unread[0][1]


def test_missing_list_of_a_remaining_snapshot_deletes_nothing(table):
    table.overwrite(rows(9))
    table.manage_snapshots().create_tag(snapshot_ids(table)[1], "v1").commit()
    kept = table.snapshot_by_name("v1").manifest_list
    table.io.delete(kept)
    before = files_of(table)
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (len(result.snapshot_ids), result.deletion.deleted_files, result.is_partial) == (2, 0, True)
    assert before <= files_of(table)
    assert kept in result.unread[0][1]


def test_delete_files_and_their_manifests_are_deleted_and_counted(catalog):
    """The kinds of files are counted apart, and metadata files stay, which have a rule of their own."""
    table = catalog.create_table("db.deletes", SCHEMA, properties={"write.delete.mode": "merge-on-read"})
    table.append(rows(1, 2, 3))
    table.delete("id = 1")
    keys = write_equality_deletes(table.io, table.metadata, pa.table({"id": [2]}), [1])
    table.new_row_delta().add_deletes(keys[0]).commit()
    table.overwrite(rows(9))
    manifests = {row["path"] for row in table.inspect.all_manifests().to_pylist()}
    used = {row["path"] for row in table.inspect.manifests().to_pylist()}
    versions = {path for path in files_of(table) if path.endswith(".metadata.json")}
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (result.deleted_data_files_count, result.deleted_manifest_files_count) == (1, len(manifests - used))
    assert (result.deleted_position_delete_files_count, result.deleted_equality_delete_files_count) == (1, 1)
    assert versions <= files_of(table)
    assert table.maintenance.remove_orphan_files().older_than(future()).force().plan().is_empty


def test_table_of_every_kind_keeps_all_that_is_live(catalog):
    table = table_of_every_kind(catalog)
    names = ("v1", "dev", "main")
    expected = {name: ids_of(table.scan().use_ref(name)) for name in names}
    orphan = put(table, "data/orphan.parquet")
    table.maintenance.expire_snapshots().older_than(future()).execute()
    assert {name: ids_of(table.scan().use_ref(name)) for name in names} == expected
    table.maintenance.remove_orphan_files().older_than(future()).force().execute()
    assert {name: ids_of(table.scan().use_ref(name)) for name in names} == expected
    assert not table.io.core.exists(orphan)
    table.manage_snapshots().remove_tag("v1").remove_branch("dev").commit()
    table.maintenance.expire_snapshots().older_than(future()).execute()
    assert ids_of(table.scan()) == expected["main"]
    table.maintenance.remove_orphan_files().older_than(future()).force().execute()
    assert ids_of(table.scan()) == expected["main"]


def inline_manifests(table):
    """List the manifests of all snapshots in the metadata, as the first writers of version 1 did; return the table's handle."""
    location = table.metadata_location.removeprefix("file://")
    metadata = json.loads(Path(location).read_text(encoding="utf-8"))
    for snapshot, known in zip(metadata["snapshots"], table.snapshots(), strict=True):
        snapshot["manifests"] = [manifest.manifest_path for manifest in known.manifests(table.io)]
        Path(snapshot.pop("manifest-list").removeprefix("file://")).unlink()
    Path(location).write_text(json.dumps(metadata), encoding="utf-8")
    return table.catalog.load_table(table.name())


@pytest.mark.parametrize("is_inline", [False, True], ids=["lists", "inline"])
def test_snapshots_of_version_1_expire_with_their_files(catalog, is_inline):
    table = catalog.create_table("db.v1", SCHEMA, partition_spec=BY_KIND, properties={"format-version": "1"})
    table.append(rows(1, 2))
    table.append(rows(3, 4))
    table.overwrite(rows(5, 6), "kind = 'k1'")
    if is_inline:
        table = inline_manifests(table)
    data = {path for path in files_of(table) if path.endswith(".parquet")}
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (result.unread, result.is_partial) == ((), False)
    assert len(table.snapshots()) == 1
    assert ids_of(table.scan()) == [2, 4, 5, 6]
    live = {task.file.file_path for task in table.scan().plan_files()}
    assert {path for path in data if path in files_of(table)} == live
    assert result.deleted_data_files_count == len(data - live) == 2
    table.append(rows(7))
    assert (
        table.maintenance.remove_orphan_files()
        .older_than("0s")
        .force()
        .plan()
        .rows()
        .column("orphan_file_location")
        .to_pylist()
        == []
    )
