"""A stream of the changes of snapshots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.spark.reader.changes import ChangeTask
from icefloe.table.scan import ChangeGroup
from icefloe.table.scan.changelog_plan import appended
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from icefloe.spark.stream.limits import Limits
    from icefloe.spark.stream.offset import StreamOffset
    from icefloe.spark.stream.table_view import TableView
    from icefloe.table.scan import IncrementalChangelogScan
    from icefloe.table.snapshots import Snapshot

_FILES = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")
_ROWS = ("added-records", "deleted-records", "added-position-deletes", "added-equality-deletes")
_SIZES = ("added-files-size", "removed-files-size")


@dataclass
class ChangedRows:
    """The rows that snapshots insert and delete; a micro-batch has whole snapshots.

    Args:
        view: The table.
    """

    view: TableView

    def advance(self, start: StreamOffset, unread: Sequence[Snapshot], limits: Limits) -> StreamOffset:
        """Return the offset up to which the limits allow to read, at least one snapshot with changes.

        The summaries of the snapshots give their numbers of files, rows and bytes.
        """
        end, is_first = start, True
        for snapshot in unread:
            if snapshot.operation != Operation.REPLACE or start.scans_all_of(snapshot.snapshot_id):
                files, rows, sizes = (_sum(snapshot, keys) for keys in (_FILES, _ROWS, _SIZES))
                is_within = limits.without(files - 1, 0, 0).count_within(
                    np.array([rows]), np.array([sizes]), is_first=is_first
                )
                if is_within == 0:
                    break
                limits = limits.without(files, rows, sizes)
                is_first = False
            end = replace(start, snapshot_id=snapshot.snapshot_id, position=None, scan_all_files=False)
        return end

    def tasks(self, start: StreamOffset, end: StreamOffset, snapshots: Sequence[Snapshot]) -> list[ChangeTask]:
        """Return the tasks of a micro-batch, whose snapshots are numbered from 0.

        Args:
            start: Offset of the changes that were read.
            end: Offset of the last change to read.
            snapshots: Snapshots from one offset to the other, oldest first.
        """
        scan = self.scan()
        whole = [one for one in snapshots[:1] if start.scans_all_of(one.snapshot_id)]
        changed = snapshots[len(whole) :]
        groups = [group for one in whole for group in self._whole_snapshot(scan, one)]
        if changed:
            self._check_parent(changed[0])
            ranged = scan.update(from_snapshot_id=changed[0].parent_snapshot_id, to_snapshot_id=changed[-1].snapshot_id)
            groups += [_renumbered(group, len(whole)) for group in ranged.plan_tasks()]
        return [ChangeTask(group) for group in groups]

    def forget(self, end: StreamOffset) -> None:
        """Do nothing: no plan is kept between micro-batches."""

    def _check_parent(self, snapshot: Snapshot) -> None:
        """Raise ValidationError if the changes of a snapshot are relative to a parent that has been expired."""
        parent = snapshot.parent_snapshot_id
        if snapshot.operation in (Operation.APPEND, Operation.REPLACE) or parent is None:
            return
        if self.view.table.metadata.snapshot_by_id(parent) is None:
            raise ValidationError(
                f"stream: the parent of snapshot {snapshot.snapshot_id} was expired; expected snapshot {parent} in table "
                f"{'.'.join(self.view.table.name())}, whose rows the operation {snapshot.operation.value} changes, got none: start the "
                "query with a new checkpoint location, and expire no snapshot that is the last one that the query has read"
            )

    def _whole_snapshot(self, scan: IncrementalChangelogScan, snapshot: Snapshot) -> Iterator[ChangeGroup]:
        """Yield all rows of a snapshot as inserted rows."""
        plan, packing = self.view.selection().plan(snapshot), self.view.scan_options().packing()
        packed = _core.pack_tasks(
            plan.files,
            plan.deletes,
            target_size=packing.target_size_bytes,
            lookback=packing.lookback,
            open_file_cost=packing.open_file_cost_bytes,
        )
        rows = scan.change_rows()
        for files, deletes in packed:
            changes = appended(0, snapshot, replace(plan, files=files, deletes=deletes))
            yield ChangeGroup(rows, (changes,), net=False)

    def scan(self) -> IncrementalChangelogScan:
        """Return the changelog scan of the stream's columns."""
        options = self.view.options
        scan = self.view.table.incremental_changelog_scan(
            compute_updates=options.compute_updates, identifier_columns=options.identifier_columns
        )
        scan = scan.select(*self.view.columns).with_case_sensitive(options.case_sensitive)
        return scan if options.row_filter is None else scan.filter(options.row_filter)


def _renumbered(group: ChangeGroup, first: int) -> ChangeGroup:
    """Return a group whose changes are numbered from an ordinal."""
    return replace(group, changes=tuple(replace(one, ordinal=one.ordinal + first) for one in group.changes))


def _sum(snapshot: Snapshot, keys: Sequence[str]) -> int:
    summary = {} if snapshot.summary is None else dict(snapshot.summary)
    counts = [summary.get(key, "0") for key in keys]
    return sum(int(count) for count in counts if count.isdigit())
