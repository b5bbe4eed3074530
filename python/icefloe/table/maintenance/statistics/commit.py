"""What statistics verbs have in common: the plan as of now, writing the file and committing it to its snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from icefloe.exceptions import IcebergError, ValidationError
from icefloe.table.commit.transaction import Transaction
from icefloe.table.locations import load_location_provider
from icefloe.table.maintenance.plan import Plan, check_plan_kind
from icefloe.table.update.statistics import UpdateStatistics

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.io import FileIO
    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile


class StatisticsPlan(Plan):
    """A plan that ends with a statistics file of one table.

    Attributes:
        table_uuid: The table.
    """

    table_uuid: str


P = TypeVar("P", bound=StatisticsPlan)


@dataclass(frozen=True)
class WrittenStatistics:
    """A statistics file that is deleted if its commit definitely fails."""

    io: FileIO
    path: str

    def keep(self) -> None:
        """Do nothing: the table refers to the file, or may refer to it."""

    def abandon(self) -> None:
        """Delete the file; a file that cannot be deleted is an orphan, which does no harm."""
        try:
            self.io.delete(self.path)
        except IcebergError:
            return


def planned_snapshot(metadata: TableMetadata, snapshot_id: int | None, verb: str) -> Snapshot | None:
    """Return the snapshot that statistics are computed of, the current one for None; None for a table without snapshots.

    Raises:
        ValidationError: The table has no such snapshot.
    """
    if snapshot_id is None:
        return metadata.current_snapshot()
    found = metadata.snapshot_by_id(snapshot_id)
    if found is None:
        raise ValidationError(f"{verb}: the table has no snapshot {snapshot_id}; it may have been expired")
    return found


def current_plan(table: CommittingTable, plan: P | None, new: Callable[[], P], kind: type[P]) -> P:
    """Return a plan to execute, and refresh the table if the plan was made earlier.

    Args:
        table: The table.
        plan: The plan that was given to `execute`, of any type.
        new: Returns a new plan; called if none was given.
        kind: The type of the plans.

    Raises:
        ValidationError: The plan is of another verb or of another table.
    """
    if plan is None:
        plan = new()
    else:
        check_plan_kind(plan, kind, kind.verb)
        # Another process may have expired the snapshot since the plan.
        table.refresh()
    uuid = table.metadata.table_uuid
    if str(uuid) != plan.table_uuid:
        raise ValidationError(f"{kind.verb}: the plan is of table {plan.table_uuid}, this table is {uuid}; plan again")
    return plan


def new_file(table: CommittingTable, name: str) -> str:
    """Return the location of a new file among the metadata of a table."""
    metadata = table.metadata
    return load_location_provider(metadata.location, metadata.properties).new_metadata_location(name)


def write_file(io: FileIO, location: str, content: bytes) -> WrittenStatistics:
    """Write a new file.

    Raises:
        FileAlreadyExistsError: Another file has the location.
    """
    with io.new_output(location).create() as stream:
        stream.write(content)
    return WrittenStatistics(io, location)


def commit_statistics(
    table: CommittingTable, file: StatisticsFile | PartitionStatisticsFile, written: WrittenStatistics
) -> None:
    """Make a file the statistics of its snapshot, in place of an earlier file of the same kind.

    Raises:
        ValidationError: The snapshot has been expired.
        CommitStateUnknownException: The outcome is unknown; the file was not deleted.
    """
    from icefloe.table.statistics import StatisticsFile

    transaction = Transaction(table)
    transaction.adopt(written)
    with transaction:
        update = UpdateStatistics(transaction)
        if isinstance(file, StatisticsFile):
            update.set_statistics(file).commit()
        else:
            update.set_partition_statistics(file).commit()
