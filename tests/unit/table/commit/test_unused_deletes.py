"""Delete files that apply to nothing any more, which the commit that makes them so drops."""

import pyarrow as pa
import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
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


BY_PART = PartitionSpec(PartitionField(2, 1000, "identity", "part"))
PARTS = pa.schema([("id", pa.int64()), ("part", pa.string())])
COPY_ON_WRITE = {f"write.{operation}.mode": "copy-on-write" for operation in ("delete", "update", "merge")}


def of_part(part, *ids):
    return pa.table({"id": ids, "part": [part] * len(ids)}, schema=PARTS)


def add_keys(table, part, *ids):
    (file,) = write_equality_deletes(table.io, table.metadata, of_part(part, *ids), [1])
    table.new_row_delta().add_deletes(file).commit()
    return file.file_path


@pytest.fixture(params=["keys", "positions"])
def parted(request, catalog):
    """A table with an older data file in part b than the delete file of part a, which deletes ids 1 and 4 of two data files."""
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    table = catalog.create_table("db.parts", PARTS, partition_spec=BY_PART, properties=properties)
    table.append(of_part("b", 11, 12))
    table.append(of_part("a", 1, 2))
    table.append(of_part("a", 3, 4))
    if request.param == "keys":
        add_keys(table, "a", 1, 4)
    else:
        table.delete("id = 1 or id = 4")
    with table.transaction() as transaction:
        transaction.set_properties(COPY_ON_WRITE)
    assert len(delete_files(table)) == 1
    return table


def ids_of(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


@pytest.mark.parametrize(
    ("change", "remaining"),
    [
        (lambda table: table.delete("id <= 4"), [11, 12]),
        (lambda table: table.update("id <= 4", {"id": "id + 20"}), [11, 12, 22, 23]),
        (lambda table: table.merge(of_part("a", 2, 3), on=["id"]).when_matched_delete().execute(), [11, 12]),
        (lambda table: table.overwrite(of_part("a", 7), "id <= 4"), [7, 11, 12]),
    ],
    ids=["delete", "update", "merge", "overwrite"],
)
def test_deletes_of_a_partition_are_dropped_with_its_last_older_data_file(parted, change, remaining):
    change(parted)
    assert delete_files(parted) == []
    assert ids_of(parted) == remaining
    assert parted.current_snapshot().summary["total-delete-files"] == "0"


def test_deletes_of_a_partition_are_dropped_beside_newer_rows(parted):
    parted.append(of_part("a", 1))
    parted.delete("id = 2 or id = 3")
    assert delete_files(parted) == []
    assert ids_of(parted) == [1, 11, 12]


def test_deletes_of_a_partition_are_kept_while_an_older_data_file_remains(parted):
    parted.delete("id = 3")
    assert len(delete_files(parted)) == 1
    assert ids_of(parted) == [2, 11, 12]


def test_deletes_of_a_partition_outlive_the_data_files_of_another(parted):
    parted.delete("part = 'b'")
    assert len(delete_files(parted)) == 1
    assert ids_of(parted) == [2, 3]


def test_a_rewrite_that_keeps_the_sequence_number_keeps_newer_keys(parted):
    read = parted.current_snapshot()
    paths = parted.scan("part = 'a'").plan_whole_files().files.column("file_path")
    copy = parted.transaction().target().writer.data_files(parted.scan("part = 'a'").to_arrow())
    newer = add_keys(parted, "a", 2)
    rewrite = parted.new_rewrite().validate_from_snapshot(read.snapshot_id).delete(paths).append(copy)
    rewrite.data_sequence_number(read.sequence_number)
    rewrite.commit()
    assert newer in delete_files(parted)
    assert ids_of(parted) == [3, 11, 12]


def test_an_attempt_decides_on_the_data_files_of_the_newest_version(catalog, parted):
    stale = catalog.load_table("db.parts")
    (old,) = delete_files(parted)
    change = stale.new_delete().delete(stale.scan("id = 3").plan_whole_files().files.column("file_path"))
    parted.new_delete().delete(parted.scan("id <= 2").plan_whole_files().files.column("file_path")).commit()
    assert delete_files(parted) == [old]
    newer = add_keys(parted, "b", 11)
    change.commit()
    assert delete_files(stale) == [newer]
    assert ids_of(stale) == [12]


def test_keys_of_every_partition_are_dropped_with_the_last_data_file(new_table, rows):
    table = new_table()
    (file,) = write_equality_deletes(table.io, table.metadata, rows((1, None, None)), [1])
    table.new_row_delta().add_deletes(file).commit()
    table.new_delete().delete(table.scan().plan_whole_files().files.column("file_path")).commit()
    assert delete_files(table) == []


def test_keys_of_every_partition_outlive_the_data_files_of_one(catalog):
    table = catalog.create_table("db.parts", PARTS)
    with table.update_spec() as update:
        update.add_identity("part")
    for part, number in (("a", 1), ("b", 11)):
        table.append(of_part(part, number, number + 1))
    (file,) = write_equality_deletes(table.io, table.metadata, of_part("a", 1, 11), [1], spec_id=0)
    table.new_row_delta().add_deletes(file).commit()
    table.delete("part = 'a'")
    assert delete_files(table) == [file.file_path]
    assert ids_of(table) == [12]
