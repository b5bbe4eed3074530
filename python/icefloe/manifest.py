"""Data files, manifest entries and manifests, as small frozen views of the columns that the Rust core returns. Spec: Manifests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

from icefloe.typedef import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from typing_extensions import Self


class DataFileContent(int, Enum):
    """What a file holds."""

    DATA = 0
    POSITION_DELETES = 1
    EQUALITY_DELETES = 2


class ManifestContent(int, Enum):
    """What files a manifest lists."""

    DATA = 0
    DELETES = 1


class ManifestEntryStatus(int, Enum):
    """What a snapshot did to a file."""

    EXISTING = 0
    ADDED = 1
    DELETED = 2


class FileFormat(str, Enum):
    """Format of a file."""

    AVRO = "AVRO"
    PARQUET = "PARQUET"
    ORC = "ORC"

    @classmethod
    def _missing_(cls, value: object) -> FileFormat | None:
        """Accept any case, as writers differ."""
        return cls.__members__.get(str(value).upper())

    def __str__(self) -> str:
        return f"FileFormat.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A data or delete file. Counts are of rows, sizes in bytes, bounds single values in binary form, by field id.

    ``partition`` holds the JSON single values of the partition tuple in spec order.
    """

    content: DataFileContent = DataFileContent.DATA
    file_path: str
    file_format: FileFormat
    partition: Record = field(default_factory=Record)
    record_count: int
    file_size_in_bytes: int
    column_sizes: Mapping[int, int] | None = None
    value_counts: Mapping[int, int] | None = None
    null_value_counts: Mapping[int, int] | None = None
    nan_value_counts: Mapping[int, int] | None = None
    lower_bounds: Mapping[int, bytes] | None = None
    upper_bounds: Mapping[int, bytes] | None = None
    key_metadata: bytes | None = None
    split_offsets: tuple[int, ...] | None = None
    equality_ids: tuple[int, ...] | None = None
    sort_order_id: int | None = None
    referenced_data_file: str | None = None
    spec_id: int = 0

    @classmethod
    def from_args(cls, **arguments: Any) -> Self:
        """Return a data file of its attributes."""
        return cls(**arguments)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the data file of a row of DataFile columns, as ``pyarrow`` gives it."""
        values = {name: row[name] for name in _names(cls) if name in row}
        values["content"] = DataFileContent(row["content"])
        values["file_format"] = FileFormat(row["file_format"])
        values["partition"] = Record(*json.loads(row["partition"]))
        for name in _MAPS & values.keys():
            values[name] = None if values[name] is None else dict(values[name])
        for name in ("split_offsets", "equality_ids"):
            if values.get(name) is not None:
                values[name] = tuple(values[name])
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestEntry:
    """What a snapshot did to a file, and when the file and its data came."""

    status: ManifestEntryStatus
    snapshot_id: int | None = None
    sequence_number: int | None = None
    file_sequence_number: int | None = None
    data_file: DataFile

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the entry of a row of Entry columns."""
        return cls(
            status=ManifestEntryStatus(row["status"]),
            snapshot_id=row["snapshot_id"],
            sequence_number=row["sequence_number"],
            file_sequence_number=row["file_sequence_number"],
            data_file=DataFile.from_row(row),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFieldSummary:
    """The values of one partition field in a manifest; bounds are single values in binary form."""

    contains_null: bool
    contains_nan: bool | None = None
    lower_bound: bytes | None = None
    upper_bound: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """A manifest as the manifest list describes it; counts are of files and rows by status."""

    manifest_path: str
    manifest_length: int
    partition_spec_id: int
    content: ManifestContent = ManifestContent.DATA
    sequence_number: int | None = 0
    min_sequence_number: int | None = 0
    added_snapshot_id: int | None = None
    added_files_count: int | None = None
    existing_files_count: int | None = None
    deleted_files_count: int | None = None
    added_rows_count: int | None = None
    existing_rows_count: int | None = None
    deleted_rows_count: int | None = None
    partitions: tuple[PartitionFieldSummary, ...] | None = None
    key_metadata: bytes | None = None

    def has_added_files(self) -> bool:
        """Return whether the manifest may list added files: an unknown count may be any."""
        return self.added_files_count is None or self.added_files_count > 0

    def has_existing_files(self) -> bool:
        """Return whether the manifest may list existing files: an unknown count may be any."""
        return self.existing_files_count is None or self.existing_files_count > 0

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the manifest of a row of ManifestFile columns."""
        values = {name: row[name] for name in _names(cls)}
        values["content"] = ManifestContent(row["content"])
        if row["partitions"] is not None:
            values["partitions"] = tuple(PartitionFieldSummary(**summary) for summary in row["partitions"])
        return cls(**values)


def data_files(batch: pa.RecordBatch) -> Iterator[DataFile]:
    """Yield the rows of DataFile columns one by one; for people and tests, never for bulk work."""
    return map(DataFile.from_row, batch.to_pylist())


def manifest_entries(batch: pa.RecordBatch) -> Iterator[ManifestEntry]:
    """Yield the rows of Entry columns one by one."""
    return map(ManifestEntry.from_row, batch.to_pylist())


def manifest_files(batch: pa.RecordBatch) -> Iterator[ManifestFile]:
    """Yield the rows of ManifestFile columns one by one."""
    return map(ManifestFile.from_row, batch.to_pylist())


_MAPS = {"column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"}


def _names(kind: type) -> list[str]:
    return [each.name for each in fields(kind)]
