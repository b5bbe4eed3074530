"""Manifests, as the manifest list describes them. Spec: Manifest Lists."""

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
    """The values of one partition field in a manifest; bounds are single values in binary form."""

    contains_null: bool
    contains_nan: bool | None = None
    lower_bound: bytes | None = None
    upper_bound: bytes | None = None

    @classmethod
    def from_args(cls, **arguments: Any) -> Self:
        """Return a summary with these attributes."""
        return cls(**arguments)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManifestFile:
    """A manifest as the manifest list describes it; counts are of files and rows by status. Equal if the paths are."""

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
        """Return whether the manifest may list added files: an unknown count may be any."""
        return self.added_files_count is None or self.added_files_count > 0

    def has_existing_files(self) -> bool:
        """Return whether the manifest may list existing files: an unknown count may be any."""
        return self.existing_files_count is None or self.existing_files_count > 0

    @classmethod
    def from_args(cls, _table_format_version: TableVersion = DEFAULT_READ_VERSION, **arguments: Any) -> Self:
        """Return a manifest with these attributes; the content may be a plain number."""
        if "content" in arguments:
            arguments["content"] = ManifestContent(arguments["content"])
        return cls(**arguments)

    def fetch_manifest_entry(self, io: FileIO, discard_deleted: bool = True) -> list[ManifestEntry]:
        """Return the manifest's entries, with the sequence numbers and snapshot ids that they inherit.

        The whole manifest becomes Python objects: for a look at single manifests; scans and `Table.inspect` stay in columns.

        Args:
            io: Storage.
            discard_deleted: Whether entries of removed files are left out.

        Raises:
            CorruptFileError: The manifest is not what the specification says.
            MissingFileError: The manifest is not there.
        """
        from icefloe.manifest.reading import read_entries

        return read_entries(io, asdict(self), "live" if discard_deleted else "all")

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the manifest of a row of ManifestFile columns."""
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
    """Yield the manifests of a manifest list, in its order."""
    from icefloe import _core

    batch = _core.read_manifest_list(input_file.file_io.core, input_file.location)
    return map(ManifestFile.from_row, batch.to_pylist())


def clear_manifest_cache() -> None:
    """Release what planning keeps of manifests in this process; the next plan reads its manifests again.

    The cache holds at most 64 MiB unless ``io.manifest.cache.max-total-bytes`` says otherwise, and never returns the entries of
    a manifest that changed, so no result depends on this call. Plans that are running in other threads are not disturbed. Other
    processes, Spark executors among them, keep their own caches.

    >>> clear_manifest_cache()
    """
    from icefloe import _core

    _core.clear_manifest_cache()
