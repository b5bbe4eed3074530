"""Files that a change adds twice: the table has each once."""

import pyarrow as pa
import pytest
from icefloe.table.commit.repeated_files import without_repeated
from icefloe.table.write.equality_deletes import as_data_files


@pytest.fixture
def table(new_table, catalog):
    new_table()
    return catalog.load_table("db.t")


def new_files(table, *ids):
    return table.transaction().target().writer.data_files(table_rows(table, ids))


def table_rows(table, ids):
    return pa.table({"id": pa.array(ids, pa.int64())}).cast(table.schema().select("id").as_arrow())


def new_ids(table):
    return sorted(table.refresh().scan("id > 100").to_arrow()["id"].to_pylist())


CHANGES = {
    "row delta": lambda table, files: table.new_row_delta().add_rows(files).add_rows(files),
    "fast append": lambda table, files: table.new_fast_append().append(files).append(files),
    "merge append": lambda table, files: table.new_append().append(files).append(files),
    "overwrite": lambda table, files: table.new_overwrite().append(files).append(files),
}


@pytest.mark.parametrize("change", CHANGES)
def test_they_are_added_once(table, change):
    CHANGES[change](table, new_files(table, 101, 102)).commit()
    assert new_ids(table) == [101, 102]
    assert table.current_snapshot().summary["added-data-files"] == "1"
    assert table.current_snapshot().summary["added-records"] == "2"


def test_data_file_objects_are_added_once(table):
    (file,) = as_data_files(table.metadata, new_files(table, 101))
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(file)
        append.append_data_file(file)
    assert new_ids(table) == [101]


def test_the_first_file_of_a_path_stays():
    def batch(*rows):
        return pa.RecordBatch.from_pylist([{"file_path": path, "n": n} for path, n in rows])

    found = without_repeated([batch(("a", 1), ("b", 2), ("a", 3)), batch(("b", 4)), batch(("c", 5))])
    assert [one.to_pylist() for one in found] == [
        batch(("a", 1), ("b", 2)).to_pylist(),
        [],
        batch(("c", 5)).to_pylist(),
    ]
    assert without_repeated([]) == []
