"""The Rust core: storage, planning, reading, writing, manifests, transforms.

Arrow data goes in as any object with ``__arrow_c_array__`` or ``__arrow_c_stream__`` and comes out as pyarrow objects or as
objects with ``__arrow_c_stream__``. Every function releases the GIL. Threads start at the first call that needs them, once per
process, so that a forked child works too; there are ``OMP_NUM_THREADS`` of them, else as many as the cores this process may use.

Failures are raised as the classes of ``icefloe.exceptions``.
"""

from collections.abc import Iterator
from typing import Protocol, TypeAlias, final

import pyarrow as pa

class _ArrowArrayExportable(Protocol):
    """Anything that exports an Arrow array or batch."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStreamExportable(Protocol):
    """Anything that exports a stream of Arrow batches."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_ArrayLike: TypeAlias = _ArrowArrayExportable | pa.ChunkedArray
_BatchLike: TypeAlias = _ArrowArrayExportable | _ArrowStreamExportable

__all__ = [
    "FileIo",
    "FilteredManifests",
    "ScanIterator",
    "ScanPlan",
    "ScanStream",
    "__version__",
    "bucket",
    "build_profile",
    "days",
    "filter_manifests",
    "hours",
    "merge_manifests",
    "months",
    "partition_path",
    "plan",
    "read",
    "read_manifest",
    "read_manifest_list",
    "single_value_from_bytes",
    "single_value_to_bytes",
    "transform",
    "truncate",
    "validate_filter",
    "write_data_files",
    "write_manifest_list",
    "write_manifests",
    "write_position_deletes",
    "years",
]

__version__: str

def build_profile() -> str:
    """Return how this module was built: ``release``, ``fast`` or ``debug``."""

@final
class FileIo:
    """Access to storage, described by properties alone.

    Frozen and picklable; a copy in another process builds its own clients. A location is an absolute path, ``file:/path`` or
    ``file:///path``, its characters used as written (``%20`` is three characters). Other schemes raise FeatureUnsupportedError.

    >>> io = FileIo({})
    >>> io.write("/tmp/icefloe-example/hello", b"hello", overwrite=True)
    >>> io.read("/tmp/icefloe-example/hello")
    b'hello'
    """

    def __new__(cls, properties: dict[str, str] = ...) -> FileIo: ...
    @property
    def properties(self) -> dict[str, str]:
        """The properties this was made from."""

    def read(self, location: str) -> bytes:
        """Return the whole of a file.

        Raises:
            MissingFileError: Nothing is stored there.
            StorageError: Storage failed.
        """

    def write(self, location: str, data: bytes, *, overwrite: bool) -> None:
        """Store bytes, whole or not at all, on disk when the call returns; directories are made as needed.

        Raises:
            FileAlreadyExistsError: ``overwrite`` is false and something is there. Of two racing writers exactly one succeeds.
            StorageError: Storage failed.
        """

    def exists(self, location: str) -> bool:
        """Return whether a file is stored at a location."""

    def size(self, location: str) -> int:
        """Return the size of a file in bytes; MissingFileError if there is none."""

    def delete(self, location: str) -> None:
        """Delete a file; MissingFileError if there is none."""

    def delete_many(self, locations: list[str]) -> list[tuple[str, str]]:
        """Delete files, several at once; return ``(location, reason)`` of each that could not be deleted.

        A file that is gone already is no failure.
        """

    def list(self, prefix: str) -> pa.RecordBatch:
        """Return every file below a directory, at any depth, ordered by location.

        Returns:
            ``location`` utf8 (spelled like ``prefix``), ``size`` int64 in bytes, ``last_modified_ms`` int64 since the epoch.
            No rows if the directory does not exist.
        """

    def __reduce__(self) -> tuple[type[FileIo], tuple[dict[str, str]]]: ...

