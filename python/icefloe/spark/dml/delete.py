"""DELETE: the rows of a filter, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.arguments import checked_summary, checked_table
from icefloe.spark.dml.change_commit import commit_changes
from icefloe.spark.dml.located_rows import delete_located
from icefloe.spark.dml.row_changes import RowChanges
from icefloe.spark.dml.row_condition import RowCondition
from icefloe.spark.dml.target import plan_target
from icefloe.spark.reader.frame import located_frame
from icefloe.spark.session import active_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.row_level.merge import MergeResult


def delete_from(
    table: Table,
    where: str | BooleanExpression | Column,
    *,
    spark: Any = None,
    branch: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
) -> MergeResult:
    """Delete the rows that match a filter, in one snapshot.

    Data files whose rows all match are removed without being read. ``write.delete.mode`` decides between position deletes and
    rewritten files for the others. Without a matching row there is no snapshot.

    Args:
        table: Table. It shows the new version afterwards.
        where: Filter, as text or expression, which prunes files; or other Spark SQL or a Spark column, for which all rows are read.
            Rows for which it is null stay.
        spark: Session; the active one if None.
        branch: Branch to change; main if None.
        snapshot_properties: Additional keys of the snapshot's summary.

    Returns:
        The number of deleted rows; no rows are updated or inserted.

    Raises:
        ResolveError: The filter names an unknown column.
        ValidationError: The filter does not parse, there is no session, or the branch is a tag.
        ValidationException: A concurrent commit conflicts.

    Examples:
        >>> icefloe.spark.delete_from(table, "id < 3")
        MergeResult(rows_updated=0, rows_deleted=2, rows_inserted=0)
    """
    if where is None:
        raise ValidationError(
            "delete: expected the condition of the rows to delete, got None: pass 'true' or AlwaysTrue() to delete all rows"
        )
    condition = RowCondition.of(where, checked_table("delete", table).refresh().schema())
    target = plan_target(
        active_session(spark),
        table,
        "delete",
        branch=branch,
        snapshot_properties=checked_summary(snapshot_properties),
        row_filter=condition.row_filter,
    )
    if condition.column is None:
        return commit_changes(RowChanges.deleting(target))
    located = condition.of_rows(located_frame(target.spark, target.planned).alias("target"), "delete")
    return delete_located(target, located)
