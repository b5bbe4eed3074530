"""``writeStream.format("icefloe")``: each micro-batch is one snapshot, committed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamWriter, WriterCommitMessage

from icefloe.exceptions import ValidationError
from icefloe.spark.stream.epoch import QUERY_ID_PROPERTY, Epoch, epoch_branch
from icefloe.spark.stream.epoch_commit import commit_epoch
from icefloe.spark.stream.sink_table import check_sink_table
from icefloe.spark.types.conform import conform_schema
from icefloe.spark.types.exact_names import check_names_in_task
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.commit import files_deleted_on_failure
from icefloe.spark.writer.failed_job import delete_files_of_failed_job
from icefloe.spark.writer.wap import AuditSettings
from icefloe.spark.writer.write_task import collected, data_task
from icefloe.table.scan.task_group import batch_to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe.spark.stream.options import SinkOptions
    from icefloe.table import Table


@dataclass(frozen=True)
class EpochFiles(WriterCommitMessage):
    """The files of one task.

    Args:
        files: DataFile columns as an Arrow IPC stream; None for a task without rows.
        query_id: Id of the query.
        table_uuid: UUID of the table that the files were written for.
        audit: The session's settings for write, audit, publish.
    """

    files: bytes | None
    query_id: str
    table_uuid: str
    audit: AuditSettings


class IcefloeStreamWriter(DataSourceStreamWriter, DataSourceArrowWriter):
    """The writer of micro-batches. Spark 4.0 passes Arrow batches to subclasses of ``DataSourceArrowWriter`` alone.

    Args:
        options: Checked options.
        schema: Schema of the rows, a Spark ``StructType``.
        overwrite: Replace all rows of the table by each micro-batch, as the output mode complete does.

    Raises:
        SchemaMismatchError: The rows do not fit the table.
        ValidationError: The table is not the one of the query's first micro-batch.
    """

    def __init__(self, options: SinkOptions, schema: Any, *, overwrite: bool) -> None:
        reduce_fixed_costs()
        self._options = options
        self._overwrite = overwrite
        table = options.table.load()
        check_sink_table(table, options)
        conform_schema(schema, table.schema(), fields_by_name=True)
        self._struct = schema
        self._task = data_task(table, presorted=False)
        self._table_uuid = str(table.metadata.table_uuid)
        self._table: Table | None = table

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_table": None}

    def write(self, iterator: Iterator[pa.RecordBatch]) -> EpochFiles:
        """Write the rows of one task."""
        check_names_in_task(self._struct, self._task.schema)
        files = self._task.write(iterator)
        context = TaskContext.get()
        query_id = None if context is None else context.getLocalProperty(QUERY_ID_PROPERTY)
        if query_id is None:
            raise ValidationError(
                f"stream: a task has no query id; expected the local property {QUERY_ID_PROPERTY}, which Spark sets for streaming "
                "queries, got none"
            )
        return EpochFiles(
            None if files is None else batch_to_ipc(files), query_id, self._table_uuid, AuditSettings.of_task()
        )

    def commit(  # type: ignore[override]  # both base classes are Spark's
        self,
        messages: list[WriterCommitMessage | None],
        batchId: int,  # noqa: N803  Spark's name
    ) -> None:
        """Commit the files of all tasks in one snapshot, unless the table has the micro-batch."""
        results = [one for one in messages if isinstance(one, EpochFiles)]
        table = self._options.table.load() if self._table is None else self._table
        replaced = [one.table_uuid for one in results if one.table_uuid != str(table.metadata.table_uuid)]
        if replaced:
            raise ValidationError(
                f"stream: table {self._options.table.table} was dropped and created again while a micro-batch was written; expected "
                f"uuid {replaced[0]}, got {table.metadata.table_uuid}: restart the query"
            )
        if not results:
            return  # A micro-batch without tasks has no rows.
        files = collected([one.files for one in results if one.files is not None])
        with files_deleted_on_failure(table, [] if files is None else [files]):
            branch = epoch_branch(results[0].audit, table, self._options.branch)
        epoch = Epoch(results[0].query_id, batchId, branch)
        commit_epoch(table, files, epoch, self._options.snapshot_properties, overwrite=self._overwrite)

    def abort(  # type: ignore[override]
        self,
        messages: list[WriterCommitMessage | None],
        batchId: int,  # noqa: N803
    ) -> None:
        """Delete the files of the finished tasks if a task failed. After a failed commit, the files stay: the table may have them."""
        delete_files_of_failed_job(self._task, messages, self._options.table.load)
