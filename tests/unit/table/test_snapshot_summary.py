"""The counts of snapshot summaries."""

from __future__ import annotations

from icefloe.manifest import DataFile, DataFileContent
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.snapshots import SnapshotSummaryCollector
from icefloe.typedef import Record
from icefloe.types import NestedField

SCHEMA = Schema(NestedField(1, "id", "long"))
SPEC = PartitionSpec(PartitionField(1, 1000, "identity", "id"))


def file(content: DataFileContent, rows: int, *partition: int) -> DataFile:
    return DataFile(
        content=content,
        file_path=f"{content.name}-{rows}",
        file_format="PARQUET",
        partition=Record(*partition),
        record_count=rows,
        file_size_in_bytes=rows * 10,
    )


def test_summary_counts_files_and_rows_by_kind() -> None:
    collector = SnapshotSummaryCollector()
    collector.add_file(file(DataFileContent.DATA, 3), SCHEMA)
    collector.add_file(file(DataFileContent.POSITION_DELETES, 2), SCHEMA)
    collector.add_file(file(DataFileContent.EQUALITY_DELETES, 1), SCHEMA)
    collector.remove_file(file(DataFileContent.DATA, 5), SCHEMA)
    collector.remove_file(file(DataFileContent.POSITION_DELETES, 4), SCHEMA)
    collector.remove_file(file(DataFileContent.EQUALITY_DELETES, 6), SCHEMA)
    assert collector.build() == {
        "added-files-size": "60",
        "removed-files-size": "150",
        "added-data-files": "1",
        "deleted-data-files": "1",
        "added-equality-delete-files": "1",
        "removed-equality-delete-files": "1",
        "added-position-delete-files": "1",
        "removed-position-delete-files": "1",
        "added-delete-files": "2",
        "removed-delete-files": "2",
        "added-records": "3",
        "deleted-records": "5",
        "added-position-deletes": "2",
        "removed-position-deletes": "4",
        "added-equality-deletes": "1",
        "removed-equality-deletes": "6",
    }


def test_summary_names_partitions_up_to_the_limit() -> None:
    collector = SnapshotSummaryCollector()
    collector.add_file(file(DataFileContent.DATA, 3, 7), SCHEMA, SPEC)
    assert collector.build()["changed-partition-count"] == "1"
    assert "partition-summaries-included" not in collector.build()
    collector.set_partition_summary_limit(1)
    assert collector.build()["partition-summaries-included"] == "true"
    assert collector.build()["partitions.id=7"] == "added-files-size=30,added-data-files=1,added-records=3"
