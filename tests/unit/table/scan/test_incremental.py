import json
from pathlib import Path

import fastavro
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.metadata import TableMetadataUtil
from icefloe.types import StringType


def ids(scan):
    return scan.to_arrow().column("id").to_pylist()


@pytest.fixture
def history(new_table, rows, mode):
    """A table and its snapshots: append 1 to 3, append 4 to 6, delete 2, append 7 and 8, overwrite 5 by 50."""
    table = new_table(properties=mode)
    table.delete("id = 2")
    table.append(rows((7, "a", None), (8, "b", 1.0)))
    table.overwrite(rows((50, "z", 0.0)), "id = 5")
    return table, [snapshot.snapshot_id for snapshot in table.snapshots()]


def test_append_scan_returns_appended_rows_deleted_since(history):
    table, snapshots = history
    assert ids(table.incremental_append_scan()) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert ids(table.incremental_append_scan(from_snapshot_id_exclusive=snapshots[0])) == [4, 5, 6, 7, 8]
    assert ids(table.incremental_append_scan(to_snapshot_id_inclusive=snapshots[2])) == [1, 2, 3, 4, 5, 6]
    assert ids(table.incremental_append_scan(from_snapshot_id_exclusive=snapshots[1])) == [7, 8]
    assert ids(table.incremental_append_scan(from_snapshot_id_exclusive=snapshots[-1])) == []
    assert ids(table.incremental_append_scan().from_snapshot_id_inclusive(snapshots[1])) == [4, 5, 6, 7, 8]


def test_append_scan_selects_filters_limits_and_counts(history):
    table, _ = history
    scan = table.incremental_append_scan(row_filter="id > 2 and kind = 'b'", selected_fields=("id",), limit=1)
    assert scan.to_arrow().to_pylist() == [{"id": 5}]
    assert scan.count() == 1
    assert table.incremental_append_scan(row_filter="id > 2").count() == 6
    assert table.incremental_append_scan(selected_fields=("_file", "id")).to_arrow().num_rows == 8
    assert [task.record_count for task in table.incremental_append_scan().plan_files()] == [3, 3, 2]
    assert table.incremental_append_scan().to_polars().height == 8


def test_append_scan_counts_without_data_files(history):
    table, _ = history
    for path in table.inspect.files().column("file_path").to_pylist():
        table.io.core.delete(path)
    assert table.incremental_append_scan().count() == 8


def test_append_scan_finds_files_of_merged_manifests(new_table, rows):
    table = new_table(properties={"commit.manifest.min-count-to-merge": "2"})
    seen = table.current_snapshot().snapshot_id
    for number in range(7, 12):
        table.append(rows((number, "k", None)))
    assert ids(table.incremental_append_scan(from_snapshot_id_exclusive=seen)) == [7, 8, 9, 10, 11]
    assert ids(table.incremental_append_scan()) == list(range(1, 12))


def test_range_is_set_by_refs_and_times(new_table, rows):
    table = new_table()
    first, second = table.snapshots()
    table.manage_snapshots().create_tag(first.snapshot_id, "first").create_branch(second.snapshot_id, "dev").commit()
    table.append(rows((7, "a", None)), branch="dev")
    scan = table.incremental_append_scan()
    assert ids(scan.from_snapshot_id_exclusive("first")) == [4, 5, 6]
    assert ids(scan.to_snapshot_id_inclusive("dev")) == [1, 2, 3, 4, 5, 6, 7]
    assert ids(scan.from_snapshot_id_inclusive("first").to_snapshot_id_inclusive("first")) == [1, 2, 3]
    assert ids(scan.from_timestamp(0)) == [1, 2, 3, 4, 5, 6]
    assert ids(scan.from_timestamp(second.timestamp_ms)) == []
    assert ids(scan.to_timestamp(second.timestamp_ms)) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ValidationError, match="had no snapshot at 0"):
        scan.to_timestamp(0)
    with pytest.raises(ValidationError, match="no branch or tag 'prod'; it has dev, first, main"):
        scan.to_snapshot_id_inclusive("prod")


