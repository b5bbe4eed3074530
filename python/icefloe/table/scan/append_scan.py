"""Scans of the rows that snapshots appended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.scan.explain import ScanExplanation, explained
from icefloe.table.scan.incremental import IncrementalScan
from icefloe.table.scan.plan import PASSING_BYTES
from icefloe.table.scan.results import count_planned, enough
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.scan.results import RowStream
    from icefloe.table.scan.task import FileScanTask
    from icefloe.table.scan.task_group import TaskGroup


@dataclass(frozen=True)
class IncrementalAppendScan(IncrementalScan):
    """The rows of the files that `append` snapshots added, oldest first.

    What other operations did is left out, and what happened to the rows later: a row that has been deleted since is returned
    nevertheless. `Table.incremental_changelog_scan` tells all changes.
    """

    def plan(self) -> ScanPlan:
        """Plan the scan: which files, cut into tasks."""
        return self._plan(self._split_size())

    def plan_files(self) -> Iterator[FileScanTask]:
        """Yield the scan's tasks, one per data file.

        Example:
            >>> [task.record_count for task in table.incremental_append_scan().plan_files()]
            [3]
        """
        return self._plan(None).tasks()

    def plan_tasks(self) -> Iterator[TaskGroup]:
        """Yield combined tasks: files cut at row groups and packed to about the split size. They pickle, for readers elsewhere."""
        return self.plan().groups(self.packing())

    def count(self) -> int:
        """Return how many rows there are, from metadata alone where the filter does not ask about rows.

        Example:
            >>> table.incremental_append_scan().count()
            3
        """
        return count_planned(self._plan(None), self.limit)

    def explain(self, footers: bool | None = None) -> ScanExplanation:
        """Return what the scan will read and what pruning spared it; see `DataScan.explain`."""
        snapshots = self.snapshots()
        last = snapshots[-1].snapshot_id if snapshots else None
        whole, splits = self._plan(None), self.plan().files.num_rows
        return explained(whole, self.table_name, last, str(self.row_filter), splits=splits, footers=footers)

    def _plan(self, split_size: int | None) -> ScanPlan:
        appends = [snapshot for snapshot in self.snapshots() if snapshot.operation == Operation.APPEND]
        plans = [self._plan_snapshot(one, added_only=True, split_size=split_size) for one in appends]
        empty = self._plan_snapshot(None)
        files = pa.concat_batches([plan.files for plan in (empty, *plans)])
        counters: Counter[str] = Counter()
        for plan in plans:
            counters.update(plan.counters)
        return replace(empty, files=files, counters=dict(counters), limit=self.limit)

    def _opened(self, *, string_views: bool = False, batch_bytes: int = PASSING_BYTES) -> tuple[RowStream, int | None]:
        plan = enough(self.plan())
        stream = plan.stream(
            string_views=string_views,
            extension_types=True,
            batch_size=self._batch_size(),
            batch_bytes=batch_bytes,
        )
        return stream.named(self._origin()), plan.counters.get("records_planned")
