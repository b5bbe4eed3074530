"""Snapshot expiry: the snapshots that go, the files that are deleted, and what must never be deleted."""

import dataclasses
import json
import pickle
from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest
from icefloe.exceptions import CommitFailedException, CommitStateUnknownException, ValidationError
from icefloe.table.maintenance.deletion import delete_files
from icefloe.types import StringType

from tests.unit.table.maintenance.every_file import (
    BY_KIND,
    SCHEMA,
    add_statistics,
    files_of,
    ids_of,
    put,
    rows,
    table_of_every_kind,
)

NOW = "0s"


@pytest.fixture
def table(catalog):
    """Three snapshots of one file each: rows 1, 2 and 3."""
    made = catalog.create_table("db.t", pa.schema([("id", pa.int64()), ("kind", pa.string())]))
    for number in (1, 2, 3):
        made.append(rows(number))
    return made


def append(table, file):
    """Append a data file that exists already."""
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as change:
        change.append_data_file(file)


def future():
    return datetime.now(timezone.utc) + timedelta(hours=1)


def snapshot_ids(table):
    return [snapshot.snapshot_id for snapshot in table.snapshots()]


def test_older_than_removes_snapshots_with_their_lists_and_no_live_file(table):
    first, second, third = snapshot_ids(table)
    before = files_of(table)
    result = table.maintenance.expire_snapshots().older_than(future()).commit()
    assert (result.snapshot_ids, snapshot_ids(table)) == ((first, second), [third])
    assert ids_of(table.scan()) == [1, 2, 3]
    assert (result.deleted_manifest_lists_count, result.deleted_data_files_count) == (2, 0)
    gone = before - files_of(table)
    assert {path.rpartition("/")[2].split("-")[0] for path in gone} == {"snap"}


def test_rewritten_rows_are_deleted_with_their_last_snapshot(table):
    table.overwrite(rows(9))
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (result.deleted_data_files_count, result.deleted_manifest_lists_count) == (3, 3)
    assert ids_of(table.scan()) == [9]
    data = [path for path in files_of(table) if path.endswith(".parquet")]
    assert len(data) == 1
    assert result.deletion.deleted_bytes > 0


def test_second_run_finds_nothing(table):
    table.maintenance.expire_snapshots().older_than(future()).execute()
    location = table.metadata_location
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (result.snapshot_ids, result.deletion.deleted_files, table.metadata_location) == ((), 0, location)


def test_plan_changes_nothing_and_is_executed_exactly(table):
    table.overwrite(rows(9))
    before, location = files_of(table), table.metadata_location
    plan = pickle.loads(pickle.dumps(table.maintenance.expire_snapshots().older_than(future()).plan()))
    assert (files_of(table), table.metadata_location) == (before, location)
    assert plan.rows().column("reason").null_count == 0
    assert plan.rows().column("expires").to_pylist() == [True, True, True, False, False]
    table.append(rows(10))
    result = table.maintenance.execute(plan)
    assert result.snapshot_ids == plan.retention.expired_ids
    assert result.deletion.deleted_files == plan.file_count
    assert before - files_of(table) == set(plan.files.column("location").to_pylist())
    assert ids_of(table.scan()) == [9, 10]


def test_plan_is_refused_if_a_snapshot_has_become_a_head(table):
    plan = table.maintenance.expire_snapshots().older_than(future()).plan()
    table.manage_snapshots().create_tag(snapshot_ids(table)[0], "audit").commit()
    before = files_of(table)
    with pytest.raises(ValidationError, match="has become the head of tag 'audit'; make a new plan"):
        table.maintenance.execute(plan)
    assert files_of(table) == before


def test_plan_is_refused_a_second_time(table):
    plan = table.maintenance.expire_snapshots().older_than(future()).plan()
    table.maintenance.execute(plan)
    with pytest.raises(ValidationError, match="is gone already; make a new plan"):
        table.maintenance.execute(plan)


