import numpy as np
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import IdentityTransform

BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))


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


def test_staged_snapshot_is_retried_when_its_parent_was_replaced_and_expired(catalog, new_table, rows, monkeypatch):
    table = new_table()
    commit = catalog.commit_table

    def commit_after_expiry(*arguments):
        monkeypatch.undo()
        other = catalog.load_table(table.name())
        other.overwrite(rows((9, "a", None)))
        other.maintenance.expire_snapshots().older_than("0s").execute()
        return commit(*arguments)

    monkeypatch.setattr(catalog, "commit_table", commit_after_expiry)
    table.append(rows((10, "a", None)), branch=None)
    staged = table.snapshots()[-1]
    assert sorted(table.scan(snapshot_id=staged.snapshot_id).to_arrow().column("id").to_pylist()) == [9, 10]


def test_first_snapshot_of_a_table_can_be_staged(catalog, rows):
    table = catalog.create_table("db.fresh", rows((1, "a", 1.0)).schema)
    table.append(rows((1, "a", 1.0)), branch=None)
    [staged] = table.snapshots()
    assert table.current_snapshot() is None
    assert table.scan().count() == 0
    assert table.scan(snapshot_id=staged.snapshot_id).count() == 1


def ids(table, ref="main"):
    return sorted(table.scan().use_ref(ref).to_arrow().column("id").to_pylist())


def test_refs_move_rename_and_keep_their_retention(new_table):
    table = new_table()
    first, second = (snapshot.snapshot_id for snapshot in table.snapshots())
    with table.manage_snapshots() as manage:
        manage.create_branch(first, "dev").create_tag(first, "v1")
        manage.set_min_snapshots_to_keep("dev", 3).set_max_snapshot_age_ms("dev", 4).set_max_ref_age_ms("v1", 5)
        manage.rename_branch("dev", "next").replace_tag("v1", second)
    refs = table.refs()
    assert set(refs) == {"main", "next", "v1"}
    assert (refs["next"].snapshot_id, refs["next"].min_snapshots_to_keep, refs["next"].max_snapshot_age_ms) == (
        first,
        3,
        4,
    )
    assert (refs["v1"].snapshot_id, refs["v1"].max_ref_age_ms) == (second, 5)
    table.manage_snapshots().replace_branch("next", second).commit()
    assert (table.refs()["next"].snapshot_id, table.refs()["next"].min_snapshots_to_keep) == (second, 3)


def test_retention_of_new_refs_may_be_integers_of_numpy(new_table):
    table = new_table()
    current = table.current_snapshot().snapshot_id
    day, two = np.int64(86_400_000), np.int32(2)
    table.manage_snapshots().create_branch(current, "dev", day, day, two).create_tag(current, "v1", day).commit()
    dev = table.refs()["dev"]
    assert (dev.max_ref_age_ms, dev.max_snapshot_age_ms, dev.min_snapshots_to_keep) == (86_400_000, 86_400_000, 2)
    assert {type(dev.max_ref_age_ms), type(table.refs()["v1"].max_ref_age_ms)} == {int}


def test_retention_must_be_positive(new_table):
    manage = new_table().manage_snapshots()
    for change in (
        lambda: manage.set_min_snapshots_to_keep("main", 0),
        lambda: manage.set_max_snapshot_age_ms("main", -1),
        lambda: manage.set_max_ref_age_ms("main", 0),
        lambda: manage.create_tag(manage._metadata.current_snapshot_id, "t", 0),
    ):
        with pytest.raises(ValidationError, match="expected a whole number, 1 or above"):
            change()


def test_refs_that_do_not_exist_cannot_change(new_table):
    manage = new_table().manage_snapshots()
    for change in (
        lambda: manage.replace_branch("none", manage._metadata.current_snapshot_id),
        lambda: manage.replace_tag("main", manage._metadata.current_snapshot_id),
        lambda: manage.replace_branch("main", 5),
        lambda: manage.rename_branch("main", "other"),
        lambda: manage.fast_forward("main", "none"),
        lambda: manage.set_max_ref_age_ms("none", 5),
        lambda: manage.cherry_pick(5),
        lambda: manage.publish_changes("none"),
    ):
        with pytest.raises(ValidationError):
            change()


