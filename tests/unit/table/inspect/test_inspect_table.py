import pyarrow as pa


def test_metadata_tables_without_snapshots_are_empty(catalog):
    table = catalog.create_table("db.none", pa.schema([("id", pa.int64())]))
    inspect = table.inspect
    for made in (inspect.snapshots(), inspect.history(), inspect.refs(), inspect.manifests(), inspect.files()):
        assert made.num_rows == 0
    assert inspect.partitions().num_rows == 0


def test_metadata_tables_count_files_manifests_and_entries(new_table):
    table = new_table(properties={"write.delete.mode": "merge-on-read"})
    table.delete("id = 2")
    inspect = table.inspect
    assert inspect.snapshots().column("operation").to_pylist() == ["append", "append", "delete"]
    assert inspect.data_files().num_rows == 2
    assert inspect.delete_files().num_rows == 1
    assert sum(inspect.manifests().column("added_data_files_count").to_pylist()) == 2
    assert sum(inspect.manifests().column("added_delete_files_count").to_pylist()) == 1
    assert inspect.entries().num_rows == 3
    assert inspect.files(table.snapshots()[0].snapshot_id).num_rows == 1
    assert inspect.history().column("is_current_ancestor").to_pylist() == [True, True, True]


def test_partitions_sum_files_and_rows(new_table):
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.transforms import IdentityTransform

    table = new_table(PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind")))
    rows = {row["partition"]: row for row in table.inspect.partitions().to_pylist()}
    assert set(rows) == {'["a"]', '["b"]', "[null]"}
    assert all((row["record_count"], row["file_count"]) == (2, 2) for row in rows.values())
