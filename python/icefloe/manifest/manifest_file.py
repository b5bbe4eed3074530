"""Manifests as rows of a manifest list. Spec: Manifest Lists."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from icefloe.manifest.content import ManifestContent
from icefloe.manifest.data_file import DEFAULT_READ_VERSION, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from typing_extensions import Self

    from icefloe.io import FileIO, InputFile
    from icefloe.manifest.data_file import ManifestEntry
    from icefloe.typedef import TableVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFieldSummary:
    """The summary of one partition field in a manifest; bounds are binary single values."""

    contains_null: bool
    contains_nan: bool | None = None
    lower_bound: bytes | None = None
    upper_bound: bytes | None = None

    @classmethod
    def from_args(cls, **arguments: Any) -> Self:
        """Return a summary with the given attributes."""
        return cls(**arguments)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManifestFile:
    """A row of a manifest list. Counts are numbers of files and rows by status. Equal if the paths are equal."""

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
    partitions: list[PartitionFieldSummary] | None = None
    key_metadata: bytes | None = None

    def has_added_files(self) -> bool:
        """Return whether the manifest might have added files; true if the count is unknown."""
        return self.added_files_count is None or self.added_files_count > 0

    def has_existing_files(self) -> bool:
        """Return whether the manifest might have existing files; true if the count is unknown."""
        return self.existing_files_count is None or self.existing_files_count > 0

    @classmethod
    def from_args(cls, _table_format_version: TableVersion = DEFAULT_READ_VERSION, **arguments: Any) -> Self:
        """Return a manifest with the given attributes; content may be an int."""
        if "content" in arguments:
            arguments["content"] = ManifestContent(arguments["content"])
        return cls(**arguments)

    def fetch_manifest_entry(self, io: FileIO, discard_deleted: bool = True) -> list[ManifestEntry]:
        """Return the manifest's entries, with the sequence numbers and snapshot ids that they inherit.

        Every entry becomes a Python object, which suits single manifests; scans and `Table.inspect` work on Arrow columns.

        Args:
            io: Storage of the manifest.
            discard_deleted: Whether to omit entries with status DELETED.

        Raises:
            CorruptFileError: The file is not a manifest, or is damaged.
            MissingFileError: The file does not exist.
        """
        from icefloe.manifest.reading import read_entries

        return read_entries(io, asdict(self), "live" if discard_deleted else "all")

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the manifest of a row of the core's manifest columns."""
        values = {name: row[name] for name in names_of(cls)}
        values["content"] = ManifestContent(row["content"])
        if row["partitions"] is not None:
            values["partitions"] = [PartitionFieldSummary(**summary) for summary in row["partitions"]]
        return cls(**values)

    def __eq__(self, other: object) -> bool:
        return self.manifest_path == other.manifest_path if isinstance(other, ManifestFile) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.manifest_path)


def read_manifest_list(input_file: InputFile) -> Iterator[ManifestFile]:
    """Yield the manifests of a manifest list, in order.

    Raises:
        CorruptFileError: The file is not a manifest list, or is damaged.
        MissingFileError: The file does not exist.
    """
    from icefloe import _core

    batch = _core.read_manifest_list(input_file.file_io.core, input_file.location)
    return map(ManifestFile.from_row, batch.to_pylist())


def clear_manifest_cache() -> None:
    """Empty the manifest cache of this process; the next plan reads its manifests again.

    The cache holds at most 64 MiB, or ``io.manifest.cache.max-total-bytes`` bytes, and checks that manifests are unchanged, so
    results do not depend on this call. It does not affect plans that run in other threads, or the caches of other processes such
    as Spark executors.

    >>> clear_manifest_cache()
    """
    from icefloe import _core

    _core.clear_manifest_cache()
