"""Two operations on one version of a table: both commit, or the second conflicts."""

import pytest
from icefloe.exceptions import CommitFailedException, ValidationException


def twice(catalog):
    """Two handles on the same version."""
    return catalog.load_table("db.t"), catalog.load_table("db.t")


def test_appends_both_succeed(catalog, new_table, rows):
    new_table()
    first, second = twice(catalog)
    first.append(rows((7, "x", 1.0)))
    second.append(rows((8, "x", 1.0)))
    table = catalog.load_table("db.t")
    assert table.scan().count() == 8
    assert [snapshot.sequence_number for snapshot in table.snapshots()] == [1, 2, 3, 4]
    assert table.current_snapshot().summary["total-records"] == "8"
    assert table.snapshots()[3].parent_snapshot_id == table.snapshots()[2].snapshot_id


def test_delete_loses_to_an_append_of_matching_rows(catalog, new_table, rows, mode):
    new_table(properties=mode)
    first, second = twice(catalog)
    first.append(rows((1, "a", 9.0)))
    with pytest.raises(ValidationException, match="added data"):
        second.delete("id = 1")
    assert catalog.load_table("db.t").scan().count() == 7


def test_delete_tolerates_an_append_of_other_rows(catalog, new_table, rows, mode):
    new_table(properties=mode)
    first, second = twice(catalog)
    first.append(rows((70, "a", 9.0)))
    second.delete("id = 1")
    assert catalog.load_table("db.t").scan().count() == 6


def test_snapshot_isolation_tolerates_an_append_of_matching_rows(catalog, new_table, rows, mode):
    new_table(properties={**mode, "write.delete.isolation-level": "snapshot"})
    first, second = twice(catalog)
    first.append(rows((1, "a", 9.0)))
    second.delete("id = 1")
    left = catalog.load_table("db.t").scan("id = 1").to_arrow().to_pylist()
    assert left == [{"id": 1, "kind": "a", "value": 9.0}]


def test_second_delete_of_the_same_rows_loses(catalog, new_table, mode):
    new_table(properties=mode)
    first, second = twice(catalog)
    first.delete("id = 1")
    with pytest.raises(ValidationException):
        second.delete("id = 1")
    assert catalog.load_table("db.t").scan().count() == 5


def test_deletes_of_different_files_both_succeed(catalog, new_table, mode):
    new_table(properties=mode)
    first, second = twice(catalog)
    first.delete("id = 1")
    second.delete("id = 4")
    assert catalog.load_table("db.t").scan().count() == 4


def test_merge_loses_to_a_delete_of_its_rows(catalog, new_table, rows, mode):
    new_table(properties=mode)
    first, second = twice(catalog)
    first.delete("id = 2")
    with pytest.raises(ValidationException):
        second.merge(rows((2, "x", 1.0)), on=["id"]).when_matched_update().when_not_matched_insert().execute()
    assert catalog.load_table("db.t").scan("id = 2").count() == 0


def test_upserts_of_the_same_new_key_do_not_both_insert(catalog, new_table, rows, mode):
    new_table(properties=mode)
    first, second = twice(catalog)
    first.upsert(rows((50, "x", 1.0)))
    with pytest.raises(ValidationException, match="added data"):
        second.upsert(rows((50, "y", 2.0)))
    assert catalog.load_table("db.t").scan("id = 50").count() == 1


def test_overwrite_loses_to_an_append(catalog, new_table, rows):
    new_table()
    first, second = twice(catalog)
    first.append(rows((7, "x", 1.0)))
    with pytest.raises(ValidationException):
        second.overwrite(rows((9, "z", 1.0)))
    assert catalog.load_table("db.t").scan().count() == 7


def test_failed_commit_leaves_no_files(catalog, new_table, rows, mode, tmp_path):
    table = new_table(properties=mode)
    first, second = twice(catalog)
    first.append(rows((1, "a", 9.0)))
    before = set(table.io.core.list(table.location()).column("location").to_pylist())
    with pytest.raises(ValidationException):
        second.delete("id = 1")
    after = set(table.io.core.list(table.location()).column("location").to_pylist())
    assert after == before


def test_operation_fails_after_a_rollback_of_its_start(catalog, new_table, rows):
    new_table()
    first, second = twice(catalog)
    first.manage_snapshots().rollback_to_snapshot(first.snapshots()[0].snapshot_id).commit()
    with pytest.raises(ValidationException, match="cannot determine"):
        second.delete("id = 1")


def test_schema_change_survives_an_append_and_loses_to_a_schema_change(catalog, new_table, rows):
    from icefloe.types import StringType

    new_table()
    first, second = twice(catalog)
    third = catalog.load_table("db.t")
    first.append(rows((7, "x", 1.0)))
    second.update_schema().add_column("more", StringType()).commit()
    with pytest.raises(CommitFailedException):
        third.update_schema().add_column("less", StringType()).commit()
    assert [field.name for field in catalog.load_table("db.t").schema().fields] == ["id", "kind", "value", "more"]


def test_commit_to_another_branch_is_no_conflict(catalog, new_table, rows):
    table = new_table()
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "dev").commit()
    first, second = twice(catalog)
    first.append(rows((7, "x", 1.0)), branch="dev")
    second.append(rows((8, "x", 1.0)))
    table = catalog.load_table("db.t")
    assert table.scan().count() == 7
    assert table.scan().use_ref("dev").count() == 7
    assert len({snapshot.sequence_number for snapshot in table.snapshots()}) == 4
