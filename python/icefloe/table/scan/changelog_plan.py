"""The changes of each snapshot of a range, as tasks to read."""

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
    """Rows of one data file that a snapshot inserted or deleted, including rows that it only moved to another file.

    Attributes:
        change_type: `INSERT` or `DELETE`.
        change_ordinal: Number of the snapshot in the range, from 0.
        commit_snapshot_id: Id of the snapshot.
        task: The data file, and the delete files that apply.
    """

    change_type: str
    change_ordinal: int
    commit_snapshot_id: int
    task: FileScanTask


@dataclass(frozen=True)
class SnapshotChanges:
    """The changes of one snapshot.

    Attributes:
        ordinal: Number of the snapshot in the range, from 0.
        snapshot: The snapshot.
        deleted: Tasks of rows of the parent that the snapshot lacks.
        inserted: Tasks of rows of the snapshot that the parent lacks.
    """

    ordinal: int
    snapshot: Snapshot
    deleted: ScanPlan
    inserted: ScanPlan

    def by_partition(self) -> list[SnapshotChanges]:
        """Return the changes of each partition; all changes together if the files have different partition specs."""
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
        """Return the changes in at most three groups of partitions: with deletes only, with both kinds, with inserts only.

        There is one group if the files have different partition specs.
        """
        parts = self.by_partition()
        if len(parts) == 1:
            return parts
        groups: dict[tuple[bool, bool], list[SnapshotChanges]] = {}
        for part in parts:
            groups.setdefault((part.deleted.files.num_rows > 0, part.inserted.files.num_rows > 0), []).append(part)
        return [_together(groups[kinds]) for kinds in ((True, False), (True, True), (False, True)) if kinds in groups]

    def sides(self) -> list[tuple[str, ScanPlan]]:
        """Return each kind of change that has tasks, deletions first, with its tasks."""
        both = [(DELETE, self.deleted), (INSERT, self.inserted)]
        return [(kind, plan) for kind, plan in both if plan.files.num_rows > 0]

    def tasks(self) -> Iterator[ChangelogScanTask]:
        """Yield the tasks, deletions first."""
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
    """Return the changes between the plans of a snapshot's parent and of the snapshot."""
    inserted, deleted, deletes = _core.plan_changes(before.files, before.deletes, after.files, after.deletes)
    return SnapshotChanges(
        ordinal,
        snapshot,
        deleted=replace(after, files=deleted, deletes=deletes),
        inserted=replace(after, files=inserted, deletes=deletes),
    )
