"""Metadata tables. A ``context`` is the read context's JSON, ``columns`` and ``table`` are schemas as the specification's JSON."""

from collections.abc import Iterator
from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import BatchLike
from icefloe._core_api.io import FileIo

@final
class FileTableStream:
    """A metadata table about files, which every consumer reads from the start."""

    @property
    def schema(self) -> pa.Schema:
        """Schema of every batch."""

    def named(self, origin: str) -> FileTableStream:
        """Return the stream with the name that errors of its Arrow stream carry."""

    def __iter__(self) -> FileTableIterator: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class FileTableIterator:
    """One pass over a metadata table."""

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...
    def __next__(self) -> pa.RecordBatch: ...

def file_table(
    io: FileIo,
    context: str,
    manifests: BatchLike,
    *,
    table: str,
    columns: str,
    filter: str,
    row_filter: str,
    keep: str,
) -> FileTableStream:
    """Return the rows of ``files``, ``entries`` or one of their variants for the entries of some manifests.

    ``manifests`` has ManifestFile columns, ``columns`` is a selection from ``table``, the schema of the metadata table. ``filter``
    is bound to ``table``, ``row_filter`` to the context's schema; both are expression JSON. ``keep`` is ``all`` or ``live``.
    """

def manifest_table(context: str, manifests: BatchLike, *, columns: str) -> pa.RecordBatch:
    """Return the rows of ``manifests``, or with a column ``reference_snapshot_id`` beside ManifestFile columns of ``all_manifests``."""

def read_manifest_lists(io: FileIo, locations: list[str]) -> list[pa.RecordBatch]:
    """Return manifest lists as ManifestFile columns, read several at once."""

def partition_table(
    io: FileIo,
    context: str,
    manifests: BatchLike,
    *,
    columns: str,
    committed_at: dict[int, int],
    row_filter: str,
    keep: str,
) -> pa.RecordBatch:
    """Return the live files of manifests, added up by spec and partition, sorted by partition with nulls first.

    ``keep`` is ``live``, or ``all`` to count deleted entries as updates of their partitions, which are rows even without files.

    ``committed_at`` has the commit times of snapshots in microseconds since 1970-01-01 UTC.
    """
