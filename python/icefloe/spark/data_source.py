"""``spark.read.format("icefloe")`` and ``df.write.format("icefloe")``.

For sessions and places where :func:`icefloe.spark.read` and :func:`icefloe.spark.write` are not at hand. Spark plans a Python data
source in a process of its own, so the options must say everything: ``load("db.events")``, ``catalog`` and ``catalog.<property>``.

Two things to know. A DataFrame or view of this source is pinned to the files of its first use (Spark 4.1 and later). Spark prunes
neither columns nor rows for it: give ``columns`` and ``filter`` as options.
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

from icefloe.exceptions import ValidationError
from icefloe.spark.reader.changes import ChangeTask, change_tasks
from icefloe.spark.reader.read_task import ReadTask
from icefloe.spark.session import active_session
from icefloe.spark.table_options import TableOptions
from icefloe.spark.types.conform import conform_schema
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.commit import WriteMode, commit_files, overwrite_isolation, summary_properties
from icefloe.spark.writer.wap import snapshot_destination
from icefloe.spark.writer.write_task import WriteDataFiles, collected, data_task
from icefloe.table.scan import IncrementalChangelogScan
from icefloe.table.scan.change_rows import CHANGE_COLUMNS
from icefloe.table.scan.task_group import batch_to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from icefloe.table.scan.scan import Scan
    from icefloe.table.write.isolation import Isolation

SHORT_NAME = "icefloe"


def register(spark: Any = None) -> None:
    """Make ``format("icefloe")`` known to a session.

    Args:
        spark: Session; the active one if None.

    Example:
        >>> icefloe.spark.register(spark)                                             # doctest: +SKIP
        >>> spark.read.format("icefloe").option("catalog", "lake").load("db.events")   # doctest: +SKIP
    """
    active_session(spark).dataSource.register(IcefloeDataSource)


class IcefloeDataSource(DataSource):
    """An Iceberg table.

    Options to read with: ``snapshot-id``, ``as-of-timestamp`` (milliseconds), ``branch``, ``tag``, ``versionAsOf`` (any of the
    three), ``columns`` (comma-separated, metadata columns such as ``_file`` among them), ``filter``, ``case-sensitive``;
    ``start-snapshot-id`` (exclusive) and ``end-snapshot-id`` for what was appended between them. With ``changes`` = ``true`` rows are
    those that :func:`icefloe.spark.changes` tells, by the same two or ``start-timestamp`` and ``end-timestamp``; further
    ``compute-updates``, ``identifier-columns``, ``net-changes``. To write with: ``overwrite-mode`` (``static`` or
    ``dynamic``), ``overwrite-filter``, ``branch``, ``snapshot-property.<key>``.
    """

    @classmethod
    def name(cls) -> str:
        """Return the format's name."""
        return SHORT_NAME

    def schema(self) -> Any:
        """Return the schema of the rows to be read."""
        return to_spark_schema(_schema(TableOptions.parse(self.options).scan()))

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader; a schema given by the user chooses columns by name."""
        options = TableOptions.parse(self.options)
        return IcefloeReader(options, [field.name for field in schema.fields if field.name not in CHANGE_COLUMNS.names])

    def writer(self, schema: Any, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer, once the rows' schema is seen to fit the table."""
        options = TableOptions.parse(self.options)
        return IcefloeWriter.make(options, schema, overwrite=overwrite)


def _schema(scan: Scan) -> str:
    return scan.changes_json() if isinstance(scan, IncrementalChangelogScan) else scan.projection_json()


class IcefloeReader(DataSourceReader):
    """Reads a scan; planned when Spark asks for partitions."""

    def __init__(self, options: TableOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = columns

    def partitions(self) -> Sequence[ReadTask | ChangeTask]:
        """Plan the scan and return its tasks, of about the split size each, or its changes."""
        scan = self._options.scan().update(selected_fields=tuple(self._columns))
        if isinstance(scan, IncrementalChangelogScan):
            return change_tasks(scan)
        return [ReadTask(group) for group in scan.plan_tasks()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one task's rows."""
        if not isinstance(partition, (ReadTask, ChangeTask)):
            raise ValidationError(f"{type(partition).__name__} is no task of this reader")
        return partition.batches()


@dataclass(frozen=True)
class FilesWritten(WriterCommitMessage):
    """What one task wrote: DataFile columns as an Arrow IPC stream, None if it had no rows."""

    files: bytes | None


class IcefloeWriter(DataSourceArrowWriter):
    """Writes rows as they come, each task one file per partition, and commits once."""

    def __init__(self, options: TableOptions, task: WriteDataFiles, mode: WriteMode, isolation: Isolation) -> None:
        self._options = options
        self._task = task
        self._mode = mode
        self._isolation = isolation

    @staticmethod
    def make(options: TableOptions, schema: Any, *, overwrite: bool) -> IcefloeWriter:
        """Return a writer of rows of a schema.

        Raises:
            SchemaMismatchError: The rows do not fit the table.
            ValidationError: The table is named by its location, or the overwrite mode is unknown.
        """
        if options.is_location():
            raise ValidationError(
                "A table to be written to must be named in a catalog: a location cannot be committed to"
            )
        dynamic = options.others.get("overwrite-mode", "static").lower()
        if dynamic not in ("static", "dynamic"):
            raise ValidationError(f"overwrite-mode is static or dynamic, not {dynamic!r}")
        table = options.load()
        conform_schema(schema, table.schema())
        mode: WriteMode = "append" if not overwrite else "overwrite" if dynamic == "static" else "overwrite-partitions"
        return IcefloeWriter(
            options, data_task(table, presorted=False), mode, overwrite_isolation(table, options.others)
        )

    def write(self, iterator: Iterator[pa.RecordBatch]) -> FilesWritten:
        """Write one task's rows."""
        files = self._task.write(iterator)
        return FilesWritten(None if files is None else batch_to_ipc(files))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit what all tasks wrote, in one snapshot."""
        results = [one.files for one in messages if isinstance(one, FilesWritten) and one.files is not None]
        table, options = self._options.load(), self._options.others
        # Spark commits in a process without a session, which could not ask for a staged snapshot.
        destination = snapshot_destination(None, table, options.get("branch"), summary_properties(options))
        commit_files(table, collected(results), self._mode, options, destination=destination, isolation=self._isolation)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Delete nothing: Spark also calls this after a commit whose outcome may be unknown. Unreferenced files are orphans."""
