"""Replaced partitions, rewritten files and rewritten manifests."""

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import IdentityTransform

BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
ON_READ = {"write.delete.mode": "merge-on-read"}


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def written(table, rows):
    """New data files of a table that are not committed."""
    return table.transaction().target().writer.data_files(rows)


def paths(table, *filters):
    return table.refresh().scan(*filters).plan_whole_files().files.column("file_path").to_pylist()


def manifests(table):
    return _core.read_manifest_list(table.io.core, table.refresh().current_snapshot().manifest_list)


def entries(table):
    """Return (path, snapshot id, sequence number, file sequence number) of every live file."""
    found = _core.read_manifest(
        table.io.core,
        manifests(table),
        schema=table.schema().model_dump_json(),
        specs=f"[{','.join(spec.model_dump_json() for spec in table.metadata.partition_specs)}]",
        keep="live",
    )
    names = ["file_path", "snapshot_id", "sequence_number", "file_sequence_number"]
    return sorted(tuple(row.values()) for row in found.select(names).to_pylist())


# ---- replace partitions


def test_replace_partitions_removes_the_files_of_the_same_partitions(new_table, rows):
    table = new_table(BY_KIND)
    table.new_replace_partitions().append(written(table, rows((7, "a", 1.0), (8, None, 1.0)))).commit()
    assert ids(table) == [2, 5, 7, 8]
    summary = table.current_snapshot().summary
    assert (summary.operation, summary["replace-partitions"], summary["deleted-data-files"]) == (
        "overwrite",
        "true",
        "4",
    )


def test_replace_partitions_of_an_unpartitioned_table_removes_all_files(new_table, rows):
    table = new_table()
    table.new_replace_partitions().append(written(table, rows((7, "a", 1.0)))).commit()
    assert ids(table) == [7]


@pytest.mark.parametrize("version", ["1", "2"])
def test_replace_partitions_of_a_table_that_is_no_longer_partitioned_removes_files_of_every_spec(
    new_table, rows, version
):
    table = new_table(BY_KIND, {"format-version": version})
    table.update_spec().remove_field("kind").commit()
    table.append(rows((7, "a", 1.0)))
    table.new_replace_partitions().append(written(table, rows((8, "a", 1.0)))).commit()
    assert ids(table) == [8]


def test_replace_partitions_removes_delete_files_of_the_partitions(new_table, rows):
    table = new_table(BY_KIND, ON_READ)
    table.append(rows((7, "a", 1.0), (8, "a", 1.0), (9, "b", 1.0), (10, "b", 1.0)))
    table.delete("id = 7 or id = 9")
    table.new_replace_partitions().append(written(table, rows((20, "a", 1.0)))).commit()
    assert ids(table) == [2, 3, 5, 6, 10, 20]
    assert table.current_snapshot().summary["removed-delete-files"] == "1"


def test_replace_partitions_leaves_files_of_other_specs(new_table, rows):
    table = new_table()
    table.update_spec().add_field("kind", "identity", "kind").commit()
    table.append(rows((7, "a", 1.0)))
    table.new_replace_partitions().append(written(table, rows((8, "a", 1.0)))).commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 8]


def test_replace_partitions_needs_files_of_the_default_spec(new_table, rows):
    table = new_table()
    with pytest.raises(ValidationError, match="expected new data files"):
        table.new_replace_partitions().commit()
    files = written(table, rows((8, "a", 1.0)))
    table.update_spec().add_field("kind", "identity", "kind").commit()
    with pytest.raises(ValidationError, match="partition spec 1"):
        table.new_replace_partitions().append(files).commit()


@pytest.mark.parametrize("validates", [True, False])
def test_replace_partitions_and_a_concurrent_append_to_one_of_them(catalog, new_table, rows, validates):
    table = new_table(BY_KIND)
    transaction = table.transaction()
    change = transaction.new_replace_partitions().append(written(table, rows((7, "a", 1.0))))
    if validates:
        change.validate_from_snapshot(table.current_snapshot().snapshot_id).validate_no_conflicting_data()
    change.commit()
    catalog.load_table("db.t").append(rows((8, "b", 1.0)))
    other = catalog.load_table("db.t")
    other.append(rows((9, "a", 1.0)))
    if validates:
        with pytest.raises(ValidationException, match="partitions that this operation replaces"):
            transaction.commit_transaction()
    else:
        transaction.commit_transaction()
    assert ids(other) == ([1, 2, 3, 4, 5, 6, 8, 9] if validates else [2, 3, 5, 6, 7, 8])


