"""Groups of position delete files that executors rewrite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.spark.session import active_session
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.arrow_map import worker_errors
from icefloe.spark.writer.failed_job import deleted_if_job_fails
from icefloe.spark.writer.write_task import task_ids, without_history
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.deletes.position_delete_run import PositionDeleteGroup, PositionDeleteRun
from icefloe.table.maintenance.deletes.position_deletes import RewritePositionDeletes
from icefloe.table.scan.task_group import batch_from_ipc, batch_to_ipc
from icefloe.table.write.file_writer import FileWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.io import FileIO
    from icefloe.table.maintenance.deletes.position_delete_plan import (
        RewritePositionDeletesPlan,
        RewritePositionDeletesResult,
    )
    from icefloe.table.metadata import TableMetadata

_RESULT = "number int, result binary"
"""Columns of a job's results: the number of the group, and its DataFile columns as an Arrow IPC stream."""


@dataclass(frozen=True)
class RewriteDeleteGroups:
    """Rewrite groups of position delete files, for ``DataFrame.mapInArrow`` over the numbers of the groups.

    A task that fails deletes its files; those of a killed task are files that no snapshot refers to.

    Args:
        io: Storage of the table.
        metadata: The version of the table, without its history.
        operation_id: The UUID in the names of the files.
        groups: The groups.
    """

    io: FileIO
    metadata: TableMetadata
    operation_id: str
    groups: tuple[PositionDeleteGroup, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rewrite the groups of the given numbers; yield one result for each."""
        reduce_fixed_costs()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                writer = FileWriter(self.io, self.metadata, self.operation_id, (number, task_ids()[1]))
                try:
                    files = self.groups[number].rewrite(writer, self.io)
                    yield _numbered(number, batch_to_ipc(files))
                except BaseException:
                    writer.abandon()
                    raise


class ClusterPositionDeleteRun(PositionDeleteRun):
    """One execution of a plan: the groups of a commit are a job, with a task for each group.

    Args:
        spark: Session.
        table: The table's handle.
        plan: The plan.
    """

    def __init__(self, spark: Any, table: Any, plan: RewritePositionDeletesPlan) -> None:
        super().__init__(table, plan)
        self._spark = active_session(spark)

    def _written(self, groups: list[PositionDeleteGroup], writer: FileWriter) -> list[pa.RecordBatch]:
        io, metadata, operation_id = self._table.io, self._table.metadata, SYSTEM.new_uuid()
        task = RewriteDeleteGroups(io, without_history(metadata), operation_id, tuple(groups))
        frame = self._spark.range(0, len(groups), 1, len(groups)).mapInArrow(task, _RESULT)
        with worker_errors(), deleted_if_job_fails(io, metadata, operation_id):
            rows = frame.collect()
        added = [batch_from_ipc(bytes(row[1])) for row in sorted(rows, key=lambda row: row[0])]
        for files in added:
            writer.written += files.column("file_path").to_pylist()
        return added


class ClusterRewritePositionDeletes(RewritePositionDeletes):
    """The builder of the rewrite of position delete files by executors.

    Args:
        spark: Session.
        table: The table's handle.
    """

    def __init__(self, spark: Any, table: Any) -> None:
        super().__init__(table)
        self._spark = spark

    def _carry_out(self, plan: RewritePositionDeletesPlan) -> RewritePositionDeletesResult:
        return ClusterPositionDeleteRun(self._spark, self._table, plan).execute()


def _numbered(number: int, result: bytes) -> pa.RecordBatch:
    """Return the result of a group as one row."""
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int32()), pa.array([result], pa.binary())], names=["number", "result"]
    )
