"""Replaced partitions beside commits of others: the whole history since the starting snapshot counts, as in the Java library."""

import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import IdentityTransform

BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
ON_READ = {"write.delete.mode": "merge-on-read"}
ADDED = "added data to partitions that this operation replaces"
REMOVED = "removed data of partitions that this operation replaces"
DELETED = "deleted rows of partitions that this operation replaces"


@pytest.fixture(params=[BY_KIND, PartitionSpec()], ids=["partitioned", "unpartitioned"])
def table(new_table, request):
    return new_table(request.param, ON_READ)


def written(table, rows):
    return table.transaction().target().writer.data_files(rows)


def replacement(table, rows):
    """A replacement of the partition `a` that read the current snapshot and is not committed."""
    change = table.new_replace_partitions().append(written(table, rows((70, "a", 1.0))))
    return change.validate_from_snapshot(table.current_snapshot().snapshot_id)


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def add_and_remove(table, rows, kind="a"):
    files = written(table, rows((50, kind, 1.0)))
    table.new_append().append(files).commit()
    table.new_delete().delete(files.column("file_path")).commit()


def delete_and_undo(table, rows, kind="a"):
    """Add a delete file of a partition that matches no row, and remove it."""
    keys = rows((99, kind, 1.0)).select(["id", "kind"])
    (file,) = write_equality_deletes(table.io, table.metadata, keys, [1, 2])
    table.new_row_delta().add_deletes(file).commit()
    table.new_row_delta().remove_deletes(file).commit()


def test_data_that_was_added_and_removed_again_conflicts(table, rows):
    change = replacement(table, rows)
    before = ids(table)
    add_and_remove(table, rows)
    with pytest.raises(ValidationException, match=ADDED):
        change.validate_no_conflicting_data().commit()
    assert ids(table) == before


def test_removal_of_data_that_was_added_since_conflicts(table, rows):
    change = replacement(table, rows)
    add_and_remove(table, rows)
    with pytest.raises(ValidationException, match=REMOVED):
        change.validate_no_conflicting_deletes().commit()


def test_removal_of_all_that_was_added_to_an_empty_table_conflicts(catalog, new_table, rows):
    source = new_table(BY_KIND)
    table = catalog.create_table("db.empty", source.schema(), partition_spec=BY_KIND)
    change = table.new_replace_partitions().append(written(table, rows((70, "a", 1.0))))
    add_and_remove(table, rows)
    with pytest.raises(ValidationException, match=REMOVED):
        change.validate_from_snapshot(None).validate_no_conflicting_deletes().commit()


def test_deletes_that_were_added_and_removed_again_conflict(table, rows):
    change = replacement(table, rows)
    delete_and_undo(table, rows)
    with pytest.raises(ValidationException, match=DELETED):
        change.validate_no_conflicting_deletes().commit()


def test_added_data_does_not_conflict_with_the_check_of_deletes(table, rows):
    change = replacement(table, rows)
    table.append(rows((50, "a", 1.0)))
    change.validate_no_conflicting_deletes().commit()
    assert 50 not in ids(table)


def rewrite_a(table):
    """Replace the data files of the partition `a` by one file with their rows."""
    table.refresh()
    old = table.scan("kind = 'a'").plan_whole_files().files.column("file_path")
    table.new_rewrite().delete(old).append(written(table, table.scan("kind = 'a'").to_arrow())).commit()


def test_deletes_and_rewrites_do_not_conflict_with_the_check_of_data(new_table, rows):
    table = new_table(BY_KIND, ON_READ)
    change = replacement(table, rows)
    table.delete("id = 1")
    rewrite_a(table)
    change.validate_no_conflicting_data().commit()
    assert ids(table) == [2, 3, 5, 6, 70]


def test_rewrite_of_a_replaced_partition_conflicts_with_the_check_of_deletes(new_table, rows):
    table = new_table(BY_KIND)
    change = replacement(table, rows)
    rewrite_a(table)
    with pytest.raises(ValidationException, match=REMOVED):
        change.validate_no_conflicting_deletes().commit()


def test_changes_of_other_partitions_do_not_conflict(new_table, rows):
    table = new_table(BY_KIND, ON_READ)
    change = replacement(table, rows)
    add_and_remove(table, rows, "b")
    delete_and_undo(table, rows, "b")
    change.validate_no_conflicting_data().validate_no_conflicting_deletes().commit()
    assert ids(table) == [2, 3, 5, 6, 70]


def test_data_of_another_spec_does_not_conflict(new_table, rows):
    table = new_table(BY_KIND)
    change = replacement(table, rows)
    table.update_spec().remove_field("kind").commit()
    table.append(rows((50, "a", 1.0)))
    table.update_spec().add_field("kind", "identity", "kind").commit()
    change.validate_no_conflicting_data().validate_no_conflicting_deletes().commit()
    assert 50 in ids(table)


def test_data_of_another_spec_conflicts_with_a_replacement_of_the_whole_table(new_table, rows):
    table = new_table()
    change = replacement(table, rows)
    table.update_spec().add_field("kind", "identity", "kind").commit()
    add_and_remove(table, rows, "b")
    table.update_spec().remove_field("kind").commit()
    with pytest.raises(ValidationException, match=ADDED):
        change.validate_no_conflicting_data().commit()


def test_replacement_takes_no_conflict_filter(table, rows):
    with pytest.raises(ValidationError, match="so no filter restricts the checks"):
        replacement(table, rows).conflict_detection_filter("id = 1")
