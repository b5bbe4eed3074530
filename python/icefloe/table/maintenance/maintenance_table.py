"""Maintenance of one table: the builders of its verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.deletes.dangling_deletes import RemoveDanglingDeletes
from icefloe.table.maintenance.deletes.equality_deletes import ConvertEqualityDeletes
from icefloe.table.maintenance.deletes.position_deletes import RewritePositionDeletes
from icefloe.table.maintenance.expiry.expire_snapshots import ExpireSnapshots
from icefloe.table.maintenance.orphans.remove_orphan_files import RemoveOrphanFiles
from icefloe.table.maintenance.path_rewrite.path_values import RewriteTablePathPlan
from icefloe.table.maintenance.path_rewrite.rewrite_table_path import RewriteTablePath
from icefloe.table.maintenance.plan import Plan
from icefloe.table.maintenance.policy import MaintenancePolicy
from icefloe.table.maintenance.rewrite.rewrite_data_files import RewriteDataFiles
from icefloe.table.maintenance.rewrite_manifests import RewriteManifestsBuilder
from icefloe.table.maintenance.statistics.compute_partition_statistics import ComputePartitionStatistics
from icefloe.table.maintenance.statistics.compute_statistics import ComputeStatistics

if TYPE_CHECKING:
    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.maintenance.plan import Result


class MaintenanceTable:
    """The maintenance verbs of a table.

    Each verb returns a builder. Its `plan()` returns what would be done and changes nothing; its `execute()` does it.

    Args:
        tbl: The table's handle; a verb that commits moves it to the new version.
    """

    def __init__(self, tbl: CommittingTable) -> None:
        self.tbl = self._table = tbl

    def expire_snapshots(self) -> ExpireSnapshots:
        """Return a builder that removes snapshots and the files that only they need."""
        return ExpireSnapshots(self._table)

    def remove_orphan_files(self) -> RemoveOrphanFiles:
        """Return a builder that deletes files below the table's directories that nothing in the table refers to."""
        return RemoveOrphanFiles(self._table)

    def execute(self, plan: Plan) -> Result:
        """Make exactly the changes of a plan, which may have been pickled.

        Raises:
            ValidationError: The plan is not of this table.
            ValidationException: The table has moved on in a way that the plan does not allow for.
        """
        if not isinstance(plan, Plan):
            raise ValidationError(f"execute: expected the plan of a maintenance verb, got {plan!r}")
        if isinstance(plan, RewriteTablePathPlan):
            return RewriteTablePath(self._table, plan.prefixes.source, plan.prefixes.target).execute(plan)
        builder: Any = getattr(type(self), plan.verb, None) if plan.verb != "execute" else None
        if builder is None:
            raise ValidationError(f"plan of {plan.verb!r}: the table has no such maintenance verb")
        result: Result = builder(self).execute(plan)
        return result

    def rewrite_data_files(self) -> RewriteDataFiles:
        """Return a builder that rewrites data files: fewer files, sorted or clustered, without deleted rows."""
        return RewriteDataFiles(self._table)

    def remove_dangling_deletes(self) -> RemoveDanglingDeletes:
        """Return a builder that removes delete files that apply to no data file."""
        return RemoveDanglingDeletes(self._table)

    def rewrite_position_deletes(self) -> RewritePositionDeletes:
        """Return a builder that rewrites position delete files: one for each data file, without removed data files."""
        return RewritePositionDeletes(self._table)

    def convert_equality_deletes(self) -> ConvertEqualityDeletes:
        """Return a builder that replaces equality delete files by position delete files."""
        return ConvertEqualityDeletes(self._table)

    def rewrite_manifests(self) -> RewriteManifestsBuilder:
        """Return a builder that rewrites manifests: fewer, each with files of neighbouring partitions."""
        return RewriteManifestsBuilder(self._table)

    def rewrite_table_path(  # noqa: PLR0913 - the arguments of the reference
        self,
        source_prefix: str,
        target_prefix: str,
        *,
        staging_location: str | None = None,
        start_version: str | None = None,
        end_version: str | None = None,
        create_file_list: bool = True,
    ) -> RewriteTablePath:
        """Return a builder that stages a copy of the table's metadata for another location, and lists the files to copy.

        Args:
            source_prefix: A directory that all files of the table are below. It is literal: `s3://` and `s3a://` differ.
            target_prefix: The directory that stands for it in the copy.
            staging_location: An empty directory for the copies and the list; by default a new one beside the metadata files.
            start_version: The name of the metadata file that an earlier copy ended with: only files since then are listed.
            end_version: The name of the metadata file that the copy ends with, by default the current one.
            create_file_list: Whether the list of files is written. The rows of the plan name the files too, but not the copies.

        Raises:
            ValidationError: A prefix is empty, or both are equal.
        """
        return RewriteTablePath(
            self._table,
            source_prefix,
            target_prefix,
            staging_location=staging_location,
            start_version=start_version,
            end_version=end_version,
            create_file_list=create_file_list,
        )

    def compute_statistics(self) -> ComputeStatistics:
        """Return a builder that counts the distinct values of columns, as theta sketches in a statistics file."""
        return ComputeStatistics(self._table)

    def compute_partition_statistics(self) -> ComputePartitionStatistics:
        """Return a builder that writes the statistics of every partition of a snapshot."""
        return ComputePartitionStatistics(self._table)

    def policy(self) -> MaintenancePolicy:
        """Return the policy, which runs the verbs that the table's properties configure, one after the other."""
        return MaintenancePolicy(self._table)
