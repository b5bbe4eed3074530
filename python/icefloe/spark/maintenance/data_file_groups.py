"""Groups of data files that executors rewrite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from icefloe.spark.maintenance.file_pieces import consecutive_parts
from icefloe.spark.maintenance.sorted_ranges import (
    SHUFFLE_SETTINGS,
    RowRanges,
    WriteRanges,
    parts_to_cut,
    range_results,
    total_bytes,
)
from icefloe.spark.session import active_session, default_parallelism, settings
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.arrow_map import worker_errors
from icefloe.spark.writer.failed_job import deleted_if_job_fails
from icefloe.spark.writer.write_task import RESULT_SCHEMA, collected, task_ids, task_result, without_history
from icefloe.table.maintenance.rewrite.group_writer import GroupLayout, GroupWriter
from icefloe.table.maintenance.rewrite.run import RewriteRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from icefloe.io import FileIO
    from icefloe.table.maintenance.groups.options import FileSizes
    from icefloe.table.maintenance.rewrite.group import FileGroup
    from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan, RewriteDataFilesResult
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan

_LEAST_RANGES = 4
"""The shuffle of a cut group takes three times the CPU of one task that sorts the group, so fewer tasks would not pay."""


@dataclass(frozen=True)
class RewriteParts:
    """Rewrite parts of a group of data files, for ``DataFrame.mapInArrow`` over the numbers of the parts.

    A task that fails deletes its files. Every attempt writes files of names of its own.

    Args:
        io: Storage of the table.
        metadata: The version of the table whose schema the files get.
        operation_id: The UUID in the names of the files.
        parts: Scan of the files of each part, and the layout of the new files.
    """

    io: FileIO
    metadata: TableMetadata
    operation_id: str
    parts: tuple[tuple[ScanPlan, GroupLayout], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the parts of the given numbers; yield one result for each."""
        reduce_fixed_costs()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                scan, layout = self.parts[number]
                writer = GroupWriter(self.io, self.metadata, self.operation_id, (number, task_ids()[1]))
                try:
                    yield task_result(writer.rewrite(scan, layout, _ignore))
                except BaseException:
                    writer.abandon()
                    raise


class ClusterRewriteRun(RewriteRun):
    """One execution of a plan: each group is a job, whose tasks write the new files.

    Rows that keep their order are split by files, one task for each new file. Rows that are sorted are cut into ranges, one task for
    each expected file, where there are four files or more and the session runs four tasks or more at the same time; else one task
    sorts them. Tasks spill to disk over the memory limit.

    Args:
        spark: Session.
        table: The table's handle.
        plan: The plan.
    """

    def __init__(self, spark: Any, table: Any, plan: RewriteDataFilesPlan) -> None:
        super().__init__(table, plan)
        self._spark = active_session(spark)

    def _workers(self, groups: list[FileGroup]) -> int:
        """Return the number of jobs that run at the same time."""
        return min(self._plan.options.max_concurrent_file_group_rewrites, len(groups))

    def execute(self) -> RewriteDataFilesResult:
        """Rewrite and commit all groups that no earlier execution of the plan has committed."""
        # Groups are written by several threads, which share the session.
        with settings(self._spark, SHUFFLE_SETTINGS):
            return super().execute()

    def _write(self, group: FileGroup, workers: int) -> None:
        metadata = group.writer.metadata
        sizes = self._plan.options.sizes(self._plan.verb, metadata.properties)
        small = without_history(metadata)
        scan, layout = group.scan(self._table), self._layout(group, 1)
        io, operation_id = self._table.io, self._operation_id()
        with worker_errors(), deleted_if_job_fails(io, metadata, operation_id):
            if _is_cut(group, layout, sizes, self._spark):
                ranges = RowRanges.of(scan, layout, small, sizes)
                frame = range_results(
                    self._spark, WriteRanges(io, small, operation_id, ranges), parts_to_cut(scan, sizes)
                )
            else:
                parts = tuple(parts_of(scan, layout, sizes))
                task = RewriteParts(io, small, operation_id, parts)
                frame = self._spark.range(0, len(parts), 1, len(parts)).mapInArrow(task, RESULT_SCHEMA)
            results = [bytes(row[0]) for row in frame.collect()]
        group.added = collected(results)
        if group.added is not None:
            group.writer.written += group.added.column("file_path").to_pylist()
        self._bar.advance(group.record_count)


def parts_of(scan: ScanPlan, layout: GroupLayout, sizes: FileSizes) -> Iterator[tuple[ScanPlan, GroupLayout]]:
    """Yield consecutive parts of a group's files with the layout of their new files: one part for each new file.

    A group whose rows are sorted is one part.
    """
    total = total_bytes(scan)
    count = min(sizes.outputs(total), scan.files.num_rows)
    if layout.is_sorted or count < 2:
        yield scan, layout
        return
    for part in consecutive_parts(scan, count):
        size = total_bytes(part)
        largest = sizes.largest_output
        limit = largest if size <= largest else sizes.output_size(size)
        yield part, replace(layout, file_bytes=limit)


def _is_cut(group: FileGroup, layout: GroupLayout, sizes: FileSizes, spark: Any) -> bool:
    """Return whether the rows of a group are sorted, and enough tasks can run at the same time to pay for a shuffle."""
    columns = layout.key_columns(group.writer.metadata.schema())
    if not layout.is_sorted or not columns or sizes.outputs(group.total_bytes) < _LEAST_RANGES:
        return False
    return default_parallelism(spark) >= _LEAST_RANGES


def _ignore(_: pa.RecordBatch) -> None:
    """A task has no progress to show."""
