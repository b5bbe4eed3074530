"""Every operation of a transaction is validated against all commits since the table was loaded."""

from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import CommitFailedException, ValidationError, ValidationException
from icefloe.schema import Schema
from icefloe.table.commit.manage_snapshots import ManageSnapshots
from icefloe.types import IntegerType, LongType, NestedField


def twice(catalog):
    """Two handles on the same version."""
    return catalog.load_table("db.t"), catalog.load_table("db.t")


def ids(table, branch="main"):
    return sorted(table.scan().use_ref(branch).to_arrow().column("id").to_pylist())


@pytest.fixture
def handles(catalog, new_table, mode):
    new_table(properties=mode)
    return twice(catalog)


def test_later_merge_loses_to_an_insert_of_its_key(catalog, handles, rows):
    first, second = handles
    first.upsert(rows((50, "x", 1.0)))
    transaction = second.transaction()
    transaction.overwrite(rows((1, "y", 2.0)), "id = 1")
    transaction.upsert(rows((50, "y", 2.0)))
    with pytest.raises(ValidationException, match="added data"):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 50]


def test_later_delete_loses_to_an_append_of_its_rows(catalog, handles, rows):
    first, second = handles
    transaction = second.transaction()
    transaction.append(rows((7, "x", 1.0)))
    transaction.delete("id <= 2")
    first.append(rows((2, "x", 1.0)))
    with pytest.raises(ValidationException, match="added data"):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [1, 2, 2, 3, 4, 5, 6]


def test_later_delete_loses_to_a_delete_of_its_rows(catalog, handles, rows):
    first, second = handles
    transaction = second.transaction()
    transaction.append(rows((7, "x", 1.0)))
    transaction.delete("id = 2")
    first.delete("id = 2")
    with pytest.raises(ValidationException):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [1, 3, 4, 5, 6]


def test_transaction_is_validated_again_at_every_retry(catalog, handles, rows, monkeypatch):
    first, second = handles
    commit, concurrent = catalog.commit_table, [7, 50]

    def overtaken(table, requirements, updates):
        if concurrent and table is second:
            first.append(rows((concurrent.pop(0), "x", 1.0)))
        return commit(table, requirements, updates)

    monkeypatch.setattr(catalog, "commit_table", overtaken)
    transaction = second.transaction()
    transaction.append(rows((8, "x", 1.0)))
    transaction.upsert(rows((50, "y", 2.0)))
    with pytest.raises(ValidationException, match="added data"):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 7, 50]


def test_operations_may_change_rows_of_earlier_ones_over_a_concurrent_append(catalog, handles, rows):
    first, second = handles
    with second.transaction() as transaction:
        transaction.append(rows((10, "a", 1.0), (11, "b", 1.0), (12, "c", 1.0)))
        transaction.delete("id = 10")
        transaction.upsert(rows((11, "z", 9.0), (13, "z", 9.0)))
        transaction.overwrite(rows((14, "z", 9.0)), "id = 12")
        first.append(rows((70, "x", 1.0)))
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 11, 13, 14, 70]


def test_operations_may_replace_files_that_earlier_ones_rewrote(catalog, handles, rows):
    first, second = handles
    with second.transaction() as transaction:
        transaction.delete("id = 1")
        transaction.delete("id = 2")
        transaction.overwrite(rows((30, "z", 9.0)), "id = 3")
        first.append(rows((70, "x", 1.0)))
    assert ids(catalog.load_table("db.t")) == [4, 5, 6, 30, 70]


def test_read_set_of_a_transaction_includes_operations_without_effect(catalog, handles, rows):
    first, second = handles
    transaction = second.transaction()
    transaction.delete("id = 20")
    transaction.append(rows((10, "x", 1.0)))
    with first.transaction() as other:
        other.delete("id = 10")
        other.append(rows((20, "x", 1.0)))
    with pytest.raises(ValidationException):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 20]


def test_read_set_of_a_transaction_includes_upserts_without_effect(catalog, handles, rows):
    first, second = handles
    transaction = second.transaction()
    transaction.upsert(rows((1, "a", 0.5)))
    transaction.append(rows((10, "x", 1.0)))
    first.delete("id = 1")
    with pytest.raises(ValidationException):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [2, 3, 4, 5, 6]


def test_operations_without_effect_alone_commit_nothing(catalog, handles, rows):
    first, second = handles
    with second.transaction() as transaction:
        transaction.delete("id = 20")
        first.append(rows((20, "x", 1.0)))
    assert len(catalog.load_table("db.t").snapshots()) == 3


def test_appends_of_a_transaction_read_nothing(catalog, handles, rows):
    first, second = handles
    with second.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        transaction.append(rows((8, "x", 1.0)))
        first.overwrite(rows((9, "x", 1.0)))
    assert ids(catalog.load_table("db.t")) == [7, 8, 9]


def test_snapshot_isolation_tolerates_inserts_of_the_same_key(catalog, new_table, rows, mode):
    new_table(properties={**mode, "write.merge.isolation-level": "snapshot"})
    first, second = twice(catalog)
    with second.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        transaction.upsert(rows((50, "y", 2.0)))
        first.upsert(rows((50, "x", 1.0)))
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 7, 50, 50]


def test_snapshot_isolation_refuses_two_updates_of_one_row(catalog, new_table, rows, mode):
    new_table(properties={**mode, "write.merge.isolation-level": "snapshot"})
    first, second = twice(catalog)
    transaction = second.transaction()
    transaction.append(rows((7, "x", 1.0)))
    transaction.upsert(rows((1, "y", 2.0)))
    first.upsert(rows((1, "x", 1.0)))
    with pytest.raises(ValidationException):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("conflicting", ["main", "dev"])
