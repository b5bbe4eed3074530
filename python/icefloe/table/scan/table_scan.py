"""Scans of one snapshot of a table: time travel, plans, rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.refs import SnapshotRefType
from icefloe.table.scan.explain import ScanExplanation, explained
from icefloe.table.scan.metadata_columns import DELETED
from icefloe.table.scan.origin import naming
from icefloe.table.scan.plan import PASSING_BYTES, ScanPlan
from icefloe.table.scan.results import Results, count_planned, enough

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from icefloe.schema import Schema
    from icefloe.table.scan.results import RowStream
    from icefloe.table.scan.task import FileScanTask
    from icefloe.table.scan.task_group import TaskGroup
    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class TableScan(Results):
    """A scan of one snapshot that has not begun. Every method that changes something returns a new scan.

    Attributes:
        ref_is_branch: Whether the snapshot is read as a branch, with the table's current schema.
    """

    ref_is_branch: bool = False

    def use_ref(self, name: str) -> Self:
        """Return a scan of a branch or tag. A branch is read with the table's current schema, a tag with its snapshot's.

        Raises:
            ValidationError: There is no such ref, or a snapshot was chosen already.
        """
        self._check_no_snapshot(f"ref {name!r}")
        ref = self.table_metadata.refs.get(name)
        if ref is None:
            known = ", ".join(sorted(self.table_metadata.refs)) or "none"
            raise ValidationError(f"{self.table_name} has no branch or tag {name!r}; it has {known}")
        return self.update(snapshot_id=ref.snapshot_id, ref_is_branch=ref.snapshot_ref_type == SnapshotRefType.BRANCH)

    def as_of(self, timestamp_ms: int) -> Self:
        """Return a scan of the table as it was at a time.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: The table had no snapshot then, or a snapshot was chosen already.
        """
        if not isinstance(timestamp_ms, int):
            raise ValidationError(
                f"a time is a whole number of milliseconds since 1970-01-01 UTC, got {timestamp_ms!r}"
            )
        self._check_no_snapshot(f"time {timestamp_ms}")
        earlier = [entry for entry in self.table_metadata.snapshot_log if entry.timestamp_ms <= timestamp_ms]
        if not earlier:
            raise ValidationError(f"{self.table_name} had no snapshot at {timestamp_ms}, or it has been expired")
        return self.update(snapshot_id=earlier[-1].snapshot_id)

    def snapshot(self) -> Snapshot | None:
        """Return the snapshot to be scanned, None for a table without any.

        Raises:
            ValidationError: The table does not know the snapshot.
        """
        if self.snapshot_id is None:
            return self.table_metadata.current_snapshot()
        found = self.table_metadata.snapshot_by_id(self.snapshot_id)
        if found is None:
            raise ValidationError(f"{self.table_name} has no snapshot {self.snapshot_id}; it may have been expired")
        return found

    def schema(self) -> Schema:
        """Return the schema that names are resolved in: the snapshot's own when time travelling, else the current one."""
        if self.snapshot_id is not None and not self.ref_is_branch:
            snapshot = self.snapshot()
            if snapshot is not None and snapshot.schema_id is not None:
                for schema in self.table_metadata.schemas:
                    if schema.schema_id == snapshot.schema_id:
                        return schema
        return self.table_metadata.schema()

    # ---- plans

    def plan(self, *, include_stats: bool = False) -> ScanPlan:
        """Plan the scan: which files, cut into tasks, with which deletes.

        Args:
            include_stats: Whether the plan's files carry column statistics.
        """
        return self._plan(split_size=self._split_size(), include_stats=include_stats)

    def plan_whole_files(self) -> ScanPlan:
        """Plan the scan with one task per data file, as changes of rows need it."""
        return self._plan(split_size=None)

    def plan_files(self) -> Iterator[FileScanTask]:
        """Yield the scan's tasks, one per data file, made one by one.

        Example:
            >>> [task.record_count for task in scan.plan_files()]
            [3]
        """
        return self._plan(split_size=None).tasks()

    def plan_tasks(self) -> Iterator[TaskGroup]:
        """Yield combined tasks: files cut at row groups and packed to about the split size. They pickle, for readers elsewhere.

        Example:
            >>> sum(task.read().read_all().num_rows for task in scan.plan_tasks())
            3
        """
        return self.plan().groups(self.packing())

    def explain(self, footers: bool | None = None) -> ScanExplanation:
        """Return what the scan will read and what pruning spared it: manifests, files, deletes, row groups, bytes.

        Args:
            footers: Whether to read the footers of the planned files, which tell row groups and bytes. None does so where there
                are at most 1,000 files.

        Example:
            >>> scan.filter("id > 100").explain().counters["files_planned"]
            0
        """
        snapshot = self.snapshot()
        whole, splits = self._plan(split_size=None), self.plan().files.num_rows
        snapshot_id = snapshot.snapshot_id if snapshot is not None else None
        return explained(whole, self.table_name, snapshot_id, str(self.row_filter), splits=splits, footers=footers)

    # ---- rows

    def count(self) -> int:
        """Return how many rows there are. Files without deletes whose rows all match are counted from metadata alone.

        Example:
            >>> scan.count()
            3
        """
        if DELETED in self.selected_fields:
            return super().count()
        plan = self._plan(split_size=None)
        with naming(self._origin()):
            return count_planned(plan, self.limit)

    # ---- how

    def _plan(self, *, split_size: int | None, include_stats: bool = False) -> ScanPlan:
        with naming(self._origin()):
            plan = self._plan_snapshot(self.snapshot(), split_size=split_size, include_stats=include_stats)
        return replace(plan, limit=self.limit)

    def _origin(self) -> str:
        snapshot = self.snapshot()
        return self.table_name if snapshot is None else f"snapshot {snapshot.snapshot_id} of {self.table_name}"

    def _opened(self, *, string_views: bool = False, batch_bytes: int = PASSING_BYTES) -> tuple[RowStream, int | None]:
        plan = enough(self.plan())
        stream = plan.stream(
            string_views=string_views,
            extension_types=True,
            batch_size=self._batch_size(),
            batch_bytes=batch_bytes,
        )
        return stream.named(self._origin()), plan.counters.get("records_planned")

    def _check_no_snapshot(self, what: str) -> None:
        if self.snapshot_id is not None:
            raise ValidationError(f"{what}: the scan is of snapshot {self.snapshot_id} already; begin with a new scan")


class DataScan(TableScan):
    """The scan of a table's rows, as `Table.scan` returns it."""