@final
class ScanPlan:
    """What a scan will read, as columns."""

    @property
    def files(self) -> pa.RecordBatch:
        """One row per scan task.

        ``file_path`` utf8, ``file_format`` utf8, ``spec_id`` int32, ``partition`` utf8 (JSON array of single values),
        ``record_count`` int64 (of the whole file), ``file_size_in_bytes`` int64, ``start`` int64 and ``length`` int64 (the bytes
        of the file this task reads), ``data_sequence_number`` int64, ``file_sequence_number`` int64, ``sort_order_id`` int32,
        ``split_offsets`` list<int64>, ``residual`` utf8 (what is left to filter row by row, predicate JSON; null if nothing),
        ``must_match`` bool (every row of the file satisfies the filter), ``deletes`` list<int32> (rows of ``deletes`` that
        apply); with ``include_stats`` also the statistics columns of a data file.
        """

    @property
    def deletes(self) -> pa.RecordBatch:
        """One row per delete file that some task needs.

        ``content`` int32 (1 positions, 2 equality), ``file_path``, ``file_format``, ``spec_id``, ``partition``,
        ``record_count``, ``file_size_in_bytes``, ``data_sequence_number``, ``equality_ids`` list<int32>,
        ``referenced_data_file``.
        """

    @property
    def counters(self) -> dict[str, int]:
        """What planning looked at and skipped.

        ``data_manifests_total``, ``data_manifests_skipped``, ``delete_manifests_total``, ``delete_manifests_skipped``,
        ``data_files_total``, ``files_skipped_by_partition``, ``files_skipped_by_metrics``, ``files_planned``,
        ``delete_files_total``, ``delete_files_planned``, ``bytes_planned``, ``records_planned``.
        """

def plan(
    io: FileIo,
    context: str,
    *,
    manifest_list: str | None,
    manifests: list[str],
    filter: str,
    split_size: int | None,
    include_stats: bool,
    include_deletes: bool = True,
) -> ScanPlan:
    """Plan the scan of one snapshot.

    Args:
        io: Storage.
        context: JSON object: ``schema`` (binds the filter), ``schemas`` (all of the table), ``partition-specs`` (all of the
            table), ``name-mapping`` (or absent), ``case-sensitive``, ``properties``.
        manifest_list: Location of the snapshot's manifest list, or None.
        manifests: Locations of manifests, for a v1 snapshot that lists them inline.
        filter: Predicate JSON.
        split_size: Wanted bytes per task: files are cut at their row groups; None leaves files whole.
        include_stats: Add the statistics columns to ``files``.
        include_deletes: Pair delete files with data files.

    Raises:
        ResolveError: The filter names an unknown column.
        CorruptFileError: A manifest is not what the spec says.
        MissingFileError: A manifest or the list is gone.

    Spec: Scan Planning.
    """

