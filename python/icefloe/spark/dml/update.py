"""UPDATE: columns of the rows of a filter, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.dml.clauses import Clause, check_values
from icefloe.spark.dml.row_changes import RowChanges
from icefloe.spark.dml.target import Target
from icefloe.spark.reader.frame import located_frame
from icefloe.spark.reader.native import FILE, POSITION
from icefloe.spark.session import active_session
from icefloe.table.row_level.clauses import Action

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.row_level.results import MergeResult


def update(  # noqa: PLR0913  all but the first three have defaults
    table: Table,
    set: Mapping[str, Any],  # noqa: A002  SQL's word
    where: str | BooleanExpression | None = None,
    *,
    spark: Any = None,
    branch: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
) -> MergeResult:
    """Change columns of the rows that match a filter, in one snapshot.

    Args:
        table: Table.
        set: Column to SQL text over the table's columns (``"l_tax * 2"``), Spark column or literal; a string is SQL, as in a
            merge.
        where: Filter, as text or expression; all rows if None.
        spark: Session; the active one if None.
        branch: Branch to change; main if None.
        snapshot_properties: More keys of the snapshot's summary.

    Example:
        >>> icefloe.spark.update(table, {"l_comment": "upper(l_comment)"}, "l_orderkey < 100")  # doctest: +SKIP
    """
    target = Target(table=table, operation="update", branch=branch, snapshot_properties=dict(snapshot_properties or {}))
    pinned = target.pinned(active_session(spark), row_filter=where)
    clause = Clause.make("matched", Action.UPDATE, None, set)
    located = located_frame(pinned.spark, pinned.planned).alias("target")
    check_values(clause, pinned.struct(), located, "update")
    changed = located.select(FILE, POSITION, *clause.new_values(pinned.struct(), source=None)).persist()
    try:
        return RowChanges(
            pinned=pinned, gone=changed.select(FILE, POSITION), updated=changed.drop(FILE, POSITION)
        ).commit()
    finally:
        changed.unpersist()
