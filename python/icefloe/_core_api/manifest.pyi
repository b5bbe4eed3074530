"""Manifests and manifest lists on storage."""

from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import ArrayLike, BatchLike
from icefloe._core_api.io import FileIo

def write_manifests(
    io: FileIo,
    location_prefix: str,
    entries: BatchLike,
    *,
    schema: str,
    specs: str,
    format_version: int,
    snapshot_id: int,
    content: int,
    first_index: int,
    properties: dict[str, str],
) -> pa.RecordBatch:
    """Write manifests named ``<location_prefix>-m<N>.avro``, N from ``first_index``; return ManifestFile columns.

    ``entries`` has Entry columns, or DataFile columns alone: all ADDED, their sequence numbers to be inherited. Entries are
    grouped by ``spec_id``. ``content`` is 0 (data) or 1 (deletes). ``schema`` is the table's schema as JSON, or a JSON array of the
    current schema and every earlier one, so that specs over dropped columns keep their types; ``specs`` a JSON array of all specs.

    Raises:
        FileAlreadyExistsError: Another file has one of the names.
        ValidationError: An entry's partition does not fit its spec.
    """

def read_manifest(
    io: FileIo, manifests: BatchLike, *, schema: str, specs: str, keep: str, statistics: bool = True
) -> pa.Table:
    """Return the entries of manifests as Entry columns, in order, inheritance applied.

    ``manifests`` has ManifestFile columns; ``keep`` is ``all`` or ``live`` (ADDED and EXISTING). Manifests are read
    concurrently; the chunks of the table follow the units of decoding. Without ``statistics``, the six columns of statistics are
    null and not decoded.

    Raises:
        CorruptFileError: A manifest is malformed; the message has the location and the byte position.
        MissingFileError: A manifest does not exist.
    """

def read_manifest_list(io: FileIo, location: str) -> pa.RecordBatch:
    """Return a manifest list as ManifestFile columns."""

def describe_manifests(io: FileIo, locations: list[str]) -> pa.RecordBatch:
    """Return manifests without a manifest list, as in snapshots of version 1, as ManifestFile columns.

    Length, spec and counts come from each manifest; ``added_snapshot_id`` and ``partitions`` are null.
    """

def write_manifest_list(
    io: FileIo,
    location: str,
    manifests: BatchLike,
    *,
    format_version: int,
    snapshot_id: int,
    parent_snapshot_id: int | None,
    sequence_number: int,
) -> None:
    """Write a manifest list; manifests without a sequence number are assigned ``sequence_number``."""

@final
class FilteredManifests:
    """The result of removing files from manifests."""

    @property
    def manifests(self) -> pa.RecordBatch:
        """ManifestFile columns in input order, unchanged or rewritten."""

    @property
    def deleted(self) -> pa.RecordBatch:
        """Entry columns of the removed files."""

    @property
    def missing(self) -> list[str]:
        """Paths to remove that no manifest lists as live."""

    @property
    def rewritten(self) -> int:
        """The number of rewritten manifests."""

def filter_manifests(
    io: FileIo,
    location_prefix: str,
    manifests: BatchLike,
    *,
    deleted_paths: ArrayLike,
    schema: str,
    specs: str,
    format_version: int,
    snapshot_id: int,
    first_index: int,
    properties: dict[str, str],
) -> FilteredManifests:
    """Mark files as deleted in the manifests that list them, rewriting only those manifests."""

def merge_manifests(
    io: FileIo,
    location_prefix: str,
    manifests: BatchLike,
    *,
    schema: str,
    specs: str,
    format_version: int,
    snapshot_id: int,
    first_index: int,
    target_size_bytes: int,
    min_count_to_merge: int,
    properties: dict[str, str],
) -> pa.RecordBatch:
    """Merge small manifests of the same spec into larger ones; return ManifestFile columns."""
