"""Planning and reading."""

from collections.abc import Iterator
from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import BatchLike
from icefloe._core_api.io import FileIo

@final
class ScanPlan:
    """The tasks of a scan, as columns."""

    @property
    def files(self) -> pa.RecordBatch:
        """One row per scan task.

        ``file_path`` utf8, ``file_format`` utf8, ``spec_id`` int32, ``partition`` utf8 (JSON array of single values),
        ``record_count`` int64 (of the whole file), ``file_size_in_bytes`` int64, ``start`` int64 and ``length`` int64 (the bytes
        of the file this task reads), ``data_sequence_number`` int64, ``file_sequence_number`` int64, ``sort_order_id`` int32,
        ``split_offsets`` list<int64>, ``residual`` dictionary<int32, utf8> (the filter for the rows, predicate JSON; null if
        none),
        ``must_match`` bool (every row of the file satisfies the filter), ``deletes`` list<struct<first int32, count int32>>
        (runs of rows of ``deletes`` that apply); with ``include_stats`` also the statistics columns of a data file.
        """

    @property
    def deletes(self) -> pa.RecordBatch:
        """One row per delete file of the tasks, ordered by partition and sequence number.

        ``content`` int32 (1 positions, 2 equality), ``file_path``, ``file_format``, ``spec_id``, ``partition``,
        ``record_count``, ``file_size_in_bytes``, ``data_sequence_number``, ``equality_ids`` list<int32>,
        ``referenced_data_file``.
        """

    @property
    def counters(self) -> dict[str, int]:
        """The counts of planned and skipped files.

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
    added_by: int | None = None,
) -> ScanPlan:
    """Plan the scan of one snapshot.

    Args:
        io: Storage.
        context: JSON object: ``schema`` (binds the filter), ``schemas`` (all of the table), ``partition-specs`` (all of the
            table), ``name-mapping`` (or absent), ``case-sensitive``, ``properties``.
        manifest_list: Location of the snapshot's manifest list, or None.
        manifests: Locations of manifests, for a v1 snapshot that lists them inline.
        filter: Predicate JSON.
        split_size: Target bytes per task: files are split at their row groups; None for whole files.
        include_stats: Add the statistics columns to ``files``.
        include_deletes: Pair delete files with data files.
        added_by: Plan only the data files that this snapshot added, without deletes. ``manifest_list`` must be that of the snapshot.

    Raises:
        ResolveError: The filter refers to an unknown column.
        CorruptFileError: A manifest is malformed.
        MissingFileError: A manifest or the list does not exist.

    Spec: Scan Planning.
    """

def served_plan(replies: list[bytes], context: str, *, filter: str, split_size: int | None) -> ScanPlan:
    """Return the plan in the replies of a catalog server: ``file-scan-tasks`` and ``delete-files`` of each.

    Rows are read by ``filter``, except where the server states that all rows of a file match. Sequence numbers are null where the
    server does not send them, and ``files`` has no statistics.

    Args:
        replies: JSON objects. ``delete-file-references`` of a task are positions in ``delete-files`` of the same reply.
        context: As for :func:`plan`.
        filter: Predicate JSON.
        split_size: As for :func:`plan`.

    Raises:
        ValidationError: A reply has another form.
        FeatureUnsupportedError: A task has a deletion vector.

    Spec: REST catalog, plan table scan.
    """

def clear_manifest_cache() -> None:
    """Clear this process's cache of decoded manifests; the next plan reads them again."""

def own_deletes(files: BatchLike, deletes: BatchLike) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return some of a plan's files with only their own delete files; the runs in ``deletes`` are renumbered.

    Args:
        files: Files of a plan, any subset.
        deletes: The plan's delete files.

    Raises:
        ValidationError: ``files`` has no column of runs of deletes.
    """

def pack_tasks(
    files: BatchLike, deletes: BatchLike, *, target_size: int, lookback: int, open_file_cost: int
) -> list[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Return a plan's tasks in groups of similar weight, each with its own delete files.

    The weight of a task is its bytes and the bytes of its deletes, and at least the cost of opening its files.

    Args:
        files: Tasks of a plan.
        deletes: The plan's delete files.
        target_size: Target weight of a group, bytes >= 1.
        lookback: Number of open groups, >= 1; a task goes to the first one that it fits in.
        open_file_cost: Weight of opening a file, bytes.

    Raises:
        ValidationError: An argument is not valid.
    """