def test_fast_forward_follows_ancestors_only(new_table, rows):
    table = new_table()
    table.append(rows((7, "x", 1.0)), branch="dev")
    table.manage_snapshots().fast_forward("main", "dev").commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7]
    table.manage_snapshots().fast_forward("new", "dev").commit()
    assert table.refs()["new"].snapshot_id == table.current_snapshot().snapshot_id
    table.append(rows((8, "x", 1.0)))
    with pytest.raises(ValidationError, match="not an ancestor"):
        table.manage_snapshots().fast_forward("main", "dev")


def test_rollback_to_timestamp_is_strictly_before(new_table):
    table = new_table()
    first, second = table.snapshots()
    table.manage_snapshots().rollback_to_timestamp(second.timestamp_ms + 1).commit()
    assert table.current_snapshot().snapshot_id == second.snapshot_id
    with pytest.raises(ValidationError, match="no ancestor"):
        table.manage_snapshots().rollback_to_timestamp(first.timestamp_ms)


def test_rollback_starts_at_the_snapshot_of_an_earlier_change(new_table, rows):
    table = new_table()
    table.append(rows((7, "x", 1.0)))
    first, second, third = (one.snapshot_id for one in table.snapshots())
    with pytest.raises(ValidationError, match=f"{second}: it is not an ancestor of the current snapshot {first}"):
        table.manage_snapshots().set_current_snapshot(first).rollback_to_snapshot(second)
    with pytest.raises(ValidationError, match="no ancestor of the current snapshot is older"):
        table.manage_snapshots().set_current_snapshot(first).rollback_to_timestamp(table.snapshots()[0].timestamp_ms)
    table.manage_snapshots().rollback_to_snapshot(second).rollback_to_snapshot(first).commit()
    assert (third, table.current_snapshot().snapshot_id) == (table.snapshots()[-1].snapshot_id, first)


def staged(table, data, wap_id=None, operation="append"):
    """Stage a snapshot and return its id."""
    properties = {} if wap_id is None else {"wap.id": wap_id}
    getattr(table, operation)(data, snapshot_properties=properties, branch=None)
    return max(table.refresh().snapshots(), key=lambda one: one.sequence_number).snapshot_id


def test_cherry_pick_of_a_child_of_main_moves_main(new_table, rows):
    table = new_table()
    picked = staged(table, rows((7, "x", 1.0)))
    assert ids(table) == [1, 2, 3, 4, 5, 6]
    table.manage_snapshots().cherry_pick(picked).commit()
    assert table.current_snapshot().snapshot_id == picked
    assert len(table.snapshots()) == 3


def test_cherry_pick_appends_the_files_of_a_snapshot_again(new_table, rows, spec):
    table = new_table(spec)
    picked = staged(table, rows((7, "x", 1.0), (8, "y", 1.0)), wap_id="w1")
    table.append(rows((9, "z", 1.0)))
    table.manage_snapshots().publish_changes("w1").commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    summary = table.current_snapshot().summary
    assert (summary.operation, summary["source-snapshot-id"], summary["published-wap-id"]) == (
        "append",
        str(picked),
        "w1",
    )
    assert (summary["added-records"], summary["total-records"]) == ("2", "9")
    assert table.current_snapshot().sequence_number > table.snapshot_by_id(picked).sequence_number


def test_cherry_pick_refuses_changes_that_are_there(new_table, rows):
    table = new_table()
    first = table.snapshots()[0].snapshot_id
    one, two = staged(table, rows((7, "x", 1.0)), "w"), staged(table, rows((7, "x", 1.0)), "w")
    with pytest.raises(ValidationException, match="ancestor of main's head already"):
        table.manage_snapshots().cherry_pick(first).commit()
    table.append(rows((9, "z", 1.0)))
    table.manage_snapshots().cherry_pick(one).commit()
    with pytest.raises(ValidationException, match="has its changes already"):
        table.manage_snapshots().cherry_pick(one).commit()
    with pytest.raises(ValidationException, match="published them already"):
        table.manage_snapshots().cherry_pick(two).commit()
    assert ids(table.refresh()) == [1, 2, 3, 4, 5, 6, 7, 9]


