"""Snapshot expiry: the snapshots that go, the files that are deleted, and what must never be deleted."""

import json
import pickle

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.types import StringType

from tests.unit.table.maintenance.every_file import (
    BY_KIND,
    SCHEMA,
    files_of,
    future,
    ids_of,
    rows,
    snapshot_ids,
)

NOW = "0s"


def deletion_of_kind(table, kind):
    """The change that deletes the rows of a kind by an equality delete file."""
    change = table.new_row_delta()
    for file in write_equality_deletes(table.io, table.metadata, pa.table({"kind": [kind]}), [2]):
        change.add_deletes(file)
    return change


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
    with pytest.raises(ValidationException, match="has become the head of tag 'audit'; make a new plan"):
        table.maintenance.execute(plan)
    assert files_of(table) == before


def test_plan_is_refused_a_second_time(table):
    plan = table.maintenance.expire_snapshots().older_than(future()).plan()
    table.maintenance.execute(plan)
    with pytest.raises(ValidationException, match="is gone already; make a new plan"):
        table.maintenance.execute(plan)


def test_plan_is_refused_if_a_spec_is_in_use_again(catalog):
    table = catalog.create_table("db.evolved", SCHEMA)
    table.append(rows(1))
    table.update_spec().add_identity("kind").commit()
    for number in (2, 3):
        table.overwrite(rows(number))
    plan = table.maintenance.expire_snapshots().older_than(future()).clean_expired_metadata().plan()
    assert plan.spec_ids == (0,)
    catalog.load_table("db.evolved").maintenance.rewrite_data_files().options(
        rewrite_all=True, output_spec_id=0
    ).execute()
    with pytest.raises(ValidationException, match="partition spec 0 is in use or gone since the plan; make a new plan"):
        table.maintenance.execute(plan)
    assert ids_of(table.refresh().scan()) == [3]


def test_plan_is_refused_if_a_schema_is_in_use_again(catalog):
    table = catalog.create_table("db.evolved", SCHEMA)
    table.append(rows(1))
    table.update_schema().add_column("note", StringType()).commit()
    for number in (2, 3):
        table.overwrite(pa.table({"id": [number], "kind": ["k0"], "note": ["n"]}))
    plan = table.maintenance.expire_snapshots().older_than(future()).clean_expired_metadata().plan()
    assert plan.schema_ids == (0,)
    other = catalog.load_table("db.evolved")
    other.update_schema().delete_column("note").commit()
    other.append(rows(4))
    other.update_schema().add_column("text", StringType()).commit()
    with pytest.raises(ValidationException, match="schema 0 is in use or gone since the plan; make a new plan"):
        table.maintenance.execute(plan)
    assert ids_of(table.refresh().scan()) == [3, 4]


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


def test_schema_of_a_dropped_key_column_stays_as_long_as_an_equality_delete_is_live(catalog):
    table = catalog.create_table("db.evolved", SCHEMA)
    table.append(rows(1, 2, 3))
    deletion_of_kind(table, "k0").commit()
    table.update_schema().delete_column("kind").commit()
    table.append(pa.table({"id": [4]}))

    def clean():
        expiry = table.maintenance.expire_snapshots().older_than(future()).clean_expired_metadata()
        return table.maintenance.execute(expiry.plan()).schema_ids

    assert clean() == ()
    assert ids_of(table.scan()) == [1, 3, 4]
    table.overwrite(pa.table({"id": [5]}))
    table.append(pa.table({"id": [6]}))
    table.maintenance.remove_dangling_deletes().execute()
    assert clean() == (0,)
    assert ids_of(table.scan()) == [5, 6]


def test_plan_is_refused_if_an_equality_delete_needs_a_schema_again(catalog):
    table = catalog.create_table("db.evolved", SCHEMA)
    table.append(rows(1, 2, 3))
    deletion = deletion_of_kind(table, "k0")
    other = catalog.load_table("db.evolved")
    other.update_schema().delete_column("kind").commit()
    other.append(pa.table({"id": [4]}))
    plan = other.maintenance.expire_snapshots().older_than(future()).clean_expired_metadata().plan()
    assert plan.schema_ids == (0,)
    deletion.commit()
    with pytest.raises(ValidationException, match="schema 0 is in use or gone since the plan; make a new plan"):
        other.maintenance.execute(plan)
    assert ids_of(other.refresh().scan()) == [1, 3, 4]


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