def test_operations_on_several_branches_are_validated_each_on_its_own(catalog, new_table, rows, mode, conflicting):
    table = new_table(properties=mode)
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "dev").commit()
    first, second = twice(catalog)
    transaction = second.transaction()
    transaction.delete("id = 1", branch="main")
    transaction.delete("id = 1", branch="dev")
    first.append(rows((1, "x", 1.0)), branch=conflicting)
    with pytest.raises(ValidationException):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t"), "main") == ids(first, "main")
    assert ids(catalog.load_table("db.t"), "dev") == ids(first, "dev")


def test_append_to_another_branch_is_no_conflict_of_a_transaction(catalog, new_table, rows, mode):
    table = new_table(properties=mode)
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "dev").commit()
    first, second = twice(catalog)
    with second.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        transaction.delete("id = 1")
        first.append(rows((1, "x", 1.0)), branch="dev")
    assert ids(second) == [2, 3, 4, 5, 6, 7]
    assert ids(second, "dev") == [1, 1, 2, 3, 4, 5, 6]


def test_new_branch_begins_at_the_head_of_main_when_the_commit_takes_effect(catalog, handles, rows):
    first, second = handles
    with second.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)), branch="dev")
        first.append(rows((8, "x", 1.0)))
    assert ids(second, "dev") == [1, 2, 3, 4, 5, 6, 7, 8]


def test_operation_on_a_new_branch_loses_to_a_conflict_on_main(catalog, handles, rows):
    first, second = handles
    transaction = second.transaction()
    transaction.delete("id = 1", branch="dev")
    first.append(rows((1, "x", 1.0)))
    with pytest.raises(ValidationException):
        transaction.commit_transaction()
    assert list(catalog.load_table("db.t").refs()) == ["main"]


def test_operation_after_a_rollback_of_the_same_transaction_commits(catalog, handles):
    first, _ = handles
    with first.transaction() as transaction:
        ManageSnapshots(transaction).rollback_to_snapshot(first.snapshots()[0].snapshot_id).commit()
        transaction.delete("id = 1")
    assert ids(catalog.load_table("db.t")) == [2, 3]


def test_change_of_an_older_snapshot_is_validated_at_the_first_attempt(catalog, handles, rows):
    first, _ = handles
    start = first.current_snapshot().snapshot_id
    first.append(rows((1, "x", 1.0)))
    change = first.new_row_delta().validate_from_snapshot(start).validate_no_conflicting_data()
    with pytest.raises(ValidationException, match="added data"):
        change.conflict_detection_filter("id = 1").commit()


def test_change_of_an_unknown_snapshot_is_refused(handles):
    first, _ = handles
    with pytest.raises(ValidationException, match="cannot determine"):
        first.new_row_delta().validate_from_snapshot(1).commit()


def test_transaction_of_a_dropped_table_does_not_change_the_new_one(catalog, handles, rows):
    first, second = handles
    transaction = second.transaction()
    transaction.append(rows((7, "x", 1.0)))
    catalog.drop_table("db.t")
    catalog.create_table("db.t", first.schema())
    with pytest.raises(ValidationError, match="created again"):
        transaction.commit_transaction()
    assert catalog.load_table("db.t").scan().count() == 0


def test_partition_overwrite_loses_to_a_change_of_the_spec(catalog, handles, rows):
    first, second = handles
    transaction = second.transaction()
    transaction.dynamic_partition_overwrite(rows((7, "x", 1.0)))
    first.update_spec().add_identity("kind").commit()
    with pytest.raises(CommitFailedException, match="spec"):
        transaction.commit_transaction()
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6]


def test_merge_reads_the_rows_that_the_transaction_has_when_it_is_executed(catalog, handles, rows):
    first, _ = handles
    with first.transaction() as transaction:
        merge = transaction.merge(rows((10, "new", 2.0)), ["id"]).when_matched_update().when_not_matched_insert()
        transaction.append(rows((10, "old", 1.0)))
        merge.execute()
    assert catalog.load_table("db.t").scan("id = 10").to_arrow().to_pylist() == [
        {"id": 10, "kind": "new", "value": 2.0}
    ]


def test_concurrent_promotion_of_a_column_does_not_hide_conflicts(catalog, mode):
    schema = Schema(NestedField(1, "id", IntegerType()))
    table = catalog.create_table("db.numbers", schema, properties=mode)
    table.append(pa.table({"id": pa.array([1, 2], pa.int32())}))
    first, second, third = (catalog.load_table("db.numbers") for _ in range(3))
    first.update_schema().update_column("id", LongType()).commit()
    first.append(pa.table({"id": [2, 2**40]}))
    second.delete("id = 1")
    assert ids(first.refresh()) == [2, 2, 2**40]
    with pytest.raises(ValidationException):
        third.delete("id = 2")


def test_manifests_of_a_transaction_fit_a_table_that_others_upgrade(catalog, new_table, rows):
    new_table(properties={"format-version": "1"})
    first, second = twice(catalog)
    transaction = second.transaction()
    transaction.append(rows((7, "x", 1.0)))
    first.transaction().upgrade_table_version(2).commit_transaction()
    first.append(rows((8, "x", 1.0)))
    transaction.commit_transaction()
    entries = second.inspect.entries().to_pylist()
    added = [entry for entry in entries if entry["snapshot_id"] == second.current_snapshot().snapshot_id]
    assert [entry["sequence_number"] for entry in added] == [2]
    manifests = second.inspect.manifests().filter(
        pc.field("added_snapshot_id") == second.current_snapshot().snapshot_id
    )
    with Path(manifests.column("path")[0].as_py().removeprefix("file://")).open("rb") as file:
        assert fastavro.reader(file).metadata["format-version"] == "2"
