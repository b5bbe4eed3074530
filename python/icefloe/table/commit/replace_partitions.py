"""Snapshots that replace the rows of partitions, in files of every spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.commit.conflicts import check_no_data_in_partitions, check_no_rows_of_partitions
from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.snapshots import Operation
from icefloe.table.update import AssertDefaultSpecId

if TYPE_CHECKING:
    from icefloe.table.commit.change import OpenTransaction
    from icefloe.table.commit.concurrent_changes import ConcurrentChanges
    from icefloe.table.commit.partition_set import PartitionSet
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.typedef import Properties


class ReplacePartitions(OverwriteFiles):
    """Adds data files and removes the rows of partitions: whole data files, and files that are rewritten without these rows.

    The table's default spec decides which partitions these are, so the commit requires that spec.
    """

    def __init__(
        self,
        transaction: OpenTransaction,
        partitions: PartitionSet,
        branch: str | None,
        snapshot_properties: Properties | None,
    ) -> None:
        super().__init__(transaction, branch, snapshot_properties)
        self._partitions = partitions
        self.set_summary("replace-partitions", "true")

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.OVERWRITE

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return the updates, and the requirements with the default spec's id among them."""
        updates, requirements = super().stage(base, attempt)
        return updates, (*requirements, AssertDefaultSpecId(default_spec_id=self._partitions.spec.spec_id))

    def _check_added_data(self, newest: TableMetadata, head: Snapshot, changes: ConcurrentChanges) -> None:
        of_rows = changes.without(changes.rewrites)
        check_no_data_in_partitions(of_rows, self._partitions)
        check_no_rows_of_partitions(self._transaction.io, newest, head, of_rows, self._partitions)
