"""An operation of a transaction that read rows and found nothing to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.commit.validated import ValidatedChange
from icefloe.table.snapshots import Operation
from icefloe.table.update import AssertRefSnapshotId

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


class RowsRead(ValidatedChange):
    """The read set of an operation without effect.

    The other operations of a transaction may only commit if the operation would still have no effect: two transactions that
    each delete nothing and then add what the other meant to delete cannot both commit.
    """

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.DELETE

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return no updates, and the requirement that the branch has not moved."""
        self._check_format(base)
        branch = self._branch if self._branch is not None else MAIN
        ref = base.refs.get(branch)
        read = AssertRefSnapshotId(ref=branch, snapshot_id=ref.snapshot_id if ref is not None else None)
        return (), (read, *self._origin_requirement(base))
