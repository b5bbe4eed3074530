"""DELETE: the rows of a filter, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.dml.row_changes import RowChanges
from icefloe.spark.dml.target import Target
from icefloe.spark.session import active_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.row_level.results import MergeResult


def delete_from(
    table: Table,
    where: str | BooleanExpression,
    *,
    spark: Any = None,
    branch: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
) -> MergeResult:
    """Delete the rows that match a filter, in one snapshot; files whose rows all match are dropped whole, unread.

    Args:
        table: Table.
        where: Filter, as text or expression (not Spark SQL: it prunes files, too).
        spark: Session; the active one if None.
        branch: Branch to change; main if None.
        snapshot_properties: More keys of the snapshot's summary.

    Example:
        >>> icefloe.spark.delete_from(table, "l_shipdate < '1993-01-01'")                      # doctest: +SKIP
    """
    target = Target(table=table, operation="delete", branch=branch, snapshot_properties=dict(snapshot_properties or {}))
    pinned = target.pinned(active_session(spark), row_filter=where)
    return RowChanges.deleting(pinned).commit()
