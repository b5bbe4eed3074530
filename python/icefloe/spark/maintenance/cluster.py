"""Execution of maintenance plans by the executors of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.arguments import checked_table
from icefloe.table.maintenance.branch_plan import check_plan
from icefloe.table.maintenance.deletes.position_delete_plan import RewritePositionDeletesPlan
from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan
from icefloe.table.maintenance.statistics.compute_statistics import ComputeStatisticsPlan

if TYPE_CHECKING:
    from icefloe.table import Table
    from icefloe.table.maintenance.plan import Plan, Result


def execute(table: Table, plan: Plan, spark: Any) -> Result:
    """Make exactly the changes of a plan of `Table.maintenance`; executors do the work on rows, the driver commits.

    Executors rewrite data files and position delete files and count distinct values. The other verbs run on the driver. Their work is
    on manifests and metadata, which the core reads faster than a job starts, and on deletes, which storage takes in groups of 1,000.

    Args:
        table: The table.
        plan: The plan, which may have been pickled.
        spark: Session; None to do everything in this process.

    Raises:
        ValidationError: An argument is of another type, or the plan is not of this table.
        ValidationException: The table has moved on in a way that the plan does not allow for.
    """
    checked_table("execute", table)
    if spark is None:
        return table.maintenance.execute(plan)
    if isinstance(plan, ComputeStatisticsPlan):
        from icefloe.spark.maintenance.column_sketches import ClusterComputeStatistics

        return ClusterComputeStatistics(table, spark=spark).execute(plan)
    if isinstance(plan, RewriteDataFilesPlan):
        from icefloe.spark.maintenance.data_file_groups import ClusterRewriteRun

        check_plan(plan, table, RewriteDataFilesPlan)
        return ClusterRewriteRun(spark, table, plan).execute()
    if isinstance(plan, RewritePositionDeletesPlan):
        from icefloe.spark.maintenance.position_delete_groups import ClusterRewritePositionDeletes

        return ClusterRewritePositionDeletes(spark, table).execute(plan)
    return table.maintenance.execute(plan)