def test_plan_of_another_table_is_refused(table, catalog):
    plan = table.maintenance.expire_snapshots().older_than(future()).plan()
    other = catalog.create_table("db.other", pa.schema([("id", pa.int64())]))
    with pytest.raises(ValidationError, match=r"made from the table of uuid .* but table db\.other has uuid"):
        other.maintenance.execute(plan)
    orphans = other.maintenance.remove_orphan_files().plan()
    with pytest.raises(ValidationError, match="expected a plan of expire_snapshots, got a plan of remove_orphan_files"):
        other.maintenance.expire_snapshots().execute(orphans)


def test_ids_alone_expire_nothing_by_age(table):
    first, second, third = snapshot_ids(table)
    with table.update_properties() as update:
        update.set_properties({"history.expire.max-snapshot-age-ms": "1"})
    table.maintenance.expire_snapshots().by_id(second).commit()
    assert snapshot_ids(table) == [first, third]
    assert ids_of(table.scan(snapshot_id=first)) == [1]
    assert ids_of(table.scan()) == [1, 2, 3]


def test_id_in_the_middle_keeps_files_of_earlier_snapshots(table):
    """An id in the middle of the history, whose files earlier kept snapshots have."""
    first, second, third = snapshot_ids(table)
    table.delete("id = 1")
    fourth = table.current_snapshot().snapshot_id
    table.maintenance.expire_snapshots().by_ids([second, third]).commit()
    assert snapshot_ids(table) == [first, fourth]
    assert ids_of(table.scan(snapshot_id=first)) == [1]
    assert ids_of(table.scan()) == [2, 3]


def test_wrong_ids_and_numbers_are_refused(table):
    expiry = table.maintenance.expire_snapshots()
    with pytest.raises(ValidationError, match=r"table db\.t: there is no snapshot 5 to expire"):
        expiry.by_id(5)
    with pytest.raises(ValidationError, match="it is the head of branch 'main'"):
        expiry.by_id(table.current_snapshot().snapshot_id)
    for count in (0, -1, True, "2"):
        with pytest.raises(ValidationError, match="retain_last: expected a whole number, 1 or above"):
            expiry.retain_last(count)
    with pytest.raises(ValidationError, match="older_than: expected"):
        expiry.older_than("")


def test_disabled_garbage_collection_is_refused_before_work(table):
    expiry = table.maintenance.expire_snapshots().older_than(future())
    with table.update_properties() as update:
        update.set_properties({"gc.enabled": "false"})
    for make in (table.maintenance.expire_snapshots, table.maintenance.remove_orphan_files, expiry.execute):
        with pytest.raises(ValidationError, match=r"gc\.enabled is false"):
            make()
    assert len(snapshot_ids(table)) == 3


def test_table_without_snapshots_expires_nothing(catalog):
    empty = catalog.create_table("db.empty", pa.schema([("id", pa.int64())]))
    plan = empty.maintenance.expire_snapshots().plan()
    assert (plan.is_empty, plan.rows().num_rows, plan.file_count, plan.total_bytes) == (True, 0, 0, 0)
    assert empty.maintenance.execute(plan).snapshot_ids == ()


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


def test_snapshot_log_ends_before_the_removed_snapshots(table):
    first, second, third = snapshot_ids(table)
    table.maintenance.expire_snapshots().by_id(second).execute()
    assert [entry.snapshot_id for entry in table.history()] == [third]
    assert table.snapshot_by_id(first) is not None


def test_retention_settings_of_tags_remove_tags(table):
    first = snapshot_ids(table)[0]
    table.manage_snapshots().create_tag(first, "v1").commit()
    result = table.maintenance.expire_snapshots().older_than(future()).max_ref_age(NOW).execute()
    assert (result.refs, set(table.refs())) == (("v1",), {"main"})
    assert first in result.snapshot_ids


