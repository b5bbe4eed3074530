"""Changes that depend on rows that were read, and are checked against concurrent commits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.arguments import checked_flag, checked_snapshot_id
from icefloe.expressions.filter import Filter
from icefloe.table.commit.concurrent_changes import changes_since
from icefloe.table.commit.conflicts import (
    check_data_files_exist,
    check_no_conflicting_data,
    check_no_conflicting_deletes,
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
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.typedef import Properties


class ValidatedChange(SnapshotProducer):
    """A change that is checked against concurrent commits.

    Without `validate_from_snapshot`, the change is compared with the version of the table that the transaction loaded: data files
    that it rewrites must not have lost rows since, data files that its delete files refer to must still exist, and the requested checks
    apply to the commits since. The Java library, which does not know the version that the caller read, compares with the whole history of
    the table instead, and refuses nearly every such change.
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
        self._has_own_names = False
        self._matches_case = True
        self._check_data = False
        self._check_deletes = False
        self._referenced: list[pa.Array] = []
        self._include_deletes = False
        self._keeps_sequence_number = False

    def validate_from_snapshot(self, snapshot_id: int | None) -> Self:
        """Check against commits after this snapshot.

        Args:
            snapshot_id: The snapshot that was read; None if the table was empty.
        """
        self._start = None if snapshot_id is None else checked_snapshot_id(snapshot_id)
        self._from_start = True
        return self

    def conflict_detection_filter(self, row_filter: str | BooleanExpression | Filter) -> Self:
        """Restrict the checks to rows that might match a filter; without it, all rows are checked.

        Args:
            row_filter: The rows that were read, with the table's current column names. A `Filter` has a schema and a case rule of its own.

        Raises:
            ValidationError: The text is not a filter. Names of columns are resolved by `commit`.
        """
        self._filter = Filter.of(row_filter, self._transaction.table_metadata.schema())
        self._has_own_names = isinstance(row_filter, Filter)
        return self

    def case_sensitive(self, case_sensitive: bool) -> Self:
        """Set whether column names in the conflict detection filter must match in case, which is the default.

        Args:
            case_sensitive: Whether they must; the order of this call and of `conflict_detection_filter` does not matter.
        """
        self._matches_case = checked_flag("case_sensitive", case_sensitive)
        return self

    def validate_no_conflicting_data(self) -> Self:
        """Fail if a concurrent commit added rows that this change would have read (serializable isolation)."""
        self._check_data = True
        return self

    def validate_no_conflicting_deletes(self) -> Self:
        """Fail if a concurrent commit deleted rows that this change read."""
        self._check_deletes = True
        return self

    def commit(self) -> None:
        """Add the change to its transaction; one with `autocommit` commits it now.

        Raises:
            ResolveError: The conflict detection filter has a column that the table has not.
            ValidationException: A concurrent commit conflicts with this change.
            CommitFailedException: Concurrent commits won more often than `commit.retry.num-retries` allows.
        """
        if self._filter is not None and not self._has_own_names:
            self._filter = replace(self._filter, case_sensitive=self._matches_case)
            # Without a concurrent commit nothing else resolves the names.
            _ = self._filter.bound
        super().commit()

    def validate(self, versions: Versions) -> None:  # noqa: D102 - described by the producer
        if not (self._from_start or self._check_data or self._check_deletes or self._depends_on_files()):
            return
        newest = versions.newest
        start_id = self._start_in(versions)
        head = head_of(newest, self._branch)
        changes = changes_since(self._transaction.io, newest, start_id, head)
        if changes is not None and head is not None:
            start = newest.snapshot_by_id(start_id) if start_id is not None else None
            self._validate_changes(newest, start, head, changes)

    def _depends_on_files(self) -> bool:
        """Return whether the change rewrites data files or marks rows of data files as deleted."""
        return bool(self._referenced) or bool(self._added and self._deleted_paths)

    def _start_in(self, versions: Versions) -> int | None:
        """Return the snapshot after which commits of others are checked.

        An operation that read a snapshot staged by its own transaction has read the loaded table with the transaction's earlier
        changes. All commits of others since the loaded version are checked then, and the transaction's own snapshots are not.
        """
        if self._reads_own is None:
            self._reads_own = not self._from_start or self._is_own(versions, self._start)
        if not self._reads_own:
            return self._start
        loaded = head_of(versions.loaded, self._branch)
        return loaded.snapshot_id if loaded is not None else None

    def _is_own(self, versions: Versions, snapshot_id: int | None) -> bool:
        """Return whether a snapshot is the branch's head in the transaction, or was staged by the transaction."""
        head = head_of(versions.working, self._branch)
        if snapshot_id == (head.snapshot_id if head is not None else None):
            return True
        if snapshot_id is None or versions.newest.snapshot_by_id(snapshot_id) is not None:
            return False
        return versions.working.snapshot_by_id(snapshot_id) is not None

    def _validate_changes(
        self, newest: TableMetadata, start: Snapshot | None, head: Snapshot, changes: ConcurrentChanges
    ) -> None:
        io = self._transaction.io
        if self._check_data:
            self._check_added_data(newest, head, changes)
        if self._check_deletes:
            self._check_deleted_rows(newest, start, head, changes)
        of_rows = changes.without(changes.rewrites)
        if self._deleted_paths:
            paths = pa.concat_arrays(self._deleted_paths)
            spec_ids = self._new_spec_ids() if self._keeps_sequence_number else None
            check_no_new_deletes_for(io, newest, head, of_rows, paths, new_spec_ids=spec_ids)
        if self._referenced:
            check_data_files_exist(changes, pa.concat_arrays(self._referenced), include_deletes=self._include_deletes)

    def _new_spec_ids(self) -> set[int]:
        """Return the partition specs of the new data files."""
        return {spec_id for files in self._added for spec_id in pc.unique(files.column("spec_id")).to_pylist()}

    def _check_added_data(self, newest: TableMetadata, head: Snapshot, changes: ConcurrentChanges) -> None:
        of_rows = changes.without(changes.rewrites)
        check_no_conflicting_data(self._transaction.io, newest, head, of_rows, self._read(newest))

    def _check_deleted_rows(
        self, newest: TableMetadata, start: Snapshot | None, head: Snapshot, changes: ConcurrentChanges
    ) -> None:
        of_rows, read = changes.without(changes.rewrites), self._read(newest)
        check_no_conflicting_deletes(self._transaction.io, newest, head, of_rows, read)
        check_removed_data(self._transaction.io, newest, start, of_rows, read)

    def _read(self, newest: TableMetadata) -> Filter:
        return self._filter if self._filter is not None else Filter.everything(newest.schema())


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
