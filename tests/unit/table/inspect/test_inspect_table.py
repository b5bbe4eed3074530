from datetime import datetime, timezone

import pyarrow as pa
import pytest
from icefloe.exceptions import InvalidMetadataError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import BucketTransform
from icefloe.types import StringType

from tests.unit.table.conftest import BY_KIND, rows_of


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
    table = new_table(BY_KIND)
    rows = {row["partition"]["kind"]: row for row in table.inspect.partitions().to_pylist()}
    assert set(rows) == {"a", "b", None}
    assert all((row["record_count"], row["file_count"]) == (2, 2) for row in rows.values())
    newest = table.current_snapshot()
    assert {row["last_updated_snapshot_id"] for row in rows.values()} == {newest.snapshot_id}
    assert rows["a"]["last_updated_at"] == datetime.fromtimestamp(newest.timestamp_ms / 1_000, timezone.utc)


def test_partitions_are_sorted_by_tuple_and_then_by_spec(new_table):
    table = new_table(BY_KIND)
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(2), "half")
    table.append(rows_of((7, "a", 1.0)))
    rows = table.inspect.partitions().to_pylist()
    found = [(row["partition"]["kind"], row["partition"]["half"], row["spec_id"]) for row in rows]
    assert [kind for kind, _, _ in found] == [None, "a", "a", "b"]
    assert [spec for _, _, spec in found] == [0, 0, 1, 0]
    assert [half is None for _, half, _ in found] == [True, True, False, True]


def test_partitions_of_an_unpartitioned_table_are_one_row_without_a_partition(new_table):
    (row,) = new_table().inspect.partitions().to_pylist()
    assert "partition" not in row
    assert "spec_id" not in row
    assert (row["record_count"], row["file_count"]) == (6, 2)


def test_partitions_leave_out_files_without_matching_rows(new_table):
    partitions = new_table(BY_KIND).inspect.partitions
    assert partitions(row_filter="kind = 'a'").num_rows == 1
    assert partitions(row_filter="KIND = 'a'", case_sensitive=False).num_rows == 1
    assert [row["file_count"] for row in partitions(row_filter="id > 3").to_pylist()] == [1, 1, 1]


def test_entries_hold_removed_files_and_files_do_not(new_table):
    table = new_table(BY_KIND)
    table.delete("kind = 'a'")
    entries, files = table.inspect.entries().to_pylist(), table.inspect.files().to_pylist()
    assert sorted(entry["status"] for entry in entries) == [0, 0, 0, 0, 2, 2]
    live = sorted(entry["data_file"]["file_path"] for entry in entries if entry["status"] < 2)
    assert live == sorted(file["file_path"] for file in files)
    removed = [entry["data_file"]["partition"] for entry in entries if entry["status"] == 2]
    assert removed == [{"kind": "a"}] * 2


def test_readable_metrics_have_the_names_and_types_of_columns(new_table):
    files = new_table().inspect.files().column("readable_metrics").to_pylist()
    metrics = min(files, key=lambda file: file["id"]["lower_bound"])
    assert list(metrics) == ["id", "kind", "value"]
    assert (metrics["id"]["lower_bound"], metrics["id"]["upper_bound"]) == (1, 3)
    assert (metrics["kind"]["value_count"], metrics["kind"]["null_value_count"]) == (3, 1)
    assert (metrics["value"]["nan_value_count"], metrics["value"]["upper_bound"]) == (0, 1.5)
    assert metrics["kind"]["nan_value_count"] is None


def test_readable_metrics_follow_the_current_schema(new_table):
    table = new_table()
    with table.update_schema() as update:
        update.rename_column("kind", "sort")
        update.delete_column("value")
        update.add_column("more", StringType())
    metrics = table.inspect.files().to_pylist()[0]["readable_metrics"]
    assert metrics["sort"]["lower_bound"] == "a"
    assert set(metrics) == {"id", "sort", "more"}
    assert set(metrics["more"].values()) == {None}


def test_all_tables_have_the_rows_of_every_snapshot(new_table):
    table = new_table()
    first, second = (snapshot.snapshot_id for snapshot in table.snapshots())
    manifests = table.inspect.all_manifests()
    assert manifests.column("reference_snapshot_id").to_pylist() == [first, second, second]
    assert table.inspect.all_files().num_rows == 2
    table.overwrite(rows_of((9, "z", 1.0)))
    assert table.inspect.files().num_rows == 1
    assert set(table.inspect.files(second)["file_path"].to_pylist()) <= set(
        table.inspect.all_data_files()["file_path"].to_pylist()
    )
    assert table.inspect.all_entries().num_rows > table.inspect.entries().num_rows


def test_manifests_summarise_partitions_as_text(new_table):
    table = new_table(BY_KIND)
    summaries = table.inspect.manifests().column("partition_summaries").to_pylist()
    expected = {"contains_null": True, "contains_nan": False, "lower_bound": "a", "upper_bound": "b"}
    assert summaries == [[expected], [expected]]


@pytest.mark.parametrize("name", ["manifests", "all_manifests"])
def test_manifests_have_no_bounds_of_a_dropped_partition_column(new_table, name):
    table = new_table(PartitionSpec(*BY_KIND.fields, PartitionField(1, 1001, BucketTransform(1), "bucket")))
    with table.update_spec() as update:
        update.remove_field("kind")
    with table.update_schema() as update:
        update.delete_column("kind")
    table.append(pa.table({"id": pa.array([9], pa.int64()), "value": [0.5]}))
    found = {str(one) for one in table.inspect.scan(name).to_arrow().column("partition_summaries").to_pylist()}
    lost = {"contains_null": True, "contains_nan": False, "lower_bound": "null", "upper_bound": "null"}
    bucket = {"contains_null": False, "contains_nan": False, "lower_bound": "0", "upper_bound": "0"}
    assert found == {str([lost, bucket]), str([bucket])}


def test_metadata_log_ends_with_the_current_file(new_table):
    table = new_table()
    log = table.inspect.metadata_log_entries().to_pylist()
    assert log[-1]["file"] == table.metadata_location
    assert [row["latest_sequence_number"] for row in log] == [None, 1, 2]
    assert log[-1]["latest_snapshot_id"] == table.current_snapshot().snapshot_id


def test_position_deletes_name_the_deleted_rows(new_table):
    table = new_table(BY_KIND, {"write.delete.mode": "merge-on-read"})
    table.append(rows_of((7, "a", 0.0), (8, "a", 0.0)))
    table.delete("id = 8")
    (row,) = table.inspect.position_deletes().to_pylist()
    (delete,) = table.inspect.delete_files().to_pylist()
    assert (row["pos"], row["row"], row["partition"]) == (1, None, {"kind": "a"})
    assert row["delete_file_path"] == delete["file_path"]
    assert row["file_path"] == delete["referenced_data_file"]


def test_unknown_snapshot_is_refused(new_table):
    with pytest.raises(ValidationError, match=r"db\.t has no snapshot 5; it may have been expired"):
        new_table().inspect.files(5)


@pytest.mark.parametrize(("name", "log"), [("history", "snapshot_log"), ("metadata_log_entries", "metadata_log")])
def test_time_that_does_not_fit_microseconds_is_invalid_metadata(new_table, name, log):
    table = new_table()
    entries = getattr(table.metadata, log)
    absurd = entries.appended(entries[0].model_copy(update={"timestamp_ms": 2**62}))
    table.show(table.metadata.with_(**{log: absurd}), table.metadata_location)
    with pytest.raises(InvalidMetadataError, match=f"metadata table {name}: .*microseconds"):
        getattr(table.inspect, name)()
