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


def test_rollback_goes_to_ancestors_only(new_table, rows):
    table = new_table()
    first, second = table.snapshots()
    table.manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    assert table.scan().count() == 3
    with pytest.raises(ValidationError, match="no ancestor"):
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
    with pytest.raises(ValidationError, match="is a tag"):
        table.append(rows((7, "x", 1.0)), branch="v1")
    with pytest.raises(ValidationError, match="already"):
        table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "v1")
    with pytest.raises(ValidationError, match="main cannot"):
        table.manage_snapshots().remove_branch("main")
    with pytest.raises(ValidationError, match="no snapshot 5"):
        table.manage_snapshots().create_tag(5, "v2")