def test_unused_schemas_and_specs_are_removed_on_request(catalog):
    table = catalog.create_table("db.evolved", SCHEMA, partition_spec=BY_KIND)
    table.append(rows(1))
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "v1").commit()
    table.update_spec().remove_field("kind").commit()
    table.update_schema().add_column("note", StringType()).commit()
    for _ in range(2):
        table.overwrite(pa.table({"id": [2], "kind": ["k0"], "note": ["n"]}))

    def clean():
        result = table.maintenance.expire_snapshots().older_than(future()).clean_expired_metadata().execute()
        return result.schema_ids, result.spec_ids

    assert clean() == ((), ())
    table.manage_snapshots().remove_tag("v1").commit()
    assert clean() == ((0,), (0,))
    assert clean() == ((), ())
    assert (set(table.schemas()), set(table.specs())) == ({1}, {1})
    assert ids_of(table.scan()) == [2]


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


def test_unknown_outcome_deletes_nothing(table, catalog, monkeypatch):
    before = files_of(table)
    commit = catalog.commit_table

    def lose_the_reply(*arguments):
        commit(*arguments)
        raise CommitStateUnknownException("the reply was lost")

    monkeypatch.setattr(catalog, "commit_table", lose_the_reply)
    with pytest.raises(CommitStateUnknownException, match="the reply was lost"):
        table.maintenance.expire_snapshots().older_than(future()).execute()
    assert before <= files_of(table)


def test_tag_created_between_plan_and_commit_keeps_its_snapshot(table, catalog, monkeypatch):
    """A tag that appears after the snapshots were chosen is neither lost nor are its files deleted."""
    first, second, third = snapshot_ids(table)
    commit, other = catalog.commit_table, catalog.load_table("db.t")

    def race(*arguments):
        monkeypatch.setattr(catalog, "commit_table", commit)
        other.manage_snapshots().create_tag(first, "audit").commit()
        return commit(*arguments)

    monkeypatch.setattr(catalog, "commit_table", race)
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert (result.snapshot_ids, snapshot_ids(table)) == ((second,), [first, third])
    assert ids_of(table.scan().use_ref("audit")) == [1]


def test_choice_is_made_again_after_a_conflict(table, catalog, monkeypatch):
    first, second, third = snapshot_ids(table)
    commit, other = catalog.commit_table, catalog.load_table("db.t")

    def race(*arguments):
        monkeypatch.setattr(catalog, "commit_table", commit)
        other.manage_snapshots().rollback_to_snapshot(second).commit()
        return commit(*arguments)

    monkeypatch.setattr(catalog, "commit_table", race)
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert result.snapshot_ids == (first, third)
    assert ids_of(table.scan()) == [1, 2]


def test_commit_that_never_succeeds_deletes_nothing(table, catalog, monkeypatch):
    with table.update_properties() as update:
        update.set_properties({"commit.retry.num-retries": "1", "commit.retry.min-wait-ms": "1"})

    def refuse(*_):
        raise CommitFailedException("another writer")

    before = files_of(table)
    monkeypatch.setattr(catalog, "commit_table", refuse)
    with pytest.raises(CommitFailedException, match="another writer"):
        table.maintenance.expire_snapshots().older_than(future()).execute()
    assert files_of(table) == before


def test_progress_is_reported(table):
    seen = []
    result = (
        table.maintenance.expire_snapshots().older_than(future()).on_progress(lambda *it: seen.append(it)).execute()
    )
    assert seen[-1] == (result.deletion.deleted_files, result.deletion.deleted_files)


def test_results_and_plans_are_json(table):
    plan = table.maintenance.expire_snapshots().older_than(future()).plan()
    document = json.loads(json.dumps(plan.as_dict()))
    assert document["snapshots"][0]["snapshot_id"] == str(snapshot_ids(table)[0])
    result = table.maintenance.execute(plan)
    document = json.loads(json.dumps(result.as_dict()))
    assert (document["deleted_manifest_lists_count"], document["failures"]) == (2, [])
    assert str(result).startswith("db.t: expired 2 snapshots, deleted 2 files of ")


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
