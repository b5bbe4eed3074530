"""The files that snapshots refer to."""

from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import ArrayLike, BatchLike
from icefloe._core_api.io import FileIo

@final
class FilesOfSnapshots:
    """The files of snapshots that no kept snapshot refers to."""

    @property
    def files(self) -> pa.RecordBatch:
        """One row for each file.

        ``kind`` uint8 (0 data, 1 position deletes, 2 equality deletes, 3 manifest, 4 manifest list), ``location`` utf8 as stored,
        ``size`` int64 in bytes, null if no metadata record it.
        """

    @property
    def ambiguous(self) -> list[str]:
        """Locations that are not among the files: a kept snapshot refers to their path below another scheme or authority."""

    @property
    def unread(self) -> list[tuple[str, str, bool]]:
        """``(location, reason, is missing)`` of each manifest list and manifest that could not be read."""

    @property
    def kept_spec_ids(self) -> list[int]:
        """The partition specs of the manifests of the kept snapshots, sorted."""

def files_of_snapshots(
    io: FileIo,
    *,
    lists: list[str],
    manifests: list[str],
    kept_lists: list[str],
    kept_manifests: list[str],
    with_deleted: bool = False,
) -> FilesOfSnapshots:
    """Find the files of snapshots that no kept snapshot refers to.

    These are manifest lists, manifests, and files that are live in such a manifest and live in no manifest of a kept snapshot.
    ``lists`` are locations of manifest lists, ``manifests`` of manifests that snapshots of version 1 name without a list. Each is read
    once, and locations are compared in normalised spelling. With ``with_deleted`` files of deleted entries are found too. Without kept
    snapshots these are all files of the snapshots.

    Raises:
        MissingFileError: A list or manifest of the kept snapshots does not exist.
        CorruptFileError: A list or manifest of the kept snapshots is malformed.
    """

@final
class ReachableFiles:
    """The files that snapshots refer to, 16 bytes each."""

    def __len__(self) -> int: ...
    def compare(
        self, locations: ArrayLike, *, equal_schemes: dict[str, str], equal_authorities: dict[str, str]
    ) -> pa.UInt8Array:
        """Return 1 for each location that a snapshot refers to, else 0, or 2 if one refers to its path below another prefix.

        Schemes and authorities are compared in lower case, after each was replaced by its value in the mapping, if any.
        """

    def prefixes_of(self, location: str) -> list[str]:
        """Return the prefixes (``s3://bucket``) below which snapshots refer to the path of a location."""

def reachable_files(io: FileIo, *, lists: list[str], manifests: list[str], others: list[str]) -> ReachableFiles:
    """Read the files that snapshots refer to, and add others that the metadata name.

    All entries of manifests count, deleted ones too.

    Raises:
        MissingFileError: A manifest list or manifest does not exist.
        CorruptFileError: A manifest list or manifest is malformed.
    """

def newest_versions(files: BatchLike) -> pa.BooleanArray:
    """Return for each row of a report whether it is the newest version of its file; of equally new rows the last one is.

    ``files`` has the columns ``location`` utf8 and ``last_modified_ms`` int64, both without nulls. Locations are compared in
    normalised spelling.

    Raises:
        ValidationError: A column is missing or of another type.
    """

def normalized_locations(locations: ArrayLike) -> pa.StringArray:
    """Return the normalised spelling of locations, nulls as nulls.

    ``s3a`` and ``s3n`` are ``s3``, ``gcs`` is ``gs``, ``abfss``, ``wasb``, ``wasbs`` and ``az`` are ``abfs``, local paths begin with
    ``file:///``. Scheme and authority are in lower case without a default port, doubled slashes and slashes at the end are removed.
    Escapes such as ``%20`` stay.
    """
