"""Changes of rows beside a concurrent rewrite of files that they read and do not replace."""

import pytest
from icefloe.exceptions import ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import IdentityTransform

BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
LEVELS = ("serializable", "snapshot")


@pytest.fixture(params=LEVELS)
def handles(catalog, new_table, rows, mode, request):
    """Two handles on rows 1 to 6, 40, and 35 with 45 in one file whose statistics do not exclude 40."""
    levels = {f"write.{verb}.isolation-level": request.param for verb in ("delete", "update", "merge")}
    table = new_table(properties={**mode, **levels, "write.update.mode": mode["write.delete.mode"]})
    table.append(rows((35, "a", 3.5), (45, "a", 4.5)))
    table.append(rows((40, "b", 4.0)))
    return catalog.load_table("db.t"), catalog.load_table("db.t")


def written(table, rows):
    return table.transaction().target().writer.data_files(rows)


def files_with(table, row_filter):
    """Return the paths of the data files that have rows of a filter."""
    table.refresh()
    names = table.scan(row_filter, selected_fields=("_file",)).to_arrow().column("_file")
    return sorted(set(names.to_pylist()))


def rewrite(table, row_filter):
    """Replace the data files that have rows of a filter by one file with their rows."""
    paths = files_with(table, row_filter)
    found = table.scan().to_arrow()
    of_file = table.scan(selected_fields=("_file",)).to_arrow().column("_file").to_pylist()
    kept = found.filter([path in paths for path in of_file])
    table.new_rewrite().delete(paths).append(written(table, kept)).commit()


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def change(table, verb, rows):
    if verb == "delete":
        table.delete("id = 40")
    elif verb == "update":
        table.update("id = 40", {"value": 7.0})
    else:
        table.merge(
            rows((40, "b", 7.0), (41, "b", 7.0)), on=["id"]
        ).when_matched_update().when_not_matched_insert().execute()


@pytest.mark.parametrize("verb", ["delete", "update", "merge"])
def test_rewrite_of_files_that_a_change_only_read_is_no_conflict(handles, rows, verb):
    first, second = handles
    rewrite(first, "id in (35, 45)")
    rewrite(first, "id in (35, 45)")
    change(second, verb, rows)
    expected = {"delete": [35, 45], "update": [35, 40, 45], "merge": [35, 40, 41, 45]}
    assert ids(second) == [1, 2, 3, 4, 5, 6, *expected[verb]]


def test_rewrite_of_files_outside_an_overwrite_is_no_conflict(handles, rows):
    first, second = handles
    rewrite(first, "id in (35, 45)")
    second.overwrite(rows((40, "c", 1.0), (41, "c", 1.0)), "id = 40 or id = 41")
    assert ids(second) == [1, 2, 3, 4, 5, 6, 35, 40, 41, 45]


@pytest.mark.parametrize("verb", ["delete", "update", "merge"])
def test_rewrite_of_the_changed_files_is_a_conflict(handles, rows, verb):
    first, second = handles
    rewrite(first, "id = 40")
    with pytest.raises(ValidationException):
        change(second, verb, rows)
    assert ids(second) == [1, 2, 3, 4, 5, 6, 35, 40, 45]


def test_rows_that_are_appended_and_then_rewritten_conflict(handles, rows):
    first, second = handles
    first.append(rows((40, "new", 1.0)))
    rewrite(first, "kind = 'new'")
    rewrite(first, "kind = 'new'")
    serializable = second.metadata.properties["write.delete.isolation-level"] == "serializable"
    if serializable:
        with pytest.raises(ValidationException, match="added data"):
            second.delete("id = 40")
    else:
        second.delete("id = 40")
    assert ids(second).count(40) == (2 if serializable else 1)


def merge_over(table, rows):
    """Update the row 40, and insert a row 45 if there is none."""
    merge = table.merge(rows((40, "b", 7.0), (45, "b", 7.0)), on=["id"]).when_not_matched_insert()
    merge.when_matched_update(condition="target.id = 40").execute()


def test_rows_that_are_deleted_and_then_rewritten_conflict(handles, rows):
    first, second = handles
    first.delete("id = 45")
    rewrite(first, "id = 35")
    with pytest.raises(ValidationException):
        merge_over(second, rows)


def test_rows_that_equality_deletes_remove_before_a_rewrite_conflict(handles, rows):
    first, second = handles
    keys = rows((45, None, None)).select(["id"])
    (deletes,) = write_equality_deletes(first.io, first.metadata, keys, [1])
    first.new_row_delta().add_deletes(deletes).commit()
    rewrite(first, "id = 35")
    with pytest.raises(ValidationException):
        merge_over(second, rows)


def test_rows_that_are_rewritten_and_then_deleted_conflict(handles, rows):
    first, second = handles
    rewrite(first, "id = 35")
    first.delete("id = 45")
    rewrite(first, "id = 35")
    with pytest.raises(ValidationException):
        merge_over(second, rows)


def test_rewritten_files_whose_rows_are_all_deleted_conflict(handles, rows):
    first, second = handles
    rewrite(first, "id = 35")
    first.delete("id = 35 or id = 45")
    with pytest.raises(ValidationException):
        merge_over(second, rows)


@pytest.mark.parametrize("deletes", [False, True])
def test_rewrite_within_replaced_partitions_conflicts_as_removed_data_only(catalog, new_table, rows, deletes):
    new_table(BY_KIND)
    first, second = catalog.load_table("db.t"), catalog.load_table("db.t")
    rewrite(first, "id = 1")
    change = second.new_replace_partitions().append(written(second, rows((9, "a", 9.0))))
    change.validate_from_snapshot(second.current_snapshot().snapshot_id).validate_no_conflicting_data()
    if not deletes:
        change.commit()
        assert ids(second) == [2, 3, 5, 6, 9]
        return
    with pytest.raises(ValidationException, match="removed data"):
        change.validate_no_conflicting_deletes().commit()


def test_row_delta_beside_a_rewrite_of_other_files_is_no_conflict(handles, rows):
    first, second = handles
    read = second.current_snapshot().snapshot_id
    rewrite(first, "id = 35")
    delta = second.new_row_delta().add_rows(written(second, rows((50, "c", 1.0)))).validate_from_snapshot(read)
    delta.validate_no_conflicting_data_files().validate_no_conflicting_delete_files().commit()
    assert ids(second) == [1, 2, 3, 4, 5, 6, 35, 40, 45, 50]
