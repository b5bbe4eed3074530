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
    active_session(spark).dataSource.register(IcefloeDataSource)


class IcefloeDataSource(DataSource):
    """The data source of Iceberg tables.

    Options of reads:

    - ``snapshot-id``, ``as-of-timestamp`` (milliseconds), ``branch``, ``tag``, or ``versionAsOf`` (a snapshot id, branch or tag);
    - ``start-snapshot-id`` (exclusive) and ``end-snapshot-id``: rows that were appended between them;
    - ``changes`` = ``true``: the rows of :func:`icefloe.spark.changes`, between the same ids or ``start-timestamp`` and
      ``end-timestamp``, with ``compute-updates``, ``identifier-columns`` and ``net-changes``;
    - ``columns`` (comma-separated, also metadata columns such as ``_file``), ``filter``, ``case-sensitive``.

    Options of writes: ``overwrite-mode`` (``static`` or ``dynamic``), ``overwrite-filter``, ``isolation-level``,
    ``validate-from-snapshot-id``, ``branch``, ``snapshot-property.<key>``.

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
        """Return the schema of a read."""
        return to_spark_schema(_schema(TableOptions.parse(self.options).scan()))

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader; a schema that the user passed selects columns by name."""
        options = TableOptions.parse(self.options)
        return IcefloeReader(options, [field.name for field in schema.fields if field.name not in CHANGE_COLUMNS.names])

    def writer(self, schema: Any, overwrite: bool) -> DataSourceArrowWriter:
        """Return a writer after a check that the rows fit the table."""
        options = TableOptions.parse(self.options)
        return IcefloeWriter.make(options, schema, overwrite=overwrite)


def _schema(scan: Scan) -> str:
    return scan.changes_json() if isinstance(scan, IncrementalChangelogScan) else scan.projection_json()


class IcefloeReader(DataSourceReader):
    """The reader of a scan, planned in ``partitions()``."""

    def __init__(self, options: TableOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = columns

    def partitions(self) -> Sequence[ReadTask | ChangeTask]:
        """Plan the scan and return its tasks, up to the split size each, or the tasks of its changes."""
        scan = self._options.scan().update(selected_fields=tuple(self._columns))
        if isinstance(scan, IncrementalChangelogScan):
            return change_tasks(scan)
        return [ReadTask(group) for group in scan.plan_tasks()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one task."""
        if not isinstance(partition, (ReadTask, ChangeTask)):
            raise ValidationError(
                f"partition: expected a ReadTask or ChangeTask of this reader, got a {type(partition).__name__}"
            )
        return partition.batches()


@dataclass(frozen=True)
class FilesWritten(WriterCommitMessage):
    """The files of one task: DataFile columns as an Arrow IPC stream; None for a task without rows."""

    files: bytes | None


class IcefloeWriter(DataSourceArrowWriter):
    """The writer of rows without a shuffle: each task writes one file for each partition; one commit."""

    def __init__(self, options: TableOptions, task: WriteDataFiles, mode: WriteMode, isolation: Isolation) -> None:
        self._options = options
        self._task = task
        self._mode = mode
        self._isolation = isolation

    @staticmethod
    def make(options: TableOptions, schema: Any, *, overwrite: bool) -> IcefloeWriter:
        """Return a writer for rows of a Spark schema.

        Raises:
            SchemaMismatchError: The rows do not fit the table.
            ValidationError: The table is given by its location, or the overwrite mode is unknown.
        """
        if options.is_location():
            raise ValidationError(
                f"table: a write needs a catalog to commit to; expected an identifier such as db.events, got the location "
                f"{options.table!r}"
            )
        overwrite_mode = options.others.get("overwrite-mode", "static").lower()
        if overwrite_mode not in ("static", "dynamic"):
            raise ValidationError(f"option overwrite-mode: expected static or dynamic, got {overwrite_mode!r}")
        table = options.load()
        conform_schema(schema, table.schema())
        mode: WriteMode = "append"
        if overwrite:
            mode = "overwrite" if overwrite_mode == "static" else "overwrite-partitions"
        return IcefloeWriter(
            options, data_task(table, presorted=False), mode, overwrite_isolation(table, options.others)
        )

    def write(self, iterator: Iterator[pa.RecordBatch]) -> FilesWritten:
        """Write the rows of one task."""
        files = self._task.write(iterator)
        return FilesWritten(None if files is None else batch_to_ipc(files))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit the files of all tasks in one snapshot."""
        results = [one.files for one in messages if isinstance(one, FilesWritten) and one.files is not None]
        table, options = self._options.load(), self._options.others
        # Spark commits in a process without a session, so no session setting stages the snapshot.
        destination = snapshot_destination(None, table, options.get("branch"), summary_properties(options))
        commit_files(table, collected(results), self._mode, options, destination=destination, isolation=self._isolation)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Leave all files: Spark calls this after a commit of unknown outcome as well, and the table may have them."""