@final
class ScanStream:
    """A scan's rows as an Arrow stream. Every consumer reads the rows from the start.

    Iterating yields ``pyarrow.RecordBatch`` and raises the classes of ``icefloe.exceptions``; through the C stream interface
    a failure arrives as the consumer's own exception with the same message. Dropping an iterator stops its work.

    Ctrl-C interrupts a blocked iterator, and a consumer of the C stream interface that opened the stream on the main thread and
    reads it there. Such a consumer raises its own exception; most then raise ``KeyboardInterrupt`` once back in Python.
    """

    @property
    def schema(self) -> pa.Schema:
        """Schema of every batch."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __iter__(self) -> ScanIterator: ...
    def named(self, origin: str) -> ScanStream:
        """Return the stream with a description of its origin for errors through the C stream interface."""

@final
class ScanIterator:
    """One pass over a scan."""

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...
    def __next__(self) -> pa.RecordBatch: ...

def read(
    io: FileIo,
    context: str,
    files: BatchLike,
    deletes: BatchLike,
    *,
    projection: str,
    batch_size: int = 65536,
    batch_bytes: int = 1_572_864,
    limit: int | None = None,
    string_views: bool = False,
    extension_types: bool = False,
    threads: int | None = None,
    rows: BatchLike | None = None,
    keep: bool = True,
) -> ScanStream:
    """Read scan tasks: rows in file order, tasks in the order given.

    Args:
        io: Storage.
        context: As for :func:`plan`.
        files: Tasks of :func:`plan`, any subset. In a column ``marks`` of the same type as ``deletes``, a list that is not null limits
            the task to rows that these delete files delete and ``deletes`` do not.
        deletes: The plan's delete files; ``files.deletes`` holds runs of its rows.
        projection: Schema JSON of the columns to read, in order. Metadata columns by their reserved ids: ``_file`` 2147483646,
            ``_pos`` 2147483645, ``_deleted`` 2147483644, ``_spec_id`` 2147483643, ``_partition`` 2147483642 (a struct whose
            fields have the ids of partition fields). With ``_deleted``, deleted rows are included and marked in this column; in a
            task with marks, the rows that the marks delete.
        batch_size: Greatest number of rows of a batch, >= 1.
        batch_bytes: Approximate limit of the bytes of a batch of Parquet rows; each thread may buffer twice as many.
        limit: Stop after this many rows.
        string_views: Return strings and binaries as views, which saves a copy.
        extension_types: Return uuid columns as Arrow's extension type ``arrow.uuid`` instead of ``fixed_size_binary[16]``.
        threads: Number of decoding threads, >= 1.
        rows: Rows to select among the rows that no delete file deletes; None for all. Columns ``__file_row`` int32 (the number of a
            task in ``files``) and ``_pos`` int64, or ``__file_row``, ``first`` int64 and ``count`` int64 for runs of rows. The
            tasks must be whole files.
        keep: Return the rows of ``rows`` only; False returns all others.

    Raises:
        ValidationError: A task or an argument is not valid.
        MissingFileError, CorruptFileError: While the stream is read.
        FeatureUnsupportedError: A task's file format cannot be read.

    Spec: Column Projection; Scan Planning; Row-level Deletes.
    """

def explain_read(
    io: FileIo,
    context: str,
    files: BatchLike,
    deletes: BatchLike,
    *,
    projection: str,
    threads: int | None = None,
) -> pa.RecordBatch:
    """Return what reading each scan task would decode, one row per task, from the footers of the files only.

    ``file_path`` utf8 !null, ``row_groups`` int64 (of the task), ``row_groups_kept`` int64, ``pages`` int64 (of the columns
    read, in the kept row groups; null where the file has no page index), ``pages_kept`` int64, ``rows`` int64, ``rows_selected``
    int64 (rows to decode, before deletes and the filter on values), ``bytes_to_read`` int64, ``reason`` utf8 (what
    prunes the other rows: ``statistics``, ``bloom filter``, ``page index``, joined by commas; null if all rows are read). Only the
    path is not null for files other than Parquet.

    Args:
        io: Storage.
        context: As for :func:`plan`.
        files: As for :func:`read`.
        deletes: As for :func:`read`.
        projection: As for :func:`read`.
        threads: As for :func:`read`.

    Raises:
        MissingFileError, CorruptFileError: A file does not exist, or its footer is damaged.
    """
