"""Delete files of partitions whose rows a filter selects all: the deletion or overwrite of these rows drops them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from icefloe.manifest import DataFileContent
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.write.equality_deletes import write_equality_deletes

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string())])
BY_PART = PartitionSpec(PartitionField(2, 1000, "identity", "part"))


def rows(part: str, *ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "part": [part] * len(ids)}, schema=SCHEMA)


@pytest.fixture
def table(catalog):
    """Three partitions of three rows, each with a position delete and an equality delete file, and newer rows in a."""
    properties = {"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"}
    made = catalog.create_table("db.t", SCHEMA, partition_spec=BY_PART, properties=properties)
    # Partition c is the oldest: delete files that are older than every remaining data file are dropped by any commit.
    for part in "cab":
        start = "abc".index(part)
        made.append(rows(part, *range(10 * start, 10 * start + 4)))
        made.delete(f"id = {10 * start}")
        add_equality_delete(made, part, 10 * start + 3)
    made.append(rows("a", 5))
    return made


def add_equality_delete(table: Any, part: str, row_id: int) -> None:
    files = write_equality_deletes(table.io, table.metadata, rows(part, row_id), [1])
    delta = table.new_row_delta()
    for file in files:
        delta.add_deletes(file)
    delta.commit()


def delete_files(table: Any) -> list[Any]:
    manifests = table.current_snapshot().manifests(table.io)
    entries = [entry for manifest in manifests for entry in manifest.fetch_manifest_entry(table.io)]
    return [entry.data_file for entry in entries if entry.data_file.content != DataFileContent.DATA]


def deleted_partitions(table: Any) -> list[str]:
    return sorted(file.partition[0] for file in delete_files(table))


def ids(table: Any) -> list[int]:
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def test_rows_are_deleted_where_a_partition_field_has_lost_its_column(table):
    with table.update_spec() as update:
        update.remove_field("part")
    with table.update_schema() as update:
        update.delete_column("part")
    table.delete("id in (1, 21)")
    assert ids(table) == [2, 5, 11, 12, 22]
    assert len(delete_files(table)) > 0
    table.delete("id >= 0")
    assert ids(table) == []
    assert delete_files(table) == []


ALL = ["a", "a", "b", "b", "c", "c"]


def test_table_has_two_delete_files_in_each_partition(table):
    assert deleted_partitions(table) == ALL
    assert ids(table) == [1, 2, 5, 11, 12, 21, 22]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
@pytest.mark.parametrize(
    ("row_filter", "parts", "left"),
    [
        ("part = 'a'", "bbcc", [11, 12, 21, 22]),
        ("part in ('a', 'b')", "cc", [21, 22]),
        ("part < 'c' and id > -1", "cc", [21, 22]),
        ("part = 'a' or id = 11", "cc", [12, 21, 22]),
        ("true", "", []),
    ],
)
def test_delete_drops_delete_files_of_covered_partitions(table, row_filter, parts, left, mode):
    with table.update_properties() as update:
        update.set_properties({"write.delete.mode": mode})
    table.delete(row_filter)
    assert ids(table) == left
    # Merge-on-read leaves the data file of b, with the older delete files and one more.
    stays = mode == "merge-on-read" and "id = 11" in row_filter
    assert deleted_partitions(table) == [*("bbb" if stays else ""), *parts]


def test_summary_counts_the_dropped_delete_files(table):
    table.delete("part = 'a'")
    summary = table.current_snapshot().summary
    assert (summary["removed-position-delete-files"], summary["removed-equality-delete-files"]) == ("1", "1")
    assert (summary["total-delete-files"], summary["total-data-files"]) == ("4", "2")


def test_overwrite_drops_delete_files_of_covered_partitions(table):
    table.overwrite(rows("a", 0, 3), "part = 'a'")
    assert deleted_partitions(table) == list("bbcc")
    assert ids(table) == [0, 3, 11, 12, 21, 22]


def test_dynamic_overwrite_drops_delete_files_of_replaced_partitions(table):
    table.dynamic_partition_overwrite(pa.concat_tables([rows("a", 0), rows("b", 13)]))
    assert deleted_partitions(table) == list("cc")
    assert ids(table) == [0, 13, 21, 22]


def test_overwrite_keeps_the_deletes_that_a_concurrent_commit_adds(table, catalog):
    with table.update_properties() as update:
        update.set_properties({"write.delete.isolation-level": "snapshot"})
    other = catalog.load_table("db.t")
    transaction = table.transaction()
    transaction.dynamic_partition_overwrite(rows("a", 0))
    other.append(rows("a", 7, 8))
    add_equality_delete(other, "a", 8)
    transaction.commit_transaction()
    assert ids(table) == [0, 7, 11, 12, 21, 22]
    assert deleted_partitions(table) == list("abbcc")


def test_delete_commits_after_a_concurrent_commit_dropped_the_same_delete_file(table, catalog):
    with table.update_properties() as update:
        update.set_properties({"write.delete.isolation-level": "snapshot"})
    other = catalog.load_table("db.t")
    (equality,) = [
        file.file_path
        for file in delete_files(table)
        if file.content == DataFileContent.EQUALITY_DELETES and file.partition[0] == "a"
    ]
    transaction = table.transaction()
    transaction.delete("part = 'a'")
    other.new_row_delta().remove_deletes([equality]).commit()
    transaction.commit_transaction()
    assert ids(table) == [11, 12, 21, 22]
    assert deleted_partitions(table) == list("bbcc")


def test_delete_of_a_partition_keeps_equality_deletes_of_all_partitions(catalog):
    table = catalog.create_table("db.global", SCHEMA)
    table.append(pa.concat_tables([rows("a", 1, 2), rows("b", 1, 2)]))
    add_equality_delete(table, "a", 1)
    table.update_spec().add_identity("part").commit()
    table.append(rows("a", 3))
    table.delete("part = 'a'")
    assert ids(table) == [2]
    table.delete("part = 'b'")
    assert ids(table) == []