# ---- rewrite files


def test_rewrite_replaces_files_by_their_rows(new_table, rows):
    table = new_table()
    old = paths(table)
    table.new_rewrite().delete(old).append(written(table, table.scan().to_arrow())).commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6]
    assert len(paths(table)) == 1
    summary = table.current_snapshot().summary
    assert (summary.operation, summary["added-records"], summary["deleted-records"], summary["total-records"]) == (
        "replace",
        "6",
        "6",
        "6",
    )


def test_rewrite_removes_delete_files_with_their_rows(new_table, rows):
    table = new_table(properties=ON_READ)
    table.delete("id = 1")
    plan = table.scan().plan_whole_files()
    rewrite = table.new_rewrite().delete(plan.files.column("file_path")).append(written(table, table.scan().to_arrow()))
    rewrite.delete_deletes(plan.deletes.column("file_path")).commit()
    assert ids(table) == [2, 3, 4, 5, 6]
    summary = table.current_snapshot().summary
    assert (summary["removed-delete-files"], summary["total-delete-files"], summary["total-position-deletes"]) == (
        "1",
        "0",
        "0",
    )


def test_rewrite_keeps_the_data_sequence_number(new_table, rows):
    table = new_table()
    started = table.current_snapshot().sequence_number
    table.append(rows((7, "x", 1.0)))
    old = paths(table, "id <= 6")
    data = table.scan("id <= 6").to_arrow()
    table.new_rewrite().delete(old).append(written(table, data)).data_sequence_number(started).commit()
    (new,) = [entry for entry in entries(table) if entry[1] == table.current_snapshot().snapshot_id]
    assert new[2:] == (started, table.current_snapshot().sequence_number)
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7]
    rewritten = manifests(table).to_pylist()[0]
    assert (rewritten["min_sequence_number"], rewritten["sequence_number"]) == (started, table.last_sequence_number)


def test_rewrite_loses_to_a_delete_of_rows(catalog, new_table, rows):
    table = new_table(properties=ON_READ)
    old = paths(table)
    rewrite = table.new_rewrite().delete(old).append(written(table, table.scan().to_arrow()))
    catalog.load_table("db.t").delete("id = 1")
    with pytest.raises(ValidationException, match="deleted rows of files that this operation replaces"):
        rewrite.data_sequence_number(table.last_sequence_number).commit()
    assert ids(table) == [2, 3, 4, 5, 6]


def test_rewrite_loses_to_a_removal_of_a_file(catalog, new_table, rows):
    table = new_table()
    rewrite = table.new_rewrite().delete(paths(table)).append(written(table, table.scan().to_arrow()))
    catalog.load_table("db.t").delete("id <= 3")
    with pytest.raises(ValidationException, match="not part of the table any more"):
        rewrite.commit()
    assert ids(table) == [4, 5, 6]


def test_rewrite_passes_concurrent_appends(catalog, new_table, rows):
    table = new_table()
    rewrite = table.new_rewrite().delete(paths(table)).append(written(table, table.scan().to_arrow()))
    catalog.load_table("db.t").append(rows((7, "x", 1.0)))
    rewrite.commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7]


def test_rewrite_refuses_changes_that_are_none(new_table, rows):
    table = new_table()
    more = written(table, rows(*((n, "x", 1.0) for n in range(9))))
    for rewrite, message in (
        (table.new_rewrite(), "expected files to replace"),
        (table.new_rewrite().append(more), "expected files to replace"),
        (table.new_rewrite().delete_deletes(["x"]).append(more), "expected data files to replace"),
        (table.new_rewrite().delete(paths(table)).append(more), "at most the 6 rows"),
    ):
        with pytest.raises(ValidationError, match=message):
            rewrite.commit()
    assert ids(table) == [1, 2, 3, 4, 5, 6]


# ---- rewrite manifests


