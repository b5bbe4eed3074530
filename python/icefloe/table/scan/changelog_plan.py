"""What each snapshot of a range changed, as tasks to read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.scan.task import FileScanTask
    from icefloe.table.snapshots import Snapshot

INSERT = "INSERT"
DELETE = "DELETE"


@dataclass(frozen=True)
class ChangelogScanTask:
    """Rows of one data file that a snapshot inserted or deleted, those included that it merely moved to another file.

    Attributes:
        change_type: `INSERT` or `DELETE`.
        change_ordinal: Number of the snapshot in the range, from 0.
        commit_snapshot_id: The snapshot.
        task: The data file, and the delete files that apply.
    """

    change_type: str
    change_ordinal: int
    commit_snapshot_id: int
    task: FileScanTask


@dataclass(frozen=True)
class SnapshotChanges:
    """What one snapshot changed.

    Attributes:
        ordinal: Number of the snapshot in the range, from 0.
        snapshot: The snapshot.
        deleted: Tasks of rows that it has not, and its parent has.
        inserted: Tasks of rows that it has, and its parent has not.
    """

    ordinal: int
    snapshot: Snapshot
    deleted: ScanPlan
    inserted: ScanPlan

    def by_partition(self) -> list[SnapshotChanges]:
        """Return the changes partition by partition. Rows stay in theirs when they move, unless the partition spec changed."""
        specs = {spec for _, plan in self.sides() for spec in pc.unique(plan.files.column("spec_id")).to_pylist()}
        if len(specs) > 1:
            return [self]
        deleted, inserted = (_by_partition(plan) for plan in (self.deleted, self.inserted))
        none = replace(self.deleted, files=self.deleted.files.slice(0, 0))
        empty = replace(self.inserted, files=self.inserted.files.slice(0, 0))
        return [
            replace(self, deleted=deleted.get(one, none), inserted=inserted.get(one, empty))
            for one in dict.fromkeys((*deleted, *inserted))
        ]

    def by_pairing(self) -> list[SnapshotChanges]:
        """Return the changes of partitions that were only deleted from, then those of partitions with both kinds, then the rest.

        Where all are of one sort, or the partition spec changed, that is all changes as they are.
        """
        parts = self.by_partition()
        if len(parts) == 1:
            return parts
        sorts: dict[tuple[bool, bool], list[SnapshotChanges]] = {}
        for part in parts:
            sorts.setdefault((part.deleted.files.num_rows > 0, part.inserted.files.num_rows > 0), []).append(part)
        return [_together(sorts[sort]) for sort in ((True, False), (True, True), (False, True)) if sort in sorts]

    def sides(self) -> list[tuple[str, ScanPlan]]:
        """Return the kinds of change that there are, deletions first, each with its tasks."""
        both = [(DELETE, self.deleted), (INSERT, self.inserted)]
        return [(kind, plan) for kind, plan in both if plan.files.num_rows > 0]

    def tasks(self) -> Iterator[ChangelogScanTask]:
        """Yield the tasks one by one."""
        for kind, plan in self.sides():
            for task in plan.tasks():
                yield ChangelogScanTask(kind, self.ordinal, self.snapshot.snapshot_id, task)


def _together(parts: list[SnapshotChanges]) -> SnapshotChanges:
    deleted, inserted = (
        pa.concat_batches([plan.files for plan in plans])
        for plans in ([part.deleted for part in parts], [part.inserted for part in parts])
    )
    first = parts[0]
    return replace(
        first, deleted=replace(first.deleted, files=deleted), inserted=replace(first.inserted, files=inserted)
    )


def _by_partition(plan: ScanPlan) -> dict[str, ScanPlan]:
    files = plan.files.take(pc.sort_indices(plan.files.column("partition")))
    runs = pc.run_end_encode(files.column("partition"))
    found, first = {}, 0
    for partition, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        found[partition] = replace(plan, files=files.slice(first, end - first))
        first = end
    return found


def appended(ordinal: int, snapshot: Snapshot, plan: ScanPlan) -> SnapshotChanges:
    """Return the changes of a snapshot that only added the files of a plan."""
    return SnapshotChanges(ordinal, snapshot, deleted=replace(plan, files=plan.files.slice(0, 0)), inserted=plan)


def difference(ordinal: int, snapshot: Snapshot, before: ScanPlan, after: ScanPlan) -> SnapshotChanges:
    """Return the changes from the plan of one state to that of another."""
    inserted, deleted, deletes = _core.plan_changes(before.files, before.deletes, after.files, after.deletes)
    return SnapshotChanges(
        ordinal,
        snapshot,
        deleted=replace(after, files=deleted, deletes=deletes),
        inserted=replace(after, files=inserted, deletes=deletes),
    )
