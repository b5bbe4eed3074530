"""The commit of an expiry beside other commits, and files after a commit that failed or lost its reply."""

import pytest
from icefloe.exceptions import CommitFailedException, CommitStateUnknownException, ValidationException

from tests.unit.table.maintenance.every_file import SCHEMA, files_of, future, ids_of, rows, snapshot_ids


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


def test_files_of_a_spec_that_expiry_removed_are_refused(catalog):
    table = catalog.create_table("db.specs", SCHEMA)
    stale = catalog.load_table("db.specs")
    with table.update_spec() as update:
        update.add_identity("kind")
    table.maintenance.expire_snapshots().clean_expired_metadata().execute()
    assert list(table.specs()) == [1]
    with pytest.raises(
        ValidationException, match="cannot add files of partition spec 0: a concurrent commit removed the spec"
    ):
        stale.append(rows(1))
    assert catalog.load_table("db.specs").current_snapshot() is None
    stale.refresh().append(rows(1))
    assert ids_of(catalog.load_table("db.specs").scan()) == [1]


def test_files_of_a_removed_spec_are_refused_if_another_spec_has_its_id(catalog):
    table = catalog.create_table("db.specs", SCHEMA)
    with table.update_spec() as update:
        update.add_identity("kind")
    transaction = catalog.load_table("db.specs").transaction()
    transaction.append(rows(1))
    with table.update_spec() as update:
        update.remove_field("kind")
    table.maintenance.expire_snapshots().clean_expired_metadata().execute()
    with table.update_spec() as update:
        update.add_field("id", "truncate[4]")
    assert list(table.specs()) == [0, 1]
    with pytest.raises(
        ValidationException, match="cannot add files of partition spec 1: a concurrent commit removed the spec"
    ):
        transaction.commit_transaction()
    assert catalog.load_table("db.specs").current_snapshot() is None


def test_files_of_a_new_spec_are_refused_if_expiry_changed_the_id_that_it_gets(catalog):
    table = catalog.create_table("db.specs", SCHEMA)
    with table.update_spec() as update:
        update.add_identity("kind")
    with table.update_spec() as update:
        update.remove_field("kind")
    transaction = catalog.load_table("db.specs").transaction()
    with transaction.update_spec() as update:
        update.add_field("id", "truncate[4]")
    transaction.append(rows(1))
    table.maintenance.expire_snapshots().clean_expired_metadata().execute()
    with pytest.raises(
        ValidationException, match="cannot add files of partition spec 2: a concurrent commit removed the spec"
    ):
        transaction.commit_transaction()
    assert list(catalog.load_table("db.specs").specs()) == [0]


def test_file_added_again_right_after_the_commit_stays(table, catalog, monkeypatch):
    (task,) = table.scan("id = 3").plan_files()
    table.new_delete().delete([task.file.file_path]).commit()
    commit, other = catalog.commit_table, catalog.load_table("db.t")

    def race(*arguments):
        monkeypatch.setattr(catalog, "commit_table", commit)
        answer = commit(*arguments)
        other.refresh()
        with other.transaction() as transaction, transaction.update_snapshot().fast_append() as change:
            change.append_data_file(task.file)
        return answer

    monkeypatch.setattr(catalog, "commit_table", race)
    result = table.maintenance.expire_snapshots().older_than(future()).execute()
    assert result.deleted_data_files_count == 0
    assert ids_of(catalog.load_table("db.t").scan()) == [1, 2, 3]
