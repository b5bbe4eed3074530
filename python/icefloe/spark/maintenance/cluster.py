"""Execution of maintenance plans by the executors of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan

if TYPE_CHECKING:
    from icefloe.table import Table
    from icefloe.table.maintenance.plan import Plan, Result


def execute(table: Table, plan: Plan, spark: Any) -> Result:
    """Make exactly the changes of a plan of `Table.maintenance`; executors rewrite data files, the driver commits.

    The other verbs run on the driver. Their work is on manifests and metadata, which the core reads faster than a job starts, and on
    deletes, which storage takes in groups of 1,000.

    Args:
        table: The table.
        plan: The plan, which may have been pickled.
        spark: Session; None to do everything in this process.

    Raises:
        ValidationError: The plan is not of this table, or the table has moved on in a way that the plan does not allow for.
    """
    if spark is None or not isinstance(plan, RewriteDataFilesPlan):
        return table.maintenance.execute(plan)
    from icefloe.spark.maintenance.data_file_groups import ClusterRewriteRun
    from icefloe.table.maintenance.branch_plan import check_plan

    check_plan(plan, table)
    return ClusterRewriteRun(spark, table, plan).execute()
