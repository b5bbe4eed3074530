"""Equality delete files of tables, written by the public function and committed by row deltas."""

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import IdentityTransform

BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
FORMATS = ["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)]


def delete_keys(table, keys, ids, **options):
    """Write keys, commit them and return the files."""
    files = write_equality_deletes(table.io, table.metadata, pa.table(keys), ids, **options)
    delta = table.new_row_delta()
    for file in files:
        delta.add_deletes(file)
    delta.commit()
    return files


def ids_of(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


@pytest.mark.parametrize("file_format", FORMATS)
def test_keys_delete_rows_in_each_format(new_table, file_format):
    table = new_table(properties={"write.delete.format.default": file_format})
    (file,) = delete_keys(table, {"id": pa.array([2, 4, 99], pa.int64())}, [1])
    assert file.file_format.value == file_format.upper()
    assert (file.equality_ids, file.sort_order_id, file.record_count) == ([1], 0, 3)
    assert ids_of(table) == [1, 3, 5, 6]


@pytest.mark.parametrize("file_format", FORMATS)
def test_null_keys_delete_null_values(new_table, file_format):
    table = new_table(properties={"write.delete.format.default": file_format})
    delete_keys(table, {"kind": pa.array([None, "a"], pa.string())}, [2])
    assert ids_of(table) == [2, 5]


def test_composite_keys_delete_rows_equal_in_all_columns(new_table):
    table = new_table()
    delete_keys(table, {"kind": ["a", "b", None], "id": pa.array([1, 1, 6], pa.int64())}, [2, 1])
    assert ids_of(table) == [2, 3, 4, 5]


def test_keys_delete_rows_of_earlier_commits_only(new_table, rows):
    table = new_table()
    files = write_equality_deletes(table.io, table.metadata, rows((1, None, None)), [1])
    with table.transaction() as transaction:
        target = transaction.target()
        delta = transaction.new_row_delta().add_rows(target.writer.data_files(rows((1, "new", 9.0))))
        delta.add_deletes(files[0]).commit()
    assert table.scan("id = 1").to_arrow().column("kind").to_pylist() == ["new"]
    assert ids_of(table) == [1, 2, 3, 4, 5, 6]


def test_keys_deleted_twice_stay_deleted(new_table):
    table = new_table()
    for _ in range(2):
        delete_keys(table, {"id": pa.array([1, 1], pa.int64())}, [1])
    assert ids_of(table) == [2, 3, 4, 5, 6]
    assert table.current_snapshot().summary["total-equality-deletes"] == "4"


def test_keys_are_routed_to_their_partitions(new_table):
    table = new_table(spec=BY_KIND)
    keys = {"id": pa.array([1, 5, 2, 3], pa.int64()), "kind": ["a", "b", "a", None]}
    files = delete_keys(table, keys, [1])
    assert {file.partition[0]: file.record_count for file in files} == {"a": 2, "b": 1, None: 1}
    # Row 2 lies in another partition than the key that names it.
    assert ids_of(table) == [2, 4, 6]


def test_keys_of_an_unpartitioned_spec_delete_in_every_partition(new_table):
    table = new_table()
    unpartitioned = table.spec().spec_id
    with table.update_spec() as update:
        update.add_identity("kind")
    table.append(pa.table({"id": pa.array([7, 8], pa.int64()), "kind": ["a", "b"]}))
    delete_keys(table, {"id": pa.array([1, 7, 8], pa.int64())}, [1], spec_id=unpartitioned)
    assert ids_of(table) == [2, 3, 4, 5, 6]
    # With the newer spec, the keys do not reach files of the older one.
    delete_keys(table, {"id": pa.array([2], pa.int64()), "kind": ["b"]}, [1])
    assert ids_of(table) == [2, 3, 4, 5, 6]


def test_summary_counts_equality_deletes(new_table):
    table = new_table()
    delete_keys(table, {"id": pa.array([1, 2], pa.int64())}, [1])
    summary = table.current_snapshot().summary
    assert summary.operation.value == "delete"
    names = ("added-delete-files", "added-equality-delete-files", "added-equality-deletes", "total-equality-deletes")
    assert [summary[name] for name in names] == ["1", "1", "2", "2"]
    assert summary["total-records"] == "6"


def test_properties_replace_those_of_the_table(new_table):
    table = new_table()
    keys = pa.table({"id": pa.array(range(40_000), pa.int64())})
    options = {"write.delete.target-file-size-bytes": "20000", "write.delete.format.default": "avro"}
    files = write_equality_deletes(table.io, table.metadata, keys, [1], properties=options)
    assert len(files) > 2
    assert {file.file_format.value for file in files} == {"AVRO"}
    assert sum(file.record_count for file in files) == 40_000


def test_unknown_specs_are_refused(new_table):
    table = new_table()
    with pytest.raises(ValidationError, match="no partition spec 7; expected one of"):
        write_equality_deletes(table.io, table.metadata, pa.table({"id": [1]}), [1], spec_id=7)


def test_tables_of_version_1_refuse_equality_deletes(catalog, rows):
    table = catalog.create_table("db.old", rows().schema, properties={"format-version": "1"})
    table.append(rows((1, "a", 0.5)))
    (file,) = write_equality_deletes(table.io, table.metadata, pa.table({"id": [1]}), [1])
    with pytest.raises(ValidationError, match="expected format version 2, got 1"):
        table.new_row_delta().add_deletes(file).commit()
    assert UNPARTITIONED_PARTITION_SPEC.spec_id == file.spec_id


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["id"], r"expected field ids, got the name 'id'; table.schema\(\).find_field\('id'\).field_id is its"),
        ("id", r"expected a list of field ids such as \[1\], got 'id'"),
        (1, r"expected a list of field ids such as \[1\], got 1"),
        ([1.5], "expected a whole number, got 1.5"),
    ],
)
def test_keys_are_named_by_field_ids(new_table, ids, message):
    table = new_table()
    with pytest.raises(ValidationError, match=message):
        write_equality_deletes(table.io, table.metadata, pa.table({"id": [1]}), ids)