def test_published_id_is_not_published_again_as_a_child_of_main(new_table, rows):
    table = new_table()
    staged(table, rows((7, "x", 1.0)), "w")
    table.manage_snapshots().publish_changes("w").commit()
    staged(table, rows((7, "x", 1.0)), "w")
    with pytest.raises(ValidationException, match="published them already"):
        table.manage_snapshots().publish_changes("w").commit()
    assert ids(table.refresh()) == [1, 2, 3, 4, 5, 6, 7]


def test_publishing_refuses_to_choose_among_snapshots_of_one_id(new_table, rows):
    table = new_table()
    one, two = staged(table, rows((7, "x", 1.0)), "w"), staged(table, rows((8, "x", 1.0)), "w")
    with pytest.raises(
        ValidationError, match=rf"with wap.id 'w', got 2: {one}, {two}; publish one of them by cherry_pick"
    ):
        table.manage_snapshots().publish_changes("w")
    table.manage_snapshots().cherry_pick(one).commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7]


def test_cherry_pick_of_an_overwrite_needs_unchanged_partitions(new_table, rows):
    table = new_table(BY_KIND)
    picked = staged(table, rows((7, "a", 1.0)), operation="dynamic_partition_overwrite")
    table.append(rows((9, "b", 1.0)))
    table.manage_snapshots().cherry_pick(picked).commit()
    assert ids(table) == [2, 3, 5, 6, 7, 9]
    assert table.current_snapshot().summary["replace-partitions"] is None
    again = staged(table, rows((8, "a", 1.0)), operation="dynamic_partition_overwrite")
    table.append(rows((10, "a", 1.0)))
    with pytest.raises(ValidationException, match="added rows to partition"):
        table.manage_snapshots().cherry_pick(again).commit()


def test_cherry_pick_of_rows_for_an_empty_partition_needs_that_it_stays_empty(new_table, rows):
    table = new_table(BY_KIND)
    picked = staged(table, rows((20, "new", 1.0)), operation="dynamic_partition_overwrite")
    table.append(rows((21, "new", 1.0)))
    with pytest.raises(ValidationException, match=r'added rows to partition \["new"\], which it replaces'):
        table.manage_snapshots().cherry_pick(picked).commit()
    assert ids(table.refresh()) == [1, 2, 3, 4, 5, 6, 21]


@pytest.mark.parametrize("deleted", [None, "id = 3"])
def test_cherry_pick_of_a_replacement_keeps_rows_deleted_from_files_of_another_spec(new_table, rows, deleted):
    table = new_table(properties={"write.delete.mode": "merge-on-read"})
    with table.update_spec() as update:
        update.add_identity("kind")
    picked = staged(table, rows((10, "a", 1.0)), operation="dynamic_partition_overwrite")
    if deleted is None:
        table.append(rows((21, "new", 1.0)))
        table.manage_snapshots().cherry_pick(picked).commit()
        assert ids(table) == [2, 3, 5, 6, 10, 21]
    else:
        table.delete(deleted)
        with pytest.raises(ValidationException, match="deleted rows of files that this operation replaces"):
            table.manage_snapshots().cherry_pick(picked).commit()
        assert ids(table.refresh()) == [1, 2, 4, 5, 6]


def test_cherry_pick_refuses_other_operations(new_table, rows):
    table = new_table()
    table.delete("id = 1", branch=None)
    picked = table.refresh().snapshots()[-1].snapshot_id
    table.append(rows((9, "z", 1.0)))
    with pytest.raises(ValidationException, match=r"expected an append.*got operation overwrite$"):
        table.manage_snapshots().cherry_pick(picked).commit()


def test_cherry_pick_is_the_only_change_of_its_builder(new_table):
    table = new_table()
    first = table.snapshots()[0].snapshot_id
    with pytest.raises(ValidationError, match="no other change"):
        table.manage_snapshots().create_tag(first, "t").cherry_pick(first)
    with pytest.raises(ValidationError, match="no other change"):
        table.manage_snapshots().cherry_pick(first).create_tag(first, "t")


def test_cherry_pick_repeats_after_a_concurrent_append(catalog, new_table, rows):
    table = new_table()
    picked = staged(table, rows((7, "x", 1.0)))
    transaction = table.transaction()
    transaction.manage_snapshots().cherry_pick(picked).commit()
    catalog.load_table("db.t").append(pa.table({"id": [20]}))
    transaction.commit_transaction()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7, 20]
