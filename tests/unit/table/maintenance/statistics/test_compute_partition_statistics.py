"""Partition statistics: the file's columns and rows, plans."""

import io
import pickle

import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.table.maintenance import MaintenanceTable

from tests.unit.table.conftest import BY_KIND, rows_of

COLUMNS = {
    "partition": 1,
    "spec_id": 2,
    "data_record_count": 3,
    "data_file_count": 4,
    "total_data_file_size_in_bytes": 5,
    "position_delete_record_count": 6,
    "position_delete_file_count": 7,
    "equality_delete_record_count": 8,
    "equality_delete_file_count": 9,
    "total_record_count": 10,
    "last_updated_at": 11,
    "last_updated_snapshot_id": 12,
}


def read(table, file):
    return pq.read_table(io.BytesIO(table.io.new_input(file.statistics_path).open().read()))


def test_file_has_the_columns_and_ids_of_the_specification(new_table):
    table = new_table(BY_KIND)
    result = MaintenanceTable(table).compute_partition_statistics().execute()
    schema = read(table, result.statistics_file).schema
    assert {field.name: int(field.metadata[b"PARQUET:field_id"]) for field in schema} == COLUMNS
    assert [field.name for field in schema if not field.nullable] == list(COLUMNS)[:5]
    assert schema.field("partition").type.field(0).metadata[b"PARQUET:field_id"] == b"1000"


def test_rows_add_up_partitions_with_nulls_first(new_table):
    table = new_table(BY_KIND, {"write.delete.mode": "merge-on-read"})
    table.append(rows_of((7, "a", 0.0), (8, "a", 0.0)))
    table.delete("id = 8")
    result = MaintenanceTable(table).compute_partition_statistics().execute()
    rows = read(table, result.statistics_file).to_pylist()
    assert [row["partition"]["kind"] for row in rows] == [None, "a", "b"]
    assert [row["data_record_count"] for row in rows] == [2, 4, 2]
    assert [row["position_delete_record_count"] for row in rows] == [0, 1, 0]
    newest = table.current_snapshot()
    assert (rows[1]["last_updated_at"], rows[1]["last_updated_snapshot_id"]) == (
        newest.timestamp_ms,
        newest.snapshot_id,
    )
    assert table.metadata.partition_statistics == (result.statistics_file,)
    assert result.partitions == 3


def test_deleted_entry_is_an_update_of_its_partition(new_table):
    table = new_table(BY_KIND)
    table.delete("kind = 'a'")
    deleted = table.current_snapshot()
    result = MaintenanceTable(table).compute_partition_statistics().execute()
    rows = {row["partition"]["kind"]: row for row in read(table, result.statistics_file).to_pylist()}
    assert (rows["a"]["data_file_count"], rows["a"]["data_record_count"]) == (0, 0)
    assert rows["a"]["total_data_file_size_in_bytes"] == 0
    assert (rows["a"]["last_updated_at"], rows["a"]["last_updated_snapshot_id"]) == (
        deleted.timestamp_ms,
        deleted.snapshot_id,
    )
    assert rows["b"]["last_updated_snapshot_id"] != deleted.snapshot_id
    assert [row["kind"] for row in table.inspect.partitions().column("partition").to_pylist()] == [None, "b"]


def test_second_run_finds_nothing_to_do(new_table):
    table = new_table(BY_KIND)
    maintenance = MaintenanceTable(table)
    plan = maintenance.compute_partition_statistics().plan()
    assert plan == pickle.loads(pickle.dumps(plan))
    assert (plan.is_empty, plan.file_count) == (False, 2)
    maintenance.execute(plan)
    assert maintenance.compute_partition_statistics().plan().is_empty
    assert maintenance.compute_partition_statistics().execute().statistics_file is None
    with pytest.raises(ValidationException, match="has partition statistics since the plan; plan again"):
        maintenance.execute(plan)


def test_plan_is_refused_after_another_process_computed_the_statistics(new_table):
    table = new_table(BY_KIND)
    plan = MaintenanceTable(table).compute_partition_statistics().plan()
    table.catalog.load_table("db.t").maintenance.compute_partition_statistics().execute()
    with pytest.raises(ValidationException, match="has partition statistics since the plan; plan again"):
        MaintenanceTable(table).execute(plan)


def test_older_snapshots_have_files_of_their_own(new_table):
    table = new_table(BY_KIND)
    first = table.snapshots()[0].snapshot_id
    result = MaintenanceTable(table).compute_partition_statistics().snapshot(first).execute()
    rows = read(table, result.statistics_file).to_pylist()
    assert [row["data_record_count"] for row in rows] == [1, 1, 1]


def test_unpartitioned_tables_are_refused(new_table):
    with pytest.raises(ValidationError, match=r"db\.t is not partitioned"):
        MaintenanceTable(new_table()).compute_partition_statistics().plan()
