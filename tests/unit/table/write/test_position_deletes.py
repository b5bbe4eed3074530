"""Position delete files of repeated changes: positions of one data file stay in one delete file."""

import pyarrow as pa
import pytest
from icefloe.table.write.equality_deletes import write_equality_deletes

FORMATS = ["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)]


def merging(**properties):
    return {"write.delete.mode": "merge-on-read", "write.merge.mode": "merge-on-read", **properties}


def delete_files(table):
    return table.inspect.delete_files().select(["file_path", "record_count", "referenced_data_file"]).to_pylist()


def ids_of(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def numbered(new_table, count, **properties):
    """Return a table with one more file, of the ids from 100 on."""
    table = new_table(properties=merging(**properties))
    ids = pa.array(range(100, 100 + count), pa.int64())
    table.append(pa.table({"id": ids, "kind": ["z"] * count, "value": [1.0] * count}))
    return table


@pytest.mark.parametrize("file_format", FORMATS)
def test_deletes_in_turn_leave_one_delete_file_for_a_data_file(new_table, file_format):
    table = numbered(new_table, 30, **{"write.delete.format.default": file_format})
    for number in range(100, 120):
        table.delete(f"id = {number}")
    (file,) = delete_files(table)
    assert file["record_count"] == 20
    assert ids_of(table) == [*range(1, 7), *range(120, 130)]
    summary = table.current_snapshot().summary
    names = (
        "added-position-deletes",
        "removed-position-deletes",
        "removed-position-delete-files",
        "total-position-deletes",
    )
    assert [summary[name] for name in names] == ["20", "19", "1", "20"]


def test_merges_fold_the_deletes_of_earlier_merges(new_table):
    table = numbered(new_table, 10)
    for number in (100, 101, 102):
        source = pa.table({"id": pa.array([number], pa.int64()), "kind": ["new"], "value": [0.0]})
        table.merge(source, on=["id"]).when_matched_update().execute()
    (file,) = delete_files(table)
    assert file["record_count"] == 3
    assert table.scan("kind = 'new'").count() == 3
    assert ids_of(table) == [*range(1, 7), *range(100, 110)]


def test_deletes_of_other_data_files_stay_as_they_are(new_table):
    table = new_table(properties=merging())
    table.delete("id = 1")
    (first,) = delete_files(table)
    table.delete("id = 4")
    assert first in delete_files(table)
    assert len(delete_files(table)) == 2
    assert ids_of(table) == [2, 3, 5, 6]


def test_deletes_of_a_partition_are_left(new_table):
    table = new_table(properties=merging(**{"write.delete.granularity": "partition"}))
    table.delete("id = 1 or id = 4")
    (shared,) = delete_files(table)
    assert shared["referenced_data_file"] is None
    with table.transaction() as transaction:
        transaction.set_properties({"write.delete.granularity": "file"})
    table.delete("id = 2 or id = 5")
    assert shared in delete_files(table)
    assert len(delete_files(table)) == 3
    assert ids_of(table) == [3, 6]


def test_granularity_of_partitions_folds_nothing(new_table):
    table = numbered(new_table, 10)
    table.delete("id = 100")
    with table.transaction() as transaction:
        transaction.set_properties({"write.delete.granularity": "partition"})
    table.delete("id = 101")
    assert len(delete_files(table)) == 2
    assert ids_of(table) == [*range(1, 7), *range(102, 110)]


def test_deletes_of_one_transaction_fold(new_table):
    table = numbered(new_table, 10)
    with table.transaction() as transaction:
        transaction.delete("id = 100")
        transaction.delete("id = 101")
    (file,) = delete_files(table)
    assert file["record_count"] == 2
    assert ids_of(table) == [*range(1, 7), *range(102, 110)]


def test_equality_deletes_stay_beside_folded_positions(new_table):
    table = numbered(new_table, 10)
    (keys,) = write_equality_deletes(table.io, table.metadata, pa.table({"id": pa.array([105], pa.int64())}), [1])
    table.new_row_delta().add_deletes(keys).commit()
    table.delete("id = 100")
    table.delete("id = 101")
    assert sorted(file["record_count"] for file in delete_files(table)) == [1, 2]
    assert ids_of(table) == [*range(1, 7), 102, 103, 104, *range(106, 110)]
