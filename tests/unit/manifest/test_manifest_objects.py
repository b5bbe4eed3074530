"""Manifests and their entries as Python objects."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import CorruptFileError, ValidationError
from icefloe.io import FileIO
from icefloe.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    PartitionFieldSummary,
    read_manifest_list,
)
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import Table
from icefloe.typedef import Record
from icefloe.types import NestedField


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = InMemoryCatalog("memory", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    schema = Schema(
        NestedField(1, "id", "long"),
        NestedField(2, "day", "date"),
        NestedField(3, "at", "timestamptz"),
        NestedField(4, "price", "decimal(9, 2)"),
    )
    spec = PartitionSpec(
        PartitionField(2, 1000, "identity", "day"),
        PartitionField(3, 1001, "day", "at_day"),
        PartitionField(4, 1002, "identity", "price"),
    )
    table = catalog.create_table("db.sales", schema, partition_spec=spec)
    for number in (1, 2):
        table.append(
            pa.table(
                {
                    "id": pa.array([number], pa.int64()),
                    "day": [date(2020, 1, number)],
                    "at": pa.array([datetime(2020, 1, 2, tzinfo=timezone.utc)], pa.timestamp("us", "UTC")),
                    "price": pa.array([Decimal("1.50")], pa.decimal128(9, 2)),
                }
            )
        )
    return table


def test_snapshot_lists_its_manifests(table: Table) -> None:
    snapshot = table.current_snapshot()
    manifests = snapshot.manifests(table.io)
    assert [manifest.added_snapshot_id for manifest in manifests] == [
        snapshot.snapshot_id,
        snapshot.parent_snapshot_id,
    ]
    assert all(manifest.content is ManifestContent.DATA and manifest.has_added_files() for manifest in manifests)
    assert list(read_manifest_list(table.io.new_input(snapshot.manifest_list))) == manifests


def test_manifest_entries_hold_partition_values_in_their_types(table: Table) -> None:
    (newest, _) = table.current_snapshot().manifests(table.io)
    (entry,) = newest.fetch_manifest_entry(table.io)
    assert (entry.status, entry.sequence_number, entry.file_sequence_number) == (ManifestEntryStatus.ADDED, 2, 2)
    assert entry.snapshot_id == table.current_snapshot().snapshot_id
    assert entry.data_file.partition == Record(18263, 18263, Decimal("1.50"))
    assert entry.data_file.lower_bounds[1] == (2).to_bytes(8, "little")


def test_planned_files_hold_partition_values_in_their_types(table: Table) -> None:
    (task,) = table.scan("id = 2").plan_files()
    assert task.file.partition == Record(18263, 18263, Decimal("1.50"))


def test_fetch_manifest_entry_omits_deleted_entries_by_default(table: Table) -> None:
    table.delete("id = 1")
    manifests = table.current_snapshot().manifests(table.io)
    live = [entry for manifest in manifests for entry in manifest.fetch_manifest_entry(table.io)]
    every = [
        entry for manifest in manifests for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)
    ]
    assert [entry.data_file.record_count for entry in live] == [1]
    assert sorted(entry.status.name for entry in every) == ["ADDED", "DELETED"]


def test_fetch_manifest_entry_refuses_a_truncated_header(table: Table, tmp_path: Path) -> None:
    (newest, _) = table.current_snapshot().manifests(table.io)
    cut = tmp_path / "cut.avro"
    cut.write_bytes(Path(newest.manifest_path).read_bytes()[:40])
    manifest = ManifestFile(manifest_path=str(cut), manifest_length=40, partition_spec_id=0)
    with pytest.raises(CorruptFileError, match=r"cut\.avro: byte"):
        manifest.fetch_manifest_entry(FileIO())
    cut.write_bytes(b"PAR1")
    with pytest.raises(CorruptFileError, match="not an Avro file"):
        manifest.fetch_manifest_entry(FileIO())


def test_from_args_accepts_attributes() -> None:
    file = DataFile.from_args(
        content=0, file_path="a", file_format="parquet", partition=Record(1), record_count=1, file_size_in_bytes=2
    )
    assert (file.content, file.file_format) == (DataFileContent.DATA, FileFormat.PARQUET)
    assert file == DataFile.from_args(file_path="a", file_format="orc", record_count=9, file_size_in_bytes=9)
    assert ManifestEntry.from_args(status=1, data_file=file).status is ManifestEntryStatus.ADDED
    summary = PartitionFieldSummary.from_args(contains_null=False)
    assert (
        ManifestFile.from_args(
            manifest_path="m", manifest_length=1, partition_spec_id=0, content=1, partitions=[summary]
        ).content
        is ManifestContent.DELETES
    )


def test_from_rest_type_returns_the_content() -> None:
    assert DataFileContent.from_rest_type("equality-deletes") is DataFileContent.EQUALITY_DELETES
    with pytest.raises(ValidationError, match="Invalid file content value: rows"):
        DataFileContent.from_rest_type("rows")


@pytest.mark.parametrize(("name", "wrong"), [("file_format", "csv"), ("content", 7), ("content", None)])
def test_data_file_of_an_unknown_format_or_content_is_refused(name: str, wrong: object) -> None:
    arguments = {"file_path": "a", "file_format": "parquet", "record_count": 1, "file_size_in_bytes": 1, name: wrong}
    with pytest.raises(ValidationError, match=f"{name} of a data file: expected one of .*, got {wrong!r}"):
        DataFile.from_args(**arguments)
