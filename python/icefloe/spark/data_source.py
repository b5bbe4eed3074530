"""``spark.read.format("icefloe")`` and ``df.write.format("icefloe")``.

This data source is for SQL and for code that cannot call :func:`icefloe.spark.read` and :func:`icefloe.spark.write`. Spark plans a
Python data source in a separate process, so the table and the catalog must be options: ``load("db.events")``, ``catalog`` and
``catalog.<property>``.

In Spark 4.1 and later a DataFrame or view of this source always reads the files of its first use. Spark prunes neither columns nor
rows for it: pass ``columns`` and ``filter`` as options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from icefloe.exceptions import FeatureUnsupportedError, ValidationError, ValidationException
from icefloe.schema import Schema
from icefloe.spark.metadata_reader import MetadataReader, metadata_scan
from icefloe.spark.metadata_tables import spark_schema
from icefloe.spark.reader.audited_task import AuditedTask, read_tasks
from icefloe.spark.reader.changes import ChangeTask, change_tasks
from icefloe.spark.reader.read_task import ReadTask
from icefloe.spark.session import active_session
from icefloe.spark.table_options import VERSION_OPTIONS, TableOptions
from icefloe.spark.types.conform import conform_schema, matched_names
from icefloe.spark.types.exact_names import check_names_in_task
from icefloe.spark.types.nullability import check_not_null
from icefloe.spark.types.to_spark import read_schema, to_arrow_schema, to_spark_schema
from icefloe.spark.writer.commit import (
    FileChange,
    WriteMode,
    files_deleted_on_failure,
    overwrite_isolation,
    summary_properties,
)
from icefloe.spark.writer.failed_job import delete_files_of_failed_job
from icefloe.spark.writer.layout import WriteLayout
from icefloe.spark.writer.options import WRITE_OPTIONS, checked_options, flag
from icefloe.spark.writer.schema_merge import merge_schema
from icefloe.spark.writer.wap import AuditSettings, audited_destination
from icefloe.spark.writer.write_task import WriteDataFiles, collected, data_task
from icefloe.table.scan import DataScan, IncrementalChangelogScan
from icefloe.table.scan.change_rows import CHANGE_COLUMNS
from icefloe.table.scan.task_group import batch_to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from icefloe.spark.stream.sink import IcefloeStreamWriter
    from icefloe.spark.stream.source import IcefloeStreamReader
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.scan import Scan
    from icefloe.table.write.isolation import Isolation

SHORT_NAME = "icefloe"


def register(spark: Any = None) -> None:
    """Register ``format("icefloe")`` with a session.

    Args:
        spark: Session; the active one if None.

    Raises:
        ValidationError: No session is given and none is active.

    Examples:
        >>> icefloe.spark.register(spark)
        >>> options = {"catalog": "lake", "catalog.type": "hadoop", "catalog.warehouse": warehouse}
        >>> spark.read.format("icefloe").options(**options).load("db.events").count()
        3
    """
    from icefloe.spark.session_catalog import SessionCatalog

    SessionCatalog(active_session(spark)).register_source(IcefloeDataSource)


class IcefloeDataSource(DataSource):
    """The data source of Iceberg tables.

    Options of reads:

    - ``snapshot-id``, ``as-of-timestamp`` (milliseconds), ``branch``, ``tag``, ``versionAsOf`` (a snapshot id, branch or tag) or
      ``timestampAsOf`` (a time with its offset from UTC);
      without them the branch of the session's ``spark.wap.branch`` where the table has ``write.wap.enabled``, else main;
    - ``start-snapshot-id`` (exclusive) and ``end-snapshot-id``: rows that were appended between them;
    - ``changes`` = ``true``: the rows of :func:`icefloe.spark.changes`, between the same ids or ``start-timestamp`` and
      ``end-timestamp``, with ``compute-updates``, ``identifier-columns`` and ``net-changes``;
    - ``load("db.events.files")`` reads the metadata table ``files``, a location ``load("/lake/events#files")``;
    - ``columns`` (comma-separated, also metadata columns such as ``_file``), ``filter``, ``case-sensitive``;
    - ``split-size``, ``lookback`` and ``file-open-cost``, the sizes of tasks.

    Options of writes: ``overwrite-mode`` (``static`` or ``dynamic``), and those of :func:`icefloe.spark.write` that need no shuffle:
    ``overwrite-filter``, ``isolation-level``, ``branch``, ``merge-schema``, ``target-file-size-bytes`` and others.

    Streams have the options of the page "Streaming".

    Examples:
        >>> icefloe.spark.register(spark)
        >>> options = {"catalog": "lake", "catalog.type": "hadoop", "catalog.warehouse": warehouse}
        >>> frame = spark.read.format("icefloe").options(**options, columns="id", filter="id > 1").load("db.events")
        >>> frame.orderBy("id").collect()
        [Row(id=2), Row(id=3)]
    """

    @classmethod
    def name(cls) -> str:
        """Return the format's name."""
        return SHORT_NAME

    def schema(self) -> Any:
        """Return the schema of a read, nullable at every depth: a DataFrame keeps it, and the table may change."""
        from icefloe.spark.stream.options import STREAM_READ_OPTIONS

        options = TableOptions.parse(self.options, also=STREAM_READ_OPTIONS)
        metadata = metadata_scan(options)
        if metadata is not None:
            return from_arrow_schema(spark_schema(metadata.arrow_schema()))
        return read_schema(_schema(options.scan()))

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader; a schema that the user passed selects columns by name."""
        options = TableOptions.parse(self.options)
        if metadata_scan(options) is not None:
            return MetadataReader(options, [field.name for field in schema.fields])
        return IcefloeReader(options, schema)

    def writer(self, schema: Any, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer after a check that the rows fit the table."""
        options = TableOptions.parse(self.options)
        return IcefloeWriter.make(options, schema, overwrite=overwrite)

    def streamReader(self, schema: Any) -> IcefloeStreamReader:  # noqa: N802  Spark's name
        """Return a reader of a stream; a schema that the user passed selects columns by name."""
        from icefloe.spark.stream.admission import check_limits
        from icefloe.spark.stream.options import SourceOptions
        from icefloe.spark.stream.source import IcefloeStreamReader

        options = SourceOptions.parse(self.options)
        check_limits(options.limits)
        return IcefloeStreamReader(options, schema)

    def streamWriter(self, schema: Any, overwrite: bool) -> IcefloeStreamWriter:  # noqa: N802
        """Return a writer of a stream after a check that the rows fit the table; ``overwrite`` is the output mode complete."""
        from icefloe.spark.stream.options import SinkOptions
        from icefloe.spark.stream.sink import IcefloeStreamWriter

        return IcefloeStreamWriter(SinkOptions.parse(self.options), schema, overwrite=overwrite)


