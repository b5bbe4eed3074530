"""The files of one snapshot that a stream reads, numbered in the order of their paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.expressions.filter import Filter

if TYPE_CHECKING:
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.scan.selection import Selection
    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class SnapshotFiles:
    """The tasks of a snapshot's files, without the filter: positions in the checkpoint hold whatever the filter is.

    Args:
        plan: Tasks, sorted by path.
        first_tasks: Number of the first task of each file, then the number of tasks.
        rows: Rows of each file, before deletes.
        sizes: Bytes of each file.
    """

    plan: ScanPlan
    first_tasks: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray

    @staticmethod
    def plan_of(selection: Selection, snapshot: Snapshot, split_size: int, *, scan_all: bool) -> SnapshotFiles:
        """Plan the files that a snapshot added, or all its files with their deletes.

        Args:
            selection: Columns.
            snapshot: The snapshot.
            split_size: Target bytes of a task.
            scan_all: Plan all files of the snapshot.
        """
        everything = Filter.everything(selection.schema)
        plan = selection.plan(snapshot, read_filter=everything, added_only=not scan_all, split_size=split_size)
        order = pc.sort_indices(
            plan.files.select(["file_path", "start"]), sort_keys=[("file_path", "ascending"), ("start", "ascending")]
        )
        files = plan.files.take(order)
        ends = pc.run_end_encode(files.column("file_path")).run_ends.to_numpy()
        first_tasks = np.concatenate([np.zeros(1, dtype=np.int64), ends.astype(np.int64)])
        firsts = pa.array(first_tasks[:-1])
        return SnapshotFiles(
            plan=replace(plan, files=files),
            first_tasks=first_tasks,
            rows=files.column("record_count").take(firsts).to_numpy(),
            sizes=files.column("file_size_in_bytes").take(firsts).to_numpy(),
        )

    @property
    def count(self) -> int:
        """Number of files."""
        return len(self.rows)

    def between(self, first: int, end: int) -> ScanPlan:
        """Return the tasks of the files from one position up to another, which is excluded."""
        start = int(self.first_tasks[first])
        return replace(self.plan, files=self.plan.files.slice(start, int(self.first_tasks[end]) - start))


def filtered(plan: ScanPlan, matching: ScanPlan) -> ScanPlan:
    """Return the tasks of a filtered plan for the files that another plan has."""
    paths = pc.unique(plan.files.column("file_path"))
    return replace(matching, files=matching.files.filter(pc.is_in(matching.files.column("file_path"), value_set=paths)))
