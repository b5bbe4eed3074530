"""Delete files that apply to nothing any more, which the commit that makes them so drops."""

import pyarrow as pa
import pytest
from icefloe.table.write.equality_deletes import write_equality_deletes


@pytest.fixture
def table(new_table):
    return new_table(properties={"write.delete.mode": "merge-on-read"})


def delete_files(table):
    return table.inspect.delete_files().column("file_path").to_pylist()


def path_of(table, row_filter):
    return table.scan(row_filter).plan_whole_files().files.column("file_path")[0].as_py()


def test_deletes_of_a_removed_data_file_are_dropped(table):
    table.delete("id = 1")
    table.delete("id = 4")
    assert len(delete_files(table)) == 2
    table.new_delete().delete([path_of(table, "id = 2")]).commit()
    summary = table.current_snapshot().summary
    assert (summary["removed-position-delete-files"], summary["total-position-deletes"]) == ("1", "1")
    (left,) = delete_files(table)
    assert path_of(table, "id = 5") == table.inspect.delete_files().column("referenced_data_file")[0].as_py()
    assert left in delete_files(table)


def test_deletes_of_a_rewritten_data_file_are_dropped(table):
    table.delete("id = 1")
    copy = table.transaction().target().writer.data_files(table.scan("id <= 3").to_arrow())
    table.new_overwrite().delete([path_of(table, "id = 2")]).append(copy).commit()
    assert delete_files(table) == []
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [2, 3, 4, 5, 6]


def test_deletes_whose_bounds_name_one_data_file_are_dropped(table):
    plan = table.scan("id = 1").plan_whole_files()
    positions = pa.table({"file_path": plan.files.column("file_path").slice(0, 1), "pos": pa.array([0], pa.int64())})
    targets = plan.files.select(["file_path", "spec_id", "partition"])
    written = table.transaction().target().writer.position_deletes(positions, targets)
    number = written.schema.get_field_index("referenced_data_file")
    unnamed = written.set_column(number, written.schema.field(number), pa.nulls(1, pa.string()))
    table.new_row_delta().add_deletes(unnamed).commit()
    assert table.scan().count() == 5
    table.new_delete().delete([path_of(table, "id = 2")]).commit()
    assert delete_files(table) == []


def test_deletes_of_a_partition_outlive_one_of_its_data_files(new_table):
    table = new_table(properties={"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"})
    table.delete("id = 1 or id = 4")
    table.new_delete().delete([path_of(table, "id = 2")]).commit()
    assert len(delete_files(table)) == 1
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [5, 6]


def test_equality_deletes_are_dropped_with_the_last_older_data_file(table, rows):
    (file,) = write_equality_deletes(table.io, table.metadata, rows((1, None, None)), [1])
    table.new_row_delta().add_deletes(file).commit()
    table.append(rows((7, "a", None)))
    for row_filter in ("id = 2", "id = 5"):
        assert delete_files(table) == [file.file_path]
        table.new_delete().delete([path_of(table, row_filter)]).commit()
    # Java drops such files with the next commit, once their sequence numbers are below those of all data files.
    assert delete_files(table) == []
    assert table.scan().to_arrow().column("id").to_pylist() == [7]


def test_changes_that_remove_no_file_keep_older_delete_files(table, rows):
    (file,) = write_equality_deletes(table.io, table.metadata, rows((1, None, None)), [1])
    paths = table.scan().plan_whole_files().files.column("file_path").to_pylist()
    table.new_delete().delete(paths).commit()
    table.new_row_delta().add_deletes(file).commit()
    table.append(rows((7, "a", None)))
    table.append(rows((8, "a", None)))
    table.new_overwrite().append(table.transaction().target().writer.data_files(rows((9, "a", None)))).commit()
    assert delete_files(table) == [file.file_path]
    table.new_delete().delete([path_of(table, "id = 8")]).commit()
    assert delete_files(table) == []
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [7, 9]