def test_range_refuses_different_lineages(new_table, rows):
    table = new_table()
    first, second = table.snapshots()
    table.manage_snapshots().create_branch(first.snapshot_id, "dev").commit()
    table.append(rows((7, "a", None)), branch="dev")
    beside = table.snapshot_by_name("dev").snapshot_id
    for scan in (
        table.incremental_append_scan(from_snapshot_id_exclusive=beside),
        table.incremental_changelog_scan(
            from_snapshot_id_exclusive=second.snapshot_id, to_snapshot_id_inclusive=beside
        ),
        table.incremental_append_scan().from_snapshot_id_inclusive(beside),
    ):
        with pytest.raises(ValidationError, match="is not an ancestor of"):
            scan.to_arrow()
    for scan in (
        table.incremental_append_scan(from_snapshot_id_exclusive=99),
        table.incremental_append_scan(to_snapshot_id_inclusive=99),
        table.incremental_append_scan().from_snapshot_id_inclusive(99),
    ):
        with pytest.raises(ValidationError, match="has no snapshot 99"):
            scan.to_arrow()


def without(table, *snapshot_ids):
    """Return the table's metadata after snapshots have been expired."""
    found = json.loads(table.metadata.model_dump_json())
    for key in ("snapshots", "snapshot-log"):
        found[key] = [one for one in found[key] if one["snapshot-id"] not in snapshot_ids]
    return TableMetadataUtil.parse_obj(found)


def test_range_starts_after_an_expired_snapshot(history):
    table, snapshots = history
    table.metadata = without(table, *snapshots[:3])
    after_third = table.incremental_append_scan(from_snapshot_id_exclusive=snapshots[2])
    assert ids(after_third) == [7, 8]
    assert ids(table.incremental_append_scan()) == [7, 8]
    with pytest.raises(ValidationError, match="expired"):
        ids(table.incremental_append_scan(from_snapshot_id_exclusive=snapshots[1]))
    with pytest.raises(ValidationError, match="expired"):
        table.incremental_append_scan().from_timestamp(0)
    assert table.incremental_changelog_scan(from_snapshot_id_exclusive=snapshots[2]).count() == 4
    table.metadata = without(table, *snapshots[:4])
    with pytest.raises(ValidationError, match=r"its parent \d+ has been expired"):
        table.incremental_changelog_scan().to_arrow()


def test_table_without_snapshots_has_no_changes(catalog):
    import pyarrow as pa

    table = catalog.create_table("db.none", pa.schema([("id", pa.int64())]))
    assert table.incremental_append_scan().to_arrow().schema.names == ["id"]
    changes = table.incremental_changelog_scan().to_arrow()
    assert changes.schema.names == ["id", "_change_type", "_change_ordinal", "_commit_snapshot_id"]
    assert table.incremental_append_scan().count() == table.incremental_changelog_scan().count() == 0


def test_append_scan_has_the_current_schema(new_table, rows):
    table = new_table()
    table.update_schema().rename_column("kind", "sort").add_column("note", StringType()).commit()
    assert table.incremental_append_scan().to_arrow().column_names == ["id", "sort", "value", "note"]
    assert table.incremental_changelog_scan().to_arrow().column_names[:4] == ["id", "sort", "value", "note"]


def test_append_scan_reads_manifest_lists_without_added_snapshot_ids(history):
    table, _ = history
    path = Path(table.snapshots()[0].manifest_list.removeprefix("file:"))
    with path.open("rb") as written:
        reader = fastavro.reader(written)
        manifests, form = list(reader), reader.writer_schema
    for field in form["fields"]:
        if field["name"] == "added_snapshot_id":
            field["type"] = ["null", field["type"]]
    with path.open("wb") as out:
        fastavro.writer(out, form, [{**manifest, "added_snapshot_id": None} for manifest in manifests])
    assert ids(table.incremental_append_scan()) == [1, 2, 3, 4, 5, 6, 7, 8]
