"""Row deltas of files that the caller has written, and their checks against concurrent commits."""

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.manifest import DataFile
from icefloe.table.write.equality_deletes import as_data_files, write_equality_deletes


@pytest.fixture
def handles(catalog, new_table):
    new_table(properties={"write.delete.mode": "merge-on-read"})
    return catalog.load_table("db.t"), catalog.load_table("db.t")


def ids_of(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def new_rows(table, rows):
    """Write rows to data files that are not committed."""
    (file,) = as_data_files(table.metadata, table.transaction().target().writer.data_files(rows))
    return file


def key_file(table, *ids):
    (file,) = write_equality_deletes(table.io, table.metadata, pa.table({"id": pa.array(ids, pa.int64())}), [1])
    return file


def position_file(table, row_filter, *positions):
    """Write a delete file of positions of the first data file of a filter."""
    files = table.scan(row_filter).plan_whole_files().files
    path = files.column("file_path")[0].as_py()
    deletes = (
        table.transaction()
        .target()
        .writer.position_deletes(
            pa.table({"file_path": [path] * len(positions), "pos": pa.array(positions, pa.int64())}),
            files.select(["file_path", "spec_id", "partition"]),
        )
    )
    (file,) = as_data_files(table.metadata, deletes)
    return file


def delete_files(table):
    return sorted(table.inspect.delete_files().column("file_path").to_pylist())


@pytest.mark.parametrize(
    ("parts", "operation"),
    [
        ("rows", "append"),
        ("keys", "delete"),
        ("positions", "delete"),
        ("rows keys", "overwrite"),
        ("keys removal", "delete"),
        ("rows removal", "overwrite"),
    ],
)
def test_operation_follows_from_the_parts(handles, rows, parts, operation):
    table, _ = handles
    delta = table.new_row_delta()
    if "rows" in parts:
        delta.add_rows(new_rows(table, rows((9, "z", None))))
    if "keys" in parts:
        delta.add_deletes(key_file(table, 1))
    if "positions" in parts:
        delta.add_deletes(position_file(table, "id = 1", 0))
    if "removal" in parts:
        delta.remove_rows([table.scan("id = 4").plan_whole_files().files.column("file_path")[0].as_py()])
    delta.commit()
    assert table.current_snapshot().summary.operation.value == operation


def test_files_of_the_wrong_kind_are_refused(handles, rows):
    table, _ = handles
    rows_file, deletes = new_rows(table, rows((9, "z", None))), key_file(table, 1)
    with pytest.raises(ValidationError, match=r"expected data files, got delete file .*add_deletes\(\)"):
        table.new_row_delta().add_rows(deletes)
    with pytest.raises(ValidationError, match=r"expected delete files, got data file .*add_rows\(\)"):
        table.new_row_delta().add_deletes(rows_file)


def test_files_of_unknown_specs_are_refused(handles):
    table, _ = handles
    file = DataFile.from_args(
        content=2, file_path="/x", file_format="PARQUET", record_count=1, file_size_in_bytes=1, spec_id=9
    )
    with pytest.raises(ValidationError, match="no partition spec 9"):
        table.new_row_delta().add_deletes(file)


def test_removed_delete_files_delete_no_more_rows(handles):
    table, _ = handles
    file = key_file(table, 1, 2)
    table.new_row_delta().add_deletes(file).commit()
    assert ids_of(table) == [3, 4, 5, 6]
    table.new_row_delta().add_deletes(key_file(table, 1)).remove_deletes(file).commit()
    assert ids_of(table) == [2, 3, 4, 5, 6]
    summary = table.current_snapshot().summary
    names = ("removed-delete-files", "removed-equality-delete-files", "removed-equality-deletes", "total-delete-files")
    assert [summary[name] for name in names] == ["1", "1", "2", "1"]
    assert len(delete_files(table)) == 1


def test_removal_of_a_delete_file_that_is_gone_is_refused(handles):
    first, second = handles
    file = key_file(first, 1)
    first.new_row_delta().add_deletes(file).commit()
    second.refresh()
    first.new_row_delta().remove_deletes(file).commit()
    with pytest.raises(ValidationException, match="not part of the table any more"):
        second.new_row_delta().remove_deletes(file).commit()


def test_removed_data_files_may_not_be_referenced(handles):
    table, _ = handles
    file = position_file(table, "id = 1", 0)
    delta = table.new_row_delta().add_deletes(file).remove_rows([file.referenced_data_file])
    with pytest.raises(ValidationError, match="is removed, and new delete files refer to it"):
        delta.commit()
    assert ids_of(table) == [1, 2, 3, 4, 5, 6]


def test_no_conflicting_data_files_lets_other_rows_pass(handles, rows):
    first, second = handles
    read = second.current_snapshot().snapshot_id
    first.append(rows((7, "a", None)))

    def delta(row_filter):
        change = second.new_row_delta().add_deletes(key_file(second, 1)).validate_from_snapshot(read)
        return change.conflict_detection_filter(row_filter).validate_no_conflicting_data_files()

    with pytest.raises(ValidationException, match="added data that this operation did not read"):
        delta("id > 6").commit()
    delta("id < 7").commit()
    assert ids_of(second) == [2, 3, 4, 5, 6, 7]


def test_no_conflicting_delete_files_finds_equality_deletes(handles):
    first, second = handles
    read = second.current_snapshot().snapshot_id
    first.new_row_delta().add_deletes(key_file(first, 1)).commit()

    def delta(row_filter):
        change = second.new_row_delta().add_deletes(key_file(second, 2)).validate_from_snapshot(read)
        return change.conflict_detection_filter(row_filter).validate_no_conflicting_delete_files()

    with pytest.raises(ValidationException, match="deleted rows that this operation read"):
        delta("id <= 3").commit()
    delta("id >= 4").commit()
    assert ids_of(second) == [3, 4, 5, 6]


@pytest.mark.parametrize("strict", [False, True])
def test_deleted_files_count_when_they_are_validated(handles, strict):
    first, second = handles
    file = position_file(second, "id = 1", 0)
    path = second.scan("id = 4").plan_whole_files().files.column("file_path")[0].as_py()
    read = second.current_snapshot().snapshot_id
    first.new_delete().delete([path]).commit()
    change = second.new_row_delta().add_deletes(file).validate_from_snapshot(read).validate_data_files_exist([path])
    if strict:
        with pytest.raises(ValidationException, match="removed data that this operation changes"):
            change.validate_deleted_files().commit()
    else:
        change.commit()
        assert ids_of(second) == [2, 3]


def checks_data(delta):
    return delta.validate_no_conflicting_data_files()


def checks_deletes(delta):
    return delta.validate_no_conflicting_delete_files()


@pytest.mark.parametrize("parts", ["rows", "keys"])
@pytest.mark.parametrize(("check", "message"), [(checks_data, "added data"), (checks_deletes, "deleted rows")])
def test_requested_checks_without_a_start_begin_at_the_loaded_version(handles, rows, parts, check, message):
    first, second = handles
    delta = second.new_row_delta()
    if parts == "rows":
        delta.add_rows(new_rows(second, rows((1, "a", 2.0))))
    else:
        delta.add_deletes(key_file(second, 1))
    first.new_row_delta().add_rows(new_rows(first, rows((1, "a", 3.0)))).add_deletes(key_file(first, 1)).commit()
    with pytest.raises(ValidationException, match=message):
        check(delta.conflict_detection_filter("id = 1")).commit()


@pytest.mark.parametrize("check", [checks_data, checks_deletes])
def test_requested_checks_without_a_start_ignore_older_commits(handles, check):
    table, _ = handles
    check(table.new_row_delta().add_deletes(key_file(table, 1))).commit()
    assert ids_of(table) == [2, 3, 4, 5, 6]


def test_rows_that_others_added_and_removed_again_do_not_conflict(handles, rows):
    first, second = handles
    read = second.current_snapshot().snapshot_id
    deletes = key_file(second, 1)
    added = new_rows(first, rows((1, "a", 3.0)))
    first.new_row_delta().add_rows(added).commit()
    first.new_delete().delete([added.file_path]).commit()
    delta = second.new_row_delta().add_deletes(deletes).validate_from_snapshot(read)
    delta.conflict_detection_filter("id = 1").validate_no_conflicting_data_files().commit()
    assert ids_of(second) == [2, 3, 4, 5, 6]
