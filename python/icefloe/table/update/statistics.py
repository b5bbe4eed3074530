"""Setting and removing the statistics files of snapshots. Spec: Table Statistics, Partition Statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile
from icefloe.table.update.actions import (
    RemovePartitionStatisticsUpdate,
    RemoveStatisticsUpdate,
    SetPartitionStatisticsUpdate,
    SetStatisticsUpdate,
)
from icefloe.table.update.builder import UpdatableTable, UpdateBuilder, UpdatesAndRequirements

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.update.actions import TableUpdate


class UpdateStatistics(UpdateBuilder):
    """Changes of statistics files, committed together by `commit()` or at the end of a `with` block.

    A snapshot has at most one statistics file and one partition statistics file. Removed files are not deleted from storage.

    Args:
        transaction: The transaction that commits them.
    """

    def __init__(self, transaction: UpdatableTable) -> None:
        super().__init__(transaction)
        self._updates: list[TableUpdate] = []

    def set_statistics(self, statistics_file: StatisticsFile) -> Self:
        """Set the statistics file of its snapshot, in place of an earlier one.

        Raises:
            ValidationError: The table has no such snapshot.
        """
        self._check_file(statistics_file, StatisticsFile)
        return self._add(SetStatisticsUpdate(statistics=statistics_file, snapshot_id=statistics_file.snapshot_id))

    def remove_statistics(self, snapshot_id: int) -> Self:
        """Remove the statistics file of a snapshot; `commit()` raises ValidationError if the snapshot has none."""
        return self._add(RemoveStatisticsUpdate(snapshot_id=snapshot_id))

    def set_partition_statistics(self, statistics_file: PartitionStatisticsFile) -> Self:
        """Set the partition statistics file of its snapshot, in place of an earlier one.

        Raises:
            ValidationError: The table has no such snapshot.
        """
        self._check_file(statistics_file, PartitionStatisticsFile)
        return self._add(SetPartitionStatisticsUpdate(partition_statistics=statistics_file))

    def remove_partition_statistics(self, snapshot_id: int) -> Self:
        """Remove the partition statistics file of a snapshot; `commit()` raises ValidationError if the snapshot has none."""
        return self._add(RemovePartitionStatisticsUpdate(snapshot_id=snapshot_id))

    def _changes(self) -> UpdatesAndRequirements:
        updates, self._updates = tuple(self._updates), []
        return updates, ()

    def _add(self, update: TableUpdate) -> Self:
        self._updates.append(update)
        return self

    def _check_file(self, file: object, kind: type[StatisticsFile | PartitionStatisticsFile]) -> None:
        if not isinstance(file, kind):
            raise ValidationError(f"statistics file: expected a {kind.__name__}, got {file!r}")
        snapshot_id = file.snapshot_id
        if self._transaction.table_metadata.snapshot_by_id(snapshot_id) is None:
            raise ValidationError(f"cannot set statistics of snapshot {snapshot_id}: the table has no such snapshot")
