import pytest
from icefloe.exceptions import ValidationError


def test_tag_and_branch_name_snapshots(new_table, rows):
    table = new_table()
    first, second = table.snapshots()
    table.manage_snapshots().create_tag(first.snapshot_id, "v1").create_branch(second.snapshot_id, "dev").commit()
    assert table.scan().use_ref("v1").count() == 3
    table.append(rows((7, "x", 1.0)), branch="dev")
    assert (table.scan().use_ref("dev").count(), table.scan().count()) == (7, 6)
    table.manage_snapshots().remove_tag("v1").remove_branch("dev").commit()
    assert set(table.refs()) == {"main"}


def test_tag_in_a_transaction_names_the_snapshot_that_the_transaction_appends(new_table, rows):
    table = new_table()
    with table.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        appended = transaction.table_metadata.current_snapshot_id
        transaction.manage_snapshots().create_tag(appended, "loaded").commit()
        assert "loaded" not in table.refs()
    assert table.refs()["loaded"].snapshot_id == table.current_snapshot().snapshot_id == appended


def test_rollback_goes_to_ancestors_only(new_table, rows):
    table = new_table()
    first, second = table.snapshots()
    table.manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    assert table.scan().count() == 3
    with pytest.raises(ValidationError, match="not an ancestor"):
        table.manage_snapshots().rollback_to_snapshot(second.snapshot_id)
    table.manage_snapshots().set_current_snapshot(second.snapshot_id).commit()
    assert table.scan().count() == 6
    assert [entry.snapshot_id for entry in table.history()] == [
        first.snapshot_id,
        second.snapshot_id,
        first.snapshot_id,
        second.snapshot_id,
    ]


def test_commits_to_tags_and_taken_names_are_refused(new_table, rows):
    table = new_table()
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "v1").commit()
    with pytest.raises(ValidationError, match="expected a branch, got a tag"):
        table.append(rows((7, "x", 1.0)), branch="v1")
    with pytest.raises(ValidationError, match="already"):
        table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "v1")
    with pytest.raises(ValidationError, match="cannot remove branch 'main'"):
        table.manage_snapshots().remove_branch("main")
    with pytest.raises(ValidationError, match="no snapshot 5"):
        table.manage_snapshots().create_tag(5, "v2")


@pytest.mark.parametrize("change", ["append", "overwrite", "delete", "upsert"])
def test_staged_snapshot_moves_no_branch_until_it_is_published(new_table, rows, content, change):
    table = new_table()
    before, ids = table.current_snapshot(), content(table)
    if change == "delete":
        table.delete("id = 1", branch=None, snapshot_properties={"wap.id": "audit"})
    else:
        getattr(table, change)(rows((9, "new", 9.0)), branch=None, snapshot_properties={"wap.id": "audit"})
    staged = next(one for one in table.snapshots() if one.summary.get("wap.id") == "audit")
    assert table.current_snapshot() == before
    assert {name: ref.snapshot_id for name, ref in table.refs().items()} == {"main": before.snapshot_id}
    assert content(table) == ids
    assert staged.parent_snapshot_id == before.snapshot_id
    assert (
        table.scan(snapshot_id=staged.snapshot_id).count()
        == {"append": 7, "overwrite": 1, "delete": 5, "upsert": 7}[change]
    )
    with table.manage_snapshots() as manage:
        manage.set_current_snapshot(staged.snapshot_id)
    assert content(table) != ids


def test_staged_snapshot_is_retried_on_a_concurrent_commit(catalog, new_table, rows):
    table = new_table()
    other = catalog.load_table("db.t")
    other.append(rows((10, "a", 1.0)))
    table.append(rows((11, "a", 1.0)), branch=None)
    staged = table.snapshots()[-1]
    assert staged.parent_snapshot_id == other.current_snapshot().snapshot_id
    assert table.scan(snapshot_id=staged.snapshot_id).count() == 8


def test_first_snapshot_of_a_table_can_be_staged(catalog, rows):
    table = catalog.create_table("db.fresh", rows((1, "a", 1.0)).schema)
    table.append(rows((1, "a", 1.0)), branch=None)
    [staged] = table.snapshots()
    assert table.current_snapshot() is None
    assert table.scan().count() == 0
    assert table.scan(snapshot_id=staged.snapshot_id).count() == 1
