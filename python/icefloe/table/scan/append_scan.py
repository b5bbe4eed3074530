"""Scans of the rows that snapshots appended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.scan.explain import ScanExplanation, explained
from icefloe.table.scan.incremental_scan import IncrementalScan
from icefloe.table.scan.row_stream import failures_name
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.scan.task import FileScanTask
    from icefloe.table.scan.task_group import TaskGroup


@dataclass(frozen=True)
class IncrementalAppendScan(IncrementalScan):
    """A scan of the rows of the data files that `append` snapshots added, oldest snapshot first.

    Snapshots of other operations are skipped, and later changes are not applied: a row that has been deleted since is
    returned. `Table.incremental_changelog_scan` returns all changes.
    """

    def plan(self) -> ScanPlan:
        """Plan the scan: data files cut into tasks."""
        return self._plan(self._options().split_size())

    def plan_files(self) -> Iterator[FileScanTask]:
        """Yield one task per data file.

        Examples:
            >>> [task.record_count for task in table.incremental_append_scan().plan_files()]
            [3]
        """
        return self._plan(None).tasks()

    def plan_tasks(self) -> Iterator[TaskGroup]:
        """Yield groups of tasks, cut at row groups and packed to the split size. Groups pickle, for readers elsewhere."""
        return self.plan().groups(self.packing())

    def count(self) -> int:
        """Return the number of rows. Files whose rows all match the filter are counted from metadata alone.

        Examples:
            >>> table.incremental_append_scan().count()
            3
        """
        plan = self._plan(None)
        with failures_name(self._origin()):
            return plan.count_rows()

    def explain(self, footers: bool | None = None) -> ScanExplanation:
        """Return the explanation of the scan; see `DataScan.explain`."""
        snapshots = self.snapshots()
        last = snapshots[-1].snapshot_id if snapshots else None
        whole, splits = self._plan(None), self.plan().files.num_rows
        return explained(whole, self.table_name, last, str(self.row_filter), splits=splits, footers=footers)

    def _plan(self, split_size: int | None) -> ScanPlan:
        selection = self._selection()
        appends = [snapshot for snapshot in self.snapshots() if snapshot.operation == Operation.APPEND]
        with failures_name(self._origin()):
            plans = [selection.plan(one, added_only=True, split_size=split_size) for one in appends]
            empty = selection.plan(None)
        files = pa.concat_batches([plan.files for plan in (empty, *plans)])
        counters: Counter[str] = Counter()
        for plan in plans:
            counters.update(plan.counters)
        return replace(empty, files=files, counters=dict(counters), limit=self.limit)

    def _row_source(self) -> ScanPlan:
        return self.plan().drop_files_past_limit()