def _schema(scan: Scan) -> str:
    return scan.changes_json() if isinstance(scan, IncrementalChangelogScan) else scan.projection_json()


class IcefloeReader(DataSourceReader):
    """The reader of a scan, planned in ``partitions()``.

    Args:
        options: The scan.
        schema: The columns that Spark expects, a Spark struct: those of the scan, or the ones that the user passed.
    """

    def __init__(self, options: TableOptions, schema: Any) -> None:
        self._options = options
        self._schema = schema

    def partitions(self) -> Sequence[ReadTask | AuditedTask | ChangeTask]:
        """Plan the scan and return its tasks, up to the split size each, or the tasks of its changes.

        Without a version, the tasks read the branch of the session's ``spark.wap.branch`` where the table has ``write.wap.enabled``.

        Raises:
            ValidationError: The schema that the user passed has another type for a column, or NOT NULL for an optional column.
        """
        scan = self._options.scan()
        _check_types(self._schema, to_spark_schema(_schema(scan)))
        scan = scan.update(
            selected_fields=tuple(name for name in self._schema.names if name not in CHANGE_COLUMNS.names)
        )
        if isinstance(scan, IncrementalChangelogScan):
            return change_tasks(scan)
        if not isinstance(scan, DataScan):
            return [ReadTask(group) for group in scan.plan_tasks()]
        return read_tasks(scan, of_version=any(key in self._options.others for key in VERSION_OPTIONS))

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one task; of a scan without tasks Spark reads None, since 4.2 a partition of None."""
        if partition is None or (type(partition) is InputPartition and partition.value is None):
            return iter(())
        if not isinstance(partition, (ReadTask, AuditedTask, ChangeTask)):
            raise ValidationError(
                f"partition: expected a ReadTask or ChangeTask of this reader, got a {type(partition).__name__}"
            )
        return partition.batches(to_arrow_schema(self._schema))


def _check_types(given: Any, own: Any) -> None:
    """Check the schema that Spark has, which may be one that the user passed.

    Raises:
        ValidationError: A column has another type than in the scan, or NOT NULL where the scan may return nulls.
    """
    names = matched_names(own.names, given.names)
    for field in given.fields:
        kind = own[names[field.name]].dataType if field.name in names else field.dataType
        if field.dataType.simpleString() != kind.simpleString():
            raise ValidationError(
                f"schema: column {field.name!r} has type {kind.simpleString()}; expected a schema that selects columns, got "
                f"{field.dataType.simpleString()}: cast the column after the read"
            )
    known = [(field, own[names[field.name]]) for field in given.fields if field.name in names]
    check_not_null(StructType([one for one, _ in known]), StructType([two for _, two in known]))


@dataclass(frozen=True)
class FilesWritten(WriterCommitMessage):
    """The result of one task.

    Args:
        files: DataFile columns as an Arrow IPC stream; None for a task without rows.
        audit: The session's settings for write, audit, publish.
    """

    files: bytes | None
    audit: AuditSettings


class IcefloeWriter(DataSourceArrowWriter):
    """The writer of rows without a shuffle: each task writes one file for each partition; one commit.

    Args:
        options: Options of the data source.
        task: The task of every Spark partition.
        mode: Effect on the rows that the table has.
        isolation: Concurrent commits that an overwrite tolerates.
        table_uuid: UUID of the table that the tasks write files for.
        struct: The ``StructType`` of the rows.
        merges: Whether the commit merges the schema of the rows into the table's.
    """

    def __init__(  # noqa: PLR0913  the parts of a write
        self,
        options: TableOptions,
        task: WriteDataFiles,
        mode: WriteMode,
        isolation: Isolation,
        *,
        table_uuid: str,
        struct: Any,
        merges: bool = False,
    ) -> None:
        self._options = options
        self._task = task
        self._mode = mode
        self._isolation = isolation
        self._struct = struct
        self._merges = merges
        self._table_uuid = table_uuid

    @staticmethod
    def make(options: TableOptions, schema: Any, *, overwrite: bool) -> IcefloeWriter:
        """Return a writer for rows of a Spark schema.

        Raises:
            SchemaMismatchError: The rows do not fit the table.
            ValidationError: The table is given by its location, or an option is one of reads or has a value that is not accepted.
            FeatureUnsupportedError: An option asks for a shuffle, which Spark's interface for Python data sources does not have.
        """
        if options.is_location():
            raise ValidationError(
                f"table: a write needs a catalog to commit to; expected an identifier such as db.events, got the location "
                f"{options.table!r}"
            )
        options.check_write()
        overwrite_mode = options.others.get("overwrite-mode", "static").lower()
        if overwrite_mode not in ("static", "dynamic"):
            raise ValidationError(f"option overwrite-mode: expected static or dynamic, got {overwrite_mode!r}")
        mode: WriteMode = "append"
        if overwrite:
            mode = "overwrite" if overwrite_mode == "static" else "overwrite-partitions"
        others = {key: value for key, value in options.others.items() if key in WRITE_OPTIONS}
        checked_options(mode, others)
        _refuse_shuffles(others)
        table = options.load()
        isolation = overwrite_isolation(table, others)
        transaction = table.transaction()
        merges = flag(others, "merge-schema")
        if merges:
            merge_schema(transaction, schema)
        layout = WriteLayout.of(transaction.table_metadata, others)
        conform_schema(
            schema,
            layout.schema,
            check_nullability=flag(others, "check-nullability"),
            check_ordering=flag(others, "check-ordering"),
            fields_by_name=True,
        )
        task = data_task(table, presorted=False, layout=layout)
        uuid = str(table.metadata.table_uuid)
        return IcefloeWriter(options, task, mode, isolation, table_uuid=uuid, struct=schema, merges=merges)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> FilesWritten:
        """Write the rows of one task."""
        check_names_in_task(self._struct, self._task.schema)
        files = self._task.write(iterator)
        return FilesWritten(None if files is None else batch_to_ipc(files), AuditSettings.of_task())

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit the files of all tasks in one snapshot."""
        written = [one for one in messages if isinstance(one, FilesWritten)]
        files = collected([one.files for one in written if one.files is not None])
        table, options = self._options.load(), self._options.others
        if str(table.metadata.table_uuid) != self._table_uuid:
            raise ValidationException(
                f"write: table {self._options.table} was dropped and created again while the rows were written; expected uuid "
                f"{self._table_uuid}, got {table.metadata.table_uuid}: repeat the write"
            )
        # Spark commits in a process without a session; tasks have its settings.
        audit = written[0].audit if written else AuditSettings()
        destination = audited_destination(audit, table, options.get("branch"), summary_properties(options))
        change = FileChange(mode=self._mode, options=options, destination=destination, isolation=self._isolation)
        with table.transaction() as transaction:
            if self._merges:
                with files_deleted_on_failure(table, [] if files is None else [files]):
                    merge_schema(transaction, self._struct)
                    _check_same_schema(transaction.table_metadata, self._task)
            change.stage(transaction, files)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete the files of the finished tasks if a task failed. After a failed commit, the files stay: the table may have them."""
        delete_files_of_failed_job(self._task, messages, self._options.load)


def _refuse_shuffles(options: Mapping[str, str]) -> None:
    shuffling = [key for key in ("distribution-mode", "advisory-partition-size") if options.get(key, "none") != "none"]
    shuffling += ["fanout-enabled"] if not flag({"fanout-enabled": "true", **options}, "fanout-enabled") else []
    if shuffling:
        raise FeatureUnsupportedError(
            f"option {shuffling[0]}: Spark gives a Python data source its rows unchanged; expected no {shuffling[0]}, got "
            f"{options[shuffling[0]]!r}: use icefloe.spark.write(), or repartition and sort the rows"
        )


def _check_same_schema(metadata: TableMetadata, task: WriteDataFiles) -> None:
    """Check that the schema that a commit makes is the one that the tasks wrote."""
    if metadata.schema().fields != Schema.model_validate_json(task.schema).fields:
        raise ValidationException(
            "option merge-schema: another commit changed the table's columns while the rows were written; repeat the write"
        )
