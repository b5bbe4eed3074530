"""Scans of one snapshot of a table: time travel, plans, rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icefloe.arguments import checked_flag
from icefloe.exceptions import ValidationError
from icefloe.table.refs import SnapshotRefType
from icefloe.table.scan.explain import ScanExplanation, explained
from icefloe.table.scan.metadata_columns import DELETED, POSITION
from icefloe.table.scan.row_stream import failures_name
from icefloe.table.scan.scan import Scan
from icefloe.table.scan.snapshot_range import known_snapshot, snapshot_of_ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from icefloe.schema import Schema
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.scan.task import FileScanTask
    from icefloe.table.scan.task_group import TaskGroup
    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class DataScan(Scan):
    """A scan of one snapshot, not yet read. Methods that narrow a scan return a new one.

    Attributes:
        ref_is_branch: Whether the snapshot is read as a branch, with the table's current schema.
    """

    ref_is_branch: bool = False

    # ---- the snapshot

    def use_ref(self, name: str) -> Self:
        """Return a scan of a branch or tag: a branch with the table's current schema, a tag with its snapshot's schema.

        Raises:
            ValidationError: There is no such branch or tag, or the scan has a snapshot already.
        """
        self._check_no_snapshot(f"use_ref({name!r})")
        ref = snapshot_of_ref(self.table_metadata, self.table_name, name)
        return self.update(snapshot_id=ref.snapshot_id, ref_is_branch=ref.snapshot_ref_type == SnapshotRefType.BRANCH)

    def as_of(self, timestamp_ms: int) -> Self:
        """Return a scan of the snapshot that was current at a time.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: No snapshot was current then, or the scan has a snapshot already.
        """
        if isinstance(timestamp_ms, bool) or not isinstance(timestamp_ms, int):
            raise ValidationError(f"as_of: expected whole milliseconds since 1970-01-01 UTC, got {timestamp_ms!r}")
        self._check_no_snapshot(f"as_of({timestamp_ms})")
        snapshot_id = self.table_metadata.snapshot_log.snapshot_id_at(timestamp_ms)
        if snapshot_id is None:
            raise ValidationError(
                f"{self.table_name} had no snapshot at {timestamp_ms}, or it has been expired; "
                "table.history() lists the times of its snapshots"
            )
        return self.update(snapshot_id=snapshot_id)

    def snapshot(self) -> Snapshot | None:
        """Return the snapshot to be scanned, None for a table without snapshots.

        Raises:
            ValidationError: The table has no such snapshot.
        """
        if self.snapshot_id is None:
            return self.table_metadata.current_snapshot()
        return known_snapshot(self.table_metadata, self.table_name, self.snapshot_id)

    def schema(self) -> Schema:
        """Return the schema that names are resolved in: the snapshot's own for time travel, else the table's current schema."""
        if self.snapshot_id is None or self.ref_is_branch:
            return self.table_metadata.schema()
        snapshot = self.snapshot()
        schema_id = None if snapshot is None else snapshot.schema_id
        own = None if schema_id is None else self.table_metadata.schema_by_id(schema_id)
        return self.table_metadata.schema() if own is None else own

    # ---- plans

    def plan(self, *, include_stats: bool = False) -> ScanPlan:
        """Plan the scan: data files cut into tasks, and the delete files of each.

        Args:
            include_stats: Whether the plan's files carry column statistics.
        """
        checked_flag("include_stats", include_stats)
        return self._plan(split_size=self._options().split_size(), include_stats=include_stats)

    def plan_whole_files(self) -> ScanPlan:
        """Plan the scan with one task per data file, as row-level changes need it."""
        return self._plan(split_size=None)

    def plan_files(self) -> Iterator[FileScanTask]:
        """Yield one task per data file.

        Examples:
            >>> [task.record_count for task in scan.plan_files()]
            [3]
        """
        return self._plan(split_size=None).tasks()

    def plan_tasks(self) -> Iterator[TaskGroup]:
        """Yield groups of tasks, cut at row groups and packed to the split size. Groups pickle, for readers elsewhere.

        Examples:
            >>> sum(task.read().read_all().num_rows for task in scan.plan_tasks())
            3
        """
        return self.plan().groups(self.packing())

    def explain(self, footers: bool | None = None) -> ScanExplanation:
        """Return the explanation of the scan: the manifests, files, deletes, row groups and bytes that it reads and skips.

        Args:
            footers: Whether to read the footers of the planned files, which give row groups and bytes. None reads them if
                there are at most 1,000 files.

        Examples:
            >>> scan.filter("id > 100").explain().counters["files_planned"]
            0
        """
        snapshot = self.snapshot()
        whole, splits = self._plan(split_size=None), self.plan().files.num_rows
        snapshot_id = snapshot.snapshot_id if snapshot is not None else None
        return explained(whole, self.table_name, snapshot_id, str(self.row_filter), splits=splits, footers=footers)

    # ---- rows

    def count(self) -> int:
        """Return the number of rows. Files without deletes whose rows all match are counted from metadata alone.

        Examples:
            >>> scan.count()
            3
        """
        if DELETED in self.selected_fields:
            positions = self.update(selected_fields=(POSITION, DELETED))
            return sum(batch.num_rows for batch in positions.to_arrow_batch_reader())
        plan = self._plan(split_size=None)
        with failures_name(self._origin()):
            return plan.count_rows()

    # ---- parts

    def _plan(self, *, split_size: int | None, include_stats: bool = False) -> ScanPlan:
        with failures_name(self._origin()):
            plan = self._selection().plan(self.snapshot(), split_size=split_size, include_stats=include_stats)
        return replace(plan, limit=self.limit)

    def _row_source(self) -> ScanPlan:
        return self.plan().drop_files_past_limit()

    def _origin(self) -> str:
        snapshot = self.snapshot()
        return self.table_name if snapshot is None else f"snapshot {snapshot.snapshot_id} of {self.table_name}"

    def _check_no_snapshot(self, call: str) -> None:
        if self.snapshot_id is not None:
            raise ValidationError(f"{call}: the scan has snapshot {self.snapshot_id} already; begin with a new scan")


TableScan = DataScan
"""PyIceberg's other name for a scan of one snapshot."""
