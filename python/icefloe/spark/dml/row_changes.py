"""The rows that an operation removes and adds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe.spark.reader.frame import scan_frame
from icefloe.spark.reader.row_count import planned_rows
from icefloe.spark.reader.scan_choice import plan_scan
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.write.covered_deletes import covered_deletes
from icefloe.table.write.rows import with_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.table.row_level.row_commit import RowLevelOperation
    from icefloe.table.scan.plan import ScanPlan


@dataclass(frozen=True, kw_only=True)
class RowChanges:
    """The changes of an operation.

    Args:
        target: The table.
        removed: Positions of deleted and updated rows, ``__icefloe_file`` and ``__icefloe_pos``; None if there are none.
        deleted: The positions of ``removed`` without a new version; None if there are none, or ``updated`` is None.
        updated: New versions of the updated rows, with the table's columns and the positions of the old ones.
        inserted: Rows to add, with the table's columns.
        whole_files: Data files to remove whole.
        whole_file_rows: Number of live rows in these files.
        covered_deletes: Delete files that apply to no row any more, as the operation removes whole partitions.
        only_updates: Every removed row has a new version in ``updated``.
        keeps_partitions: New versions are in the same partitions as the old ones.
        removes_scan: The operation removes the rows of the target's scan, and ``removed`` is None.
    """

    target: PlannedTarget
    removed: DataFrame | None = None
    deleted: DataFrame | None = None
    updated: DataFrame | None = None
    inserted: DataFrame | None = None
    whole_files: RemovedFiles = field(default_factory=RemovedFiles.none)
    whole_file_rows: int = 0
    covered_deletes: RemovedFiles = field(default_factory=RemovedFiles.none)
    only_updates: bool = True
    keeps_partitions: bool = False
    removes_scan: bool = False

    @staticmethod
    def deleting(target: PlannedTarget) -> RowChanges:
        """Return the deletion of all rows of a target's scan."""
        plan, scan = target.planned.plan, target.planned.scan
        is_whole = pc.fill_null(plan.files.column("must_match"), False)
        whole = RemovedFiles.of(plan.files.filter(is_whole))
        partial = plan.files.column("file_path").filter(pc.invert(is_whole))
        covered = covered_deletes(plan, target.table.metadata, scan.resolved_filter())
        rows = live_rows(target, with_files(plan, is_whole))
        if len(partial) > 0 and len(whole.paths) > 0:
            target = replace(target, planned=plan_scan(target.spark, scan, located=True, only=partial))
        return RowChanges(
            target=target,
            whole_files=whole,
            whole_file_rows=rows,
            covered_deletes=covered,
            only_updates=False,
            removes_scan=len(partial) > 0,
        )

    def row_level_operation(self) -> RowLevelOperation:
        """Return the operation for the commit of its files."""
        return replace(self.target.row_level_operation(), covered_deletes=self.covered_deletes)


def live_rows(target: PlannedTarget, plan: ScanPlan) -> int:
    """Return the number of rows of whole files that match the filter of a target's scan; a Spark job counts them if metadata cannot."""
    rows = planned_rows(plan)
    if rows is not None:
        return rows
    one_column = target.planned.scan.update(selected_fields=(target.table.schema().fields[0].name,))
    counted: int = scan_frame(
        target.spark, plan_scan(target.spark, one_column, only=plan.files.column("file_path"))
    ).count()
    return counted
