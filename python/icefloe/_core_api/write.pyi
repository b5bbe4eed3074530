"""Writing data files and delete files."""

import pyarrow as pa
from icefloe._core_api.arrow import BatchLike
from icefloe._core_api.io import FileIo

class CopiedRows:
    """Rows of existing files that a write takes over as encoded pages.

    Pages are copied where a run of at least 100,000 rows, half of a row group, remains of an unsorted Parquet file that this library wrote with the
    same schema, partition spec and properties. Nested columns, bloom filters and bounds that the page index truncates prevent it.

    Args:
        io: Storage.
        schema: Schema JSON of the table.
        spec: Partition spec JSON.
        sort_order: Sort order JSON; None for unsorted rows.
        properties: Table properties.
    """

    def __init__(
        self, io: FileIo, *, schema: str, spec: str, sort_order: str | None, properties: dict[str, str]
    ) -> None: ...
    def add(self, files: BatchLike, removed: BatchLike) -> tuple[pa.BooleanArray, pa.RecordBatch]:
        """Add the pages of files without some of their rows. Footers are read concurrently.

        A file that cannot be read is not copied: reading its rows raises the error.

        Args:
            files: ``file_path`` utf8, ``spec_id`` int32, ``partition`` utf8, ``record_count`` int64 and ``has_deletes`` boolean of data files.
            removed: ``__file_row`` int32 (the row in ``files``) and ``_pos`` int64 of the rows to leave out, sorted by both.

        Returns:
            For each file, whether pages of it are copied; and the rows of these files that are neither copied nor removed, as runs:
            ``__file_row`` int32, ``first`` int64 and ``count`` int64, sorted by the first two.

        Raises:
            SchemaMismatchError: A column is missing, or has nulls or another type.
            ValidationError: A row is of no file in ``files``.
        """

def write_data_files(
    io: FileIo,
    data: BatchLike,
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
    copied: CopiedRows | None = None,
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
        presorted: Rows are sorted by (partition, sort order), so that one file is open at a time.
        copied: Pages to write after all rows. The source of ``data`` may add pages until it ends.

    Raises:
        SchemaMismatchError: A column is unknown, missing or has a type that does not fit, before any file is written; or a required
            column has a null.
    """

def write_position_deletes(
    io: FileIo,
    data: BatchLike,
    *,
    targets: BatchLike,
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
        data: ``file_path`` utf8, best as a dictionary, and ``pos`` int64, in any order.
        targets: ``file_path`` utf8, ``spec_id`` int32, ``partition`` utf8 of every data file that may appear in ``data``.
        schema: Schema JSON of the table.
        specs: JSON array of all partition specs.
        table_location: Location of the table.
        properties: Table properties; ``write.delete.granularity`` is ``file`` (default) or ``partition``.
        operation_id: Part of the file names.
        partition_id: Part of the file names.
        task_id: Part of the file names.

    Raises:
        ValidationError: A row refers to a file that is not in ``targets``.
    """

def write_equality_deletes(
    io: FileIo,
    data: BatchLike,
    *,
    equality_ids: list[int],
    schema: str,
    spec: str,
    sort_order: str | None,
    table_location: str,
    properties: dict[str, str],
    operation_id: str,
    partition_id: int,
    task_id: int,
) -> pa.RecordBatch:
    """Write keys of deleted rows to equality delete files and return their DataFile columns.

    Args:
        io: Storage.
        data: The key columns and the source columns of the spec; other columns of the table are ignored.
        equality_ids: Field ids of the key columns.
        schema: Schema JSON of the table.
        spec: Partition spec JSON; a spec without fields makes files that apply to every partition.
        sort_order: Sort order JSON, whose columns have metrics; keys are not sorted.
        table_location: Location of the table.
        properties: Table properties.
        operation_id: Part of the file names.
        partition_id: Part of the file names.
        task_id: Part of the file names.

    Raises:
        ValidationError: A column of ``equality_ids`` is absent, nested in a list or map, or floating-point.
        SchemaMismatchError: ``data`` lacks a key column or a source column, or a type does not fit.
    """

def describe_data_files(
    io: FileIo,
    locations: list[str],
    *,
    context: str,
    spec_id: int,
    sort_order: str | None = None,
    format: str | None = None,
    check_names: bool = True,
) -> tuple[pa.RecordBatch, int]:
    """Describe existing Parquet, ORC and Avro files as data files of a table, from their footers or headers.

    Columns whose values the statistics do not show to fit are decoded: required fields that are optional in the file, and types that hold
    more values than the table's.

    Args:
        io: Storage.
        locations: The files.
        context: The read context of the table, with the name mapping for files without field ids.
        spec_id: The partition spec of the files. Partition values come from the bounds of the source columns, or from
            ``name=value`` directories of a location.
        sort_order: The table's sort order as JSON, whose columns get bounds; the files are not sorted by it.
        format: The format that every file must have, ``parquet``, ``orc`` or ``avro``; by default the format of its magic bytes.
        check_names: Whether every column must be a column of the table and have its name; false for files of the table, which may
            have columns that were dropped or renamed since, and no column is decoded.

    Returns:
        DataFile columns in the order of ``locations``, and the number of files without field ids.

    Raises:
        SchemaMismatchError: A file's columns, or their values, do not fit the table.
        ValidationError: A file's partition is not determined, or the file has another format than ``format``.
        MissingFileError: A file does not exist.
        CorruptFileError: A file is damaged, or of none of the formats.
    """

def file_schema(io: FileIo, location: str) -> pa.Schema:
    """Return the columns of a Parquet, ORC or Avro file by its own schema, with field ids if the file has any.

    Raises:
        MissingFileError: The file does not exist.
        CorruptFileError: The file is damaged, or of none of the formats.
    """