def test_rewrite_manifests_keeps_entries(new_table, rows, spec):
    table = new_table(spec)
    for n in range(7, 12):
        table.new_fast_append().append(written(table, rows((n, "a", 1.0), (n + 10, "b", 1.0)))).commit()
    before, count = entries(table), manifests(table).num_rows
    assert count > 1
    table.rewrite_manifests().commit()
    assert entries(table) == before
    assert manifests(table).num_rows == 1
    summary = table.current_snapshot().summary
    assert (
        summary.operation,
        summary["manifests-created"],
        summary["manifests-kept"],
        summary["manifests-replaced"],
    ) == (
        "replace",
        "1",
        "0",
        str(count),
    )
    assert summary["entries-processed"] == str(len(before))
    assert summary["total-records"] == "16"
    (row,) = manifests(table).to_pylist()
    assert (row["existing_files_count"], row["added_files_count"], row["min_sequence_number"]) == (len(before), 0, 1)


def test_rewrite_manifests_clusters_by_partition_at_the_target_size(new_table, rows):
    table = new_table(BY_KIND, {"commit.manifest.target-size-bytes": "1"})
    for n in range(7, 10):
        table.append(rows((n, "a", 1.0), (n + 10, "b", 1.0)))
    table.rewrite_manifests().commit()
    partitions = [
        (row["partitions"][0]["lower_bound"], row["partitions"][0]["upper_bound"])
        for row in manifests(table).to_pylist()
    ]
    assert len(partitions) == len(entries(table))
    assert partitions == sorted(partitions, key=lambda pair: (pair[0] is None, pair[0] or b""))


def test_rewrite_manifests_of_chosen_manifests_and_specs(new_table, rows):
    table = new_table()
    table.update_spec().add_field("kind", "identity", "kind").commit()
    table.append(rows((7, "a", 1.0)))
    table.append(rows((8, "a", 1.0)))
    table.rewrite_manifests().spec_id(1).commit()
    assert sorted(manifests(table).column("partition_spec_id").to_pylist()) == [0, 1]
    chosen = manifests(table).column("manifest_path")[0].as_py()
    table.rewrite_manifests().rewrite_if(lambda manifest: manifest["manifest_path"] == chosen).commit()
    assert table.current_snapshot().summary["manifests-kept"] == "1"
    assert ids(table) == [1, 2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(ValidationError, match="expected the id of a partition spec"):
        table.rewrite_manifests().spec_id(7)


def test_rewrite_manifests_repeats_after_concurrent_commits(catalog, new_table, rows):
    table = new_table(properties=ON_READ)
    transaction = table.transaction()
    transaction.rewrite_manifests().commit()
    other = catalog.load_table("db.t")
    other.append(rows((7, "a", 1.0)))
    other.delete("id = 1")
    transaction.commit_transaction()
    assert ids(table) == [2, 3, 4, 5, 6, 7]
    assert sorted(manifests(table).column("content").to_pylist()) == [0, 1]


# ---- delete files that apply to no data file


def test_delete_files_older_than_all_data_are_dropped(new_table, rows):
    table = new_table(properties=ON_READ)
    table.delete("id = 1")
    table.append(rows((7, "x", 1.0)))
    assert table.current_snapshot().summary["total-delete-files"] == "1"
    table.overwrite(rows((8, "y", 1.0)), "id <= 6")
    table.append(rows((9, "y", 1.0)))
    assert table.current_snapshot().summary["total-delete-files"] == "0"
    assert set(manifests(table).column("content").to_pylist()) == {0}
    assert ids(table) == [7, 8, 9]


def test_delete_files_that_still_apply_stay(new_table, rows):
    table = new_table(properties=ON_READ)
    table.delete("id = 1")
    table.overwrite(rows((8, "y", 1.0)), "id > 3 and id < 7")
    table.append(pa.table({"id": [9]}))
    assert table.current_snapshot().summary["total-delete-files"] == "1"
    assert ids(table) == [2, 3, 8, 9]


def test_manifests_of_deleted_files_only_do_not_count_as_replaced(new_table, rows):
    table = new_table(BY_KIND)
    table.delete("kind = 'a'")
    table.delete("kind = 'b' or kind is null")
    table.append(rows((7, "a", 1.0)))
    summary = table.current_snapshot().summary
    assert (summary["manifests-created"], summary["manifests-kept"], summary["manifests-replaced"]) == ("1", "0", "0")
