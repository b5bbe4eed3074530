"""Changes that rest on what was read: the checks that they can ask for, against what others commit meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.expressions.filter import Filter
from icefloe.table.commit.concurrent_changes import changes_since
from icefloe.table.commit.conflicts import (
    check_data_files_exist,
    check_no_conflicting_data,
    check_no_conflicting_deletes,
    check_no_data_in_partitions,
    check_no_new_deletes_for,
    check_removed_data,
)
from icefloe.table.commit.snapshot_producer import MAIN, SnapshotProducer, head_of
from icefloe.table.snapshots import Operation
from icefloe.table.update import AssertRefSnapshotId

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.table.commit.change import OpenTransaction, Versions
    from icefloe.table.commit.concurrent_changes import ConcurrentChanges
    from icefloe.table.commit.partition_set import PartitionSet
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.typedef import Properties


class ValidatedChange(SnapshotProducer):
    """A change with checks.

    Without `validate_from_snapshot` there is no more to compare with than the version of the table that the transaction began with:
    data files that the change rewrites must not have lost rows since, and those that its delete files name must be there.
    """

    merges = True

    def __init__(
        self, transaction: OpenTransaction, branch: str | None = MAIN, snapshot_properties: Properties | None = None
    ) -> None:
        super().__init__(transaction, branch, snapshot_properties)
        self._start: int | None = None
        self._from_start = False
        self._reads_own: bool | None = None
        self._filter: Filter | None = None
        self._partitions: PartitionSet | None = None
        self._check_data = False
        self._check_deletes = False
        self._referenced: list[pa.Array] = []
        self._deletes_count = False

    def validate_from_snapshot(self, snapshot_id: int | None) -> Self:
        """Check against what was committed after this snapshot.

        Args:
            snapshot_id: The snapshot that was read; None when the table was empty.
        """
        self._start = snapshot_id
        self._from_start = True
        return self

    def conflict_detection_filter(self, row_filter: str | BooleanExpression | Filter) -> Self:
        """Narrow the checks to rows that might match a filter; without it any row counts.

        Args:
            row_filter: The rows, in terms of the table's current schema. A `Filter` brings a schema and a case rule of its own.
        """
        self._filter = Filter.of(row_filter, self._transaction.table_metadata.schema())
        return self

    def validate_no_conflicting_data(self) -> Self:
        """Fail when somebody added rows that this change would have read (serializable isolation)."""
        self._check_data = True
        return self

    def validate_no_conflicting_deletes(self) -> Self:
        """Fail when somebody deleted rows that this change read."""
        self._check_deletes = True
        return self

    def validate(self, versions: Versions) -> None:  # noqa: D102 - described by the producer
        if not (self._from_start or self._rests_on_files()):
            return
        newest = versions.newest
        start_id = self._start_in(versions)
        head = head_of(newest, self._branch)
        changes = changes_since(self._transaction.io, newest, start_id, head)
        if changes is not None and head is not None:
            start = newest.snapshot_by_id(start_id) if start_id is not None else None
            self._validate_changes(newest, start, head, changes)

    def _rests_on_files(self) -> bool:
        """Whether the change repeats rows of files that it removes, or marks rows of files: they must be as they were."""
        return bool(self._referenced) or bool(self._added and self._deleted_paths)

    def _start_in(self, versions: Versions) -> int | None:
        """Return the snapshot after which others' commits count.

        An operation of a transaction that read what the transaction's earlier changes left has read the loaded table: all that
        others committed since then is new to it, and the transaction's own snapshots are not.
        """
        if self._reads_own is None:
            self._reads_own = not self._from_start or self._is_own(versions, self._start)
        if not self._reads_own:
            return self._start
        loaded = head_of(versions.loaded, self._branch)
        return loaded.snapshot_id if loaded is not None else None

    def _is_own(self, versions: Versions, snapshot_id: int | None) -> bool:
        """Whether a snapshot is what the transaction shows of the branch, or one that the transaction itself has staged."""
        seen = head_of(versions.working, self._branch)
        if snapshot_id == (seen.snapshot_id if seen is not None else None):
            return True
        if snapshot_id is None or versions.newest.snapshot_by_id(snapshot_id) is not None:
            return False
        return versions.working.snapshot_by_id(snapshot_id) is not None

    def _validate_changes(
        self, newest: TableMetadata, start: Snapshot | None, head: Snapshot, changes: ConcurrentChanges
    ) -> None:
        io = self._transaction.io
        read = self._filter if self._filter is not None else Filter.everything(newest.schema())
        if self._check_data and self._partitions is not None:
            check_no_data_in_partitions(io, newest, head, changes, self._partitions)
        elif self._check_data:
            check_no_conflicting_data(io, newest, head, changes, read)
        if self._check_deletes:
            check_no_conflicting_deletes(io, newest, head, changes, read)
            check_removed_data(io, newest, start, changes, read)
        if self._deleted_paths:
            check_no_new_deletes_for(io, newest, head, changes, pa.concat_arrays(self._deleted_paths))
        if self._referenced:
            check_data_files_exist(changes, pa.concat_arrays(self._referenced), deletes_count=self._deletes_count)


class ReadOnlyChange(ValidatedChange):
    """The read set of an operation that changed no row.

    The other operations of its transaction may commit only while the operation would still change no row. Otherwise two
    transactions that each delete nothing, and then add rows that the other meant to delete, would both commit.
    """

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.DELETE

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return no updates, and the requirement that the branch has not moved."""
        self._check_format(base)
        branch = self._branch if self._branch is not None else MAIN
        ref = base.refs.get(branch)
        unmoved = AssertRefSnapshotId(ref=branch, snapshot_id=ref.snapshot_id if ref is not None else None)
        return (), (unmoved, *self._origin_requirement(base))
