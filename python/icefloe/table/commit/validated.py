"""Changes that rest on what was read: the checks that they can ask for, against what others commit meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.expressions.filter import Filter
from icefloe.table.commit.conflicts import (
    check_data_files_exist,
    check_no_conflicting_data,
    check_no_conflicting_deletes,
    check_no_new_deletes_for,
    check_removed_data,
)
from icefloe.table.commit.history import changes_since
from icefloe.table.commit.snapshot_producer import MAIN, SnapshotProducer

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.table.commit.change import OpenTransaction
    from icefloe.table.commit.history import ConcurrentChanges
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.typedef import Properties


class ValidatedChange(SnapshotProducer):
    """A change with checks. Without `validate_from_snapshot` there is nothing to compare with, and nothing is checked."""

    merges = True

    def __init__(
        self, transaction: OpenTransaction, branch: str | None = MAIN, snapshot_properties: Properties | None = None
    ) -> None:
        super().__init__(transaction, branch, snapshot_properties)
        self._start: int | None = None
        self._from_start = False
        self._filter: Filter | None = None
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

    def validate(self, io: FileIO, base: TableMetadata, head: Snapshot | None) -> None:  # noqa: D102
        if not self._from_start or head is None:
            return
        changes = changes_since(io, base, self._start, head)
        if changes is not None:
            self._validate_changes(io, base, head, changes)

    def _validate_changes(self, io: FileIO, base: TableMetadata, head: Snapshot, changes: ConcurrentChanges) -> None:
        read = self._filter if self._filter is not None else Filter.everything(base.schema())
        if self._check_data:
            check_no_conflicting_data(io, base, head, changes, read)
        if self._check_deletes:
            check_no_conflicting_deletes(io, base, head, changes, read)
            start = base.snapshot_by_id(self._start) if self._start is not None else None
            check_removed_data(io, base, start, changes, read)
        if self._deleted_paths:
            check_no_new_deletes_for(io, base, head, changes, pa.concat_arrays(self._deleted_paths))
        if self._referenced:
            check_data_files_exist(changes, pa.concat_arrays(self._referenced), deletes_count=self._deletes_count)