@final
class ScanStream:
    """A scan's rows as a stream that any Arrow consumer reads, each from the beginning.

    Iterating yields ``pyarrow.RecordBatch`` and raises the classes of ``icefloe.exceptions``; through the C stream interface
    a failure arrives as the consumer's own exception with the same message. Dropping an iterator stops its work.
    """

    @property
    def schema(self) -> pa.Schema:
        """Schema of every batch."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __iter__(self) -> ScanIterator: ...

@final
class ScanIterator:
    """One pass over a scan."""

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...
    def __next__(self) -> pa.RecordBatch: ...

def read(
    io: FileIo,
    context: str,
    files: _BatchLike,
    deletes: _BatchLike,
    *,
    projection: str,
    batch_size: int = 65536,
    limit: int | None = None,
    string_views: bool = False,
    threads: int | None = None,
) -> ScanStream:
    """Read scan tasks: rows in file order, tasks in the order given.

    Args:
        io: Storage.
        context: As for :func:`plan`.
        files: Tasks, as :func:`plan` returns them, any subset.
        deletes: The plan's delete files; ``files.deletes`` holds row numbers of it.
        projection: Schema JSON of the wanted columns, in order. Metadata columns by their reserved ids: ``_file`` 2147483646,
            ``_pos`` 2147483645, ``_spec_id`` 2147483643.
        batch_size: Most rows of a batch, >= 1.
        limit: Stop after this many rows.
        string_views: Return strings and binaries as views, which saves a copy where the consumer takes them.
        threads: Threads that decode at once, >= 1.

    Raises:
        ValidationError: A task or an argument is not valid.
        MissingFileError, CorruptFileError: While the stream is read.
        FeatureUnsupportedError: A task's file format cannot be read.

    Spec: Column Projection; Scan Planning; Row-level Deletes.
    """

def write_data_files(
    io: FileIo,
    data: _BatchLike,
    *,
    schema: str,
    spec: str,
    sort_order: str | None,
    table_location: str,
    properties: dict[str, str],
    operation_id: str,
    partition_id: int,
    task_id: int,
    presorted: bool = False,
) -> pa.RecordBatch:
    """Write rows to data files, one open file per partition, and return the files' DataFile columns.

    Args:
        io: Storage.
        data: Columns match the schema by name, in any order.
        schema: Schema JSON of the table.
        spec: Partition spec JSON.
        sort_order: Sort order JSON; rows of each file are sorted by it unless ``presorted``.
        table_location: Location of the table; files go to ``write.data.path`` or ``<location>/data``.
        properties: Table properties.
        operation_id: Part of the file names, unique per operation.
        partition_id: Number of the writing partition, part of the file names.
        task_id: Number of the writing task, part of the file names.
        presorted: Rows are sorted by (partition, sort order): one file is open at a time.

    Raises:
        SchemaMismatchError: Extra, missing or unfitting columns, found before any file is written; a null in a required column.
    """

def write_position_deletes(
    io: FileIo,
    data: _BatchLike,
    *,
    targets: _BatchLike,
    schema: str,
    specs: str,
    table_location: str,
    properties: dict[str, str],
    operation_id: str,
    partition_id: int,
    task_id: int,
) -> pa.RecordBatch:
    """Write position delete files and return their DataFile columns.

    Args:
        io: Storage.
        data: ``file_path`` utf8 and ``pos`` int64, in any order.
        targets: ``file_path`` utf8, ``spec_id`` int32, ``partition`` utf8 of every data file that may appear in ``data``.
        schema: Schema JSON of the table.
        specs: JSON array of all partition specs.
        table_location: Location of the table.
        properties: Table properties; ``write.delete.granularity`` is ``file`` (default) or ``partition``.
        operation_id: Part of the file names.
        partition_id: Part of the file names.
        task_id: Part of the file names.

    Raises:
        ValidationError: A row names a file that ``targets`` does not have.
    """

def write_manifests(
    io: FileIo,
    location_prefix: str,
    entries: _BatchLike,
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

def read_manifest(io: FileIo, manifests: _BatchLike, *, schema: str, specs: str, keep: str) -> pa.RecordBatch:
    """Return the entries of manifests as Entry columns, concatenated in order, inheritance applied.

    ``manifests`` has ManifestFile columns; ``keep`` is ``all`` or ``live`` (ADDED and EXISTING). Read concurrently.

    Raises:
        CorruptFileError: A manifest is not what the specification says; the message has the location and the byte.
        MissingFileError: A manifest is not there.
    """

def read_manifest_list(io: FileIo, location: str) -> pa.RecordBatch:
    """Return a manifest list as ManifestFile columns."""

def write_manifest_list(
    io: FileIo,
    location: str,
    manifests: _BatchLike,
    *,
    format_version: int,
    snapshot_id: int,
    parent_snapshot_id: int | None,
    sequence_number: int,
) -> None:
    """Write a manifest list; manifests without a sequence number are stamped with ``sequence_number``."""

@final
class FilteredManifests:
    """Manifests after some files were removed from them."""

    @property
    def manifests(self) -> pa.RecordBatch:
        """ManifestFile columns, in input order: kept as they were, or rewritten."""

    @property
    def deleted(self) -> pa.RecordBatch:
        """Entry columns of what was removed."""

    @property
    def missing(self) -> list[str]:
        """Paths that were to be removed and that no manifest lists as live."""

    @property
    def rewritten(self) -> int:
        """How many manifests were rewritten."""

def filter_manifests(
    io: FileIo,
    location_prefix: str,
    manifests: _BatchLike,
    *,
    deleted_paths: _ArrayLike,
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
    manifests: _BatchLike,
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

def bucket(array: _ArrayLike, num_buckets: int) -> pa.Array:
    """Return the ``bucket[num_buckets]`` ordinal of each value: int32, null where the input is null. Spec: Appendix B."""

def truncate(array: _ArrayLike, width: int) -> pa.Array:
    """Return each value truncated to ``width``, of the input's type, null where the input is null."""

def years(array: _ArrayLike) -> pa.Array:
    """Return years from 1970 of dates or timestamps: int32, null where the input is null."""

def months(array: _ArrayLike) -> pa.Array:
    """Return months from 1970-01 of dates or timestamps: int32, null where the input is null."""

def days(array: _ArrayLike) -> pa.Array:
    """Return days from 1970-01-01 of dates or timestamps: date32, null where the input is null."""

def hours(array: _ArrayLike) -> pa.Array:
    """Return hours from 1970-01-01 00:00 of timestamps: int32, null where the input is null."""

def transform(array: _ArrayLike, transform: str, source_type: str) -> pa.Array:
    """Return any transform, by its text, of an array of the Iceberg type named ``source_type``."""

def single_value_to_bytes(type: str, json: str) -> bytes:
    """Return the binary form of a JSON single value. Spec: Appendix D."""

def single_value_from_bytes(type: str, data: bytes) -> str:
    """Return the JSON form of a binary single value. Spec: Appendix D."""

def partition_path(spec: str, schema: str, partition: str) -> str:
    """Return the directory path ``name=value/...`` of a partition tuple given as a JSON array."""

def validate_filter(context: str, filter: str) -> str:
    """Bind a filter to the context's schema and return it as JSON, names resolved; ResolveError for an unknown column."""
