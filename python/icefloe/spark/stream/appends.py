"""A stream of the rows that snapshots append."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.spark.reader.read_task import ReadTask
from icefloe.spark.stream.options import SKIP_DELETES, SKIP_OVERWRITES
from icefloe.spark.stream.snapshot_files import SnapshotFiles, filtered
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from icefloe.spark.stream.limits import Limits
    from icefloe.spark.stream.offset import StreamOffset
    from icefloe.spark.stream.options import SourceOptions
    from icefloe.spark.stream.table_view import TableView
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.snapshots import Snapshot


@dataclass
class AppendedRows:
    """The rows of the data files that ``append`` snapshots add, as the Java runtime streams them.

    Args:
        view: The table.
    """

    view: TableView
    _planned: dict[tuple[int, bool], SnapshotFiles] = field(default_factory=dict)

    def advance(self, start: StreamOffset, unread: Sequence[Snapshot], limits: Limits) -> StreamOffset:
        """Return the offset up to which the limits allow to read.

        Args:
            start: Offset of the rows that were read.
            unread: Snapshots after it, oldest first.
            limits: Limits of the micro-batch.
        """
        end, is_first = start, True
        for snapshot in unread:
            files = self._files(snapshot, start)
            first = start.position_in(snapshot.snapshot_id)
            if files is not None and files.count > first:
                rows, sizes = files.rows[first:], files.sizes[first:]
                count = limits.count_within(rows, sizes, is_first=is_first)
                if count == 0:
                    break
                is_first = False
                limits = limits.without(count, int(rows[:count].sum()), int(sizes[:count].sum()))
                if first + count < files.count:
                    return replace(
                        start,
                        snapshot_id=snapshot.snapshot_id,
                        position=first + count,
                        scan_all_files=start.scans_all_of(snapshot.snapshot_id),
                    )
            end = replace(start, snapshot_id=snapshot.snapshot_id, position=None, scan_all_files=False)
        return end

    def tasks(self, start: StreamOffset, end: StreamOffset, snapshots: Sequence[Snapshot]) -> list[ReadTask]:
        """Return the tasks of a micro-batch, packed across snapshots: each Python task costs tens of milliseconds.

        Args:
            start: Offset of the rows that were read.
            end: Offset of the last row to read.
            snapshots: Snapshots from one offset to the other, oldest first.
        """
        now = self.view.selection().plan(None)
        # Plans are cached between micro-batches: files of later snapshots need the table's present specs, name mapping and storage.
        plans = [
            replace(plan, context=now.context, projection=now.projection, io=now.io)
            for plan in self._plans(start, end, snapshots)
            if plan.files.num_rows > 0
        ]
        # Runs of deletes refer to the plan's own delete files, so only plans without deletes are concatenated.
        separate = [plan for plan in plans if plan.deletes.num_rows > 0]
        appended = [plan for plan in plans if plan.deletes.num_rows == 0]
        if appended:
            separate.append(replace(appended[0], files=pa.concat_batches([plan.files for plan in appended])))
        packing = self.view.scan_options().packing()
        return [ReadTask(group) for plan in separate for group in plan.groups(packing)]

    def forget(self, end: StreamOffset) -> None:
        """Drop the plans of all snapshots but the one of an offset."""
        self._planned = {key: files for key, files in self._planned.items() if key[0] == end.snapshot_id}

    def _plans(self, start: StreamOffset, end: StreamOffset, snapshots: Sequence[Snapshot]) -> Iterator[ScanPlan]:
        selection = self.view.selection()
        is_filtered = self.view.options.row_filter is not None
        for snapshot in snapshots:
            files = self._files(snapshot, start)
            if files is None:
                continue
            last = files.count
            if snapshot.snapshot_id == end.snapshot_id and end.position is not None:
                last = end.position
            first = start.position_in(snapshot.snapshot_id)
            if not 0 <= first <= last <= files.count:
                raise ValidationError(
                    f"checkpoint: snapshot {snapshot.snapshot_id} has {files.count} files to read; expected positions up to that, got "
                    f"{first} to {last}: start the query with a new checkpoint location"
                )
            plan = files.between(first, last)
            if is_filtered and plan.files.num_rows > 0:
                scan_all = start.scans_all_of(snapshot.snapshot_id)
                split_size = self.view.scan_options().split_size()
                plan = filtered(plan, selection.plan(snapshot, added_only=not scan_all, split_size=split_size))
            yield plan

    def _files(self, snapshot: Snapshot, start: StreamOffset) -> SnapshotFiles | None:
        """Return the files that the stream reads of a snapshot, None for a snapshot that it skips."""
        scan_all = start.scans_all_of(snapshot.snapshot_id)
        if not scan_all and not appends_rows(snapshot, self.view.options):
            return None
        key = (snapshot.snapshot_id, scan_all)
        found = self._planned.get(key)
        if found is None:
            split_size = self.view.scan_options().split_size()
            found = SnapshotFiles.plan_of(self.view.selection(), snapshot, split_size, scan_all=scan_all)
            self._planned[key] = found
        return found


def appends_rows(snapshot: Snapshot, options: SourceOptions) -> bool:
    """Return whether a stream reads the files of a snapshot; it skips snapshots that only move rows.

    Raises:
        ValidationError: The snapshot replaces or deletes rows and the options do not skip it.
    """
    operation = snapshot.operation
    if operation in (Operation.APPEND, Operation.REPLACE):
        return operation == Operation.APPEND
    option, skips = SKIP_OVERWRITES, options.skip_overwrites
    if operation == Operation.DELETE:
        option, skips = SKIP_DELETES, options.skip_deletes
    if not skips:
        raise ValidationError(
            f"stream: snapshot {snapshot.snapshot_id} changes rows that were there before; expected an append, got the operation "
            f"{operation.value}: set {option}=true to skip such snapshots, or changes=true to read their changes"
        )
    return False
