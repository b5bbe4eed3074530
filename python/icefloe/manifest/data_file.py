"""Data files and manifest entries, as frozen values from rows of the core's Arrow batches. Spec: Manifests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from icefloe.conversions import from_json_value
from icefloe.exceptions import ValidationError
from icefloe.manifest.content import DataFileContent, FileFormat, ManifestEntryStatus
from icefloe.typedef import Record, TableVersion
from icefloe.types import PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from icefloe.types import IcebergType

UNASSIGNED_SEQ = -1
DEFAULT_BLOCK_SIZE = 64 * 1024 * 1024
INITIAL_SEQUENCE_NUMBER = 0
DEFAULT_READ_VERSION: TableVersion = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DataFile:
    """A data or delete file. Counts are numbers of values, sizes are in bytes, bounds are binary single values, all by field id.

    Data files are equal if their paths are equal. ``partition`` holds the partition tuple in spec order: dates in days, times and
    timestamps in microseconds, ``Decimal`` and ``uuid.UUID`` objects.

    >>> DataFile.from_args(file_path="a.parquet", file_format="parquet", record_count=3, file_size_in_bytes=9).file_format
    FileFormat.PARQUET
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
    split_offsets: list[int] | None = None
    equality_ids: list[int] | None = None
    sort_order_id: int | None = None
    referenced_data_file: str | None = None
    spec_id: int = 0

    @classmethod
    def from_args(cls, _table_format_version: TableVersion = DEFAULT_READ_VERSION, **arguments: Any) -> Self:
        """Return a data file with the given attributes; content may be an int and the file format text.

        Raises:
            ValidationError: The content or the file format does not exist.
        """
        for name, kind in (("content", DataFileContent), ("file_format", FileFormat)):
            if name in arguments:
                arguments[name] = _member(name, kind, arguments[name])
        return cls(**arguments)

    @classmethod
    def from_row(cls, row: Mapping[str, Any], partition_types: Sequence[IcebergType] | None = None) -> Self:
        """Return the data file of a row of the core's data file columns.

        Args:
            row: The row, as ``pyarrow``'s ``to_pylist`` returns it.
            partition_types: Types of the partition fields; if None, the tuple holds JSON single values.
        """
        values = {name: row[name] for name in names_of(cls) if name in row}
        values["content"] = DataFileContent(row["content"])
        values["file_format"] = FileFormat(row["file_format"])
        values["partition"] = partition_of(row["partition"], partition_types)
        for name in _MAPS & values.keys():
            values[name] = None if values[name] is None else dict(values[name])
        return cls(**values)

    def __eq__(self, other: object) -> bool:
        return self.file_path == other.file_path if isinstance(other, DataFile) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.file_path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestEntry:
    """A row of a manifest: a data or delete file, its status and its sequence numbers."""

    status: ManifestEntryStatus
    snapshot_id: int | None = None
    sequence_number: int | None = None
    file_sequence_number: int | None = None
    data_file: DataFile

    @classmethod
    def from_args(cls, _table_format_version: TableVersion = DEFAULT_READ_VERSION, **arguments: Any) -> Self:
        """Return an entry with the given attributes."""
        return cls(**{**arguments, "status": ManifestEntryStatus(arguments["status"])})

    @classmethod
    def from_row(cls, row: Mapping[str, Any], partition_types: Sequence[IcebergType] | None = None) -> Self:
        """Return the entry of a row of the core's entry columns; see :meth:`DataFile.from_row`."""
        return cls(
            status=ManifestEntryStatus(row["status"]),
            snapshot_id=row["snapshot_id"],
            sequence_number=row["sequence_number"],
            file_sequence_number=row["file_sequence_number"],
            data_file=DataFile.from_row(row, partition_types),
        )


def partition_of(text: str, types: Sequence[IcebergType] | None = None) -> Record:
    """Return the partition tuple of a JSON array of single values.

    Args:
        text: The JSON array, in spec order.
        types: Types of the partition fields; if None, the tuple holds the JSON values.

    >>> from icefloe.types import DateType
    >>> partition_of('["2017-11-16"]', [DateType()])[0]
    17486
    """
    values = json.loads(text)
    if types is None:
        return Record(*values)
    return Record(
        *(
            from_json_value(kind, value) if value is not None and isinstance(kind, PrimitiveType) else value
            for kind, value in zip(types, values, strict=True)
        )
    )


def _member(name: str, kind: type[DataFileContent | FileFormat], value: Any) -> DataFileContent | FileFormat:
    try:
        return kind(value)
    except ValueError as error:
        raise ValidationError(
            f"{name} of a data file: expected one of {[one.value for one in kind]}, got {value!r}"
        ) from error


def names_of(kind: type) -> list[str]:
    """Return the names of a dataclass's fields."""
    return [each.name for each in fields(kind)]


_MAPS = {"column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"}
