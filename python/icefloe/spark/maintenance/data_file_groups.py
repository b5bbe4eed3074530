"""Groups of data files that executors rewrite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.spark.session import active_session
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.arrow_map import worker_errors
from icefloe.spark.writer.write_task import RESULT_SCHEMA, collected, task_result
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.rewrite.group_writer import GroupLayout, GroupWriter
from icefloe.table.maintenance.rewrite.run import RewriteRun
from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.io import FileIO
    from icefloe.table.maintenance.groups.options import FileSizes
    from icefloe.table.maintenance.rewrite.group import FileGroup
    from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan


@dataclass(frozen=True)
class RewriteParts:
    """Rewrite parts of a group of data files, for ``DataFrame.mapInArrow`` over the numbers of the parts.

    A task that fails leaves files that no snapshot refers to. Every attempt writes files of names of its own.

    Args:
        io: Storage of the table.
        metadata: The version of the table whose schema the files get.
        parts: Scan of the files of each part, and the layout of the new files.
    """

    io: FileIO
    metadata: TableMetadata
    parts: tuple[tuple[ScanPlan, GroupLayout], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the parts of the given numbers; yield one result for each."""
        reduce_fixed_costs()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                scan, layout = self.parts[number]
                writer = GroupWriter(self.io, self.metadata, SYSTEM.new_uuid())
                try:
                    yield task_result(writer.rewrite(scan, layout, _ignore))
                except BaseException:
                    writer.abandon()
                    raise


class ClusterRewriteRun(RewriteRun):
    """One execution of a plan: each group is a job, whose tasks write the new files.

    Rows that keep their order are split by files, one task for each new file. Rows that are sorted stay in one task for a group, which
    spills to disk.

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

    def _write(self, group: FileGroup, workers: int) -> None:
        metadata = group.writer.metadata
        sizes = self._plan.options.sizes(self._plan.verb, metadata.properties)
        parts = tuple(parts_of(group.scan(self._table), self._layout(group, 1), sizes))
        history = {"snapshots": type(metadata.snapshots)(), "metadata_log": type(metadata.metadata_log)()}
        task = RewriteParts(self._table.io, metadata.with_(**history), parts)
        frame = self._spark.range(0, len(parts), 1, len(parts)).mapInArrow(task, RESULT_SCHEMA)
        with worker_errors():
            results = [bytes(row[0]) for row in frame.collect()]
        group.added = collected(results)
        if group.added is not None:
            group.writer.written += group.added.column("file_path").to_pylist()
        self._bar.advance(group.record_count)


def parts_of(scan: ScanPlan, layout: GroupLayout, sizes: FileSizes) -> Iterator[tuple[ScanPlan, GroupLayout]]:
    """Yield consecutive parts of a group's files with the layout of their new files: one part for each new file.

    A part ends at the file whose middle is nearest to an even share of the bytes, so no row changes its place. A group whose rows are
    sorted is one part.
    """
    file_bytes = scan.files.column("file_size_in_bytes").to_numpy(zero_copy_only=False)
    total = int(file_bytes.sum())
    count = min(sizes.outputs(total), len(file_bytes))
    if layout.is_sorted or count < 2:
        yield scan, layout
        return
    middles = np.cumsum(file_bytes) - file_bytes / 2
    numbers = np.minimum((middles * count / total).astype(np.int64), count - 1)
    for number in np.unique(numbers):
        own = scan.files.filter(pa.array(numbers == number))
        files, deletes = with_own_deletes(own, scan.deletes)
        size = int(pc.sum(files.column("file_size_in_bytes")).as_py() or 0)
        largest = sizes.largest_output
        limit = largest if size <= largest else sizes.output_size(size)
        yield replace(scan, files=files, deletes=deletes), replace(layout, file_bytes=limit)


def _ignore(_: pa.RecordBatch) -> None:
    """A task has no progress to show."""
