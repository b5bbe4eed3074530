"""UPDATE: columns of the rows of a filter, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_mapping
from icefloe.exceptions import ValidationError
from icefloe.spark.arguments import checked_summary, checked_table
from icefloe.spark.dml.clause_columns import check_values, new_values
from icefloe.spark.dml.located_rows import update_located
from icefloe.spark.dml.row_condition import RowCondition
from icefloe.spark.dml.target import plan_target
from icefloe.spark.reader.frame import located_frame
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.session import active_session
from icefloe.table.row_level.clauses import Action, Clause, Match

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.row_level.merge import MergeResult


def update(  # noqa: PLR0913  all but the first three have defaults
    table: Table,
    set: Mapping[str, Any],  # noqa: A002  SQL's word
    where: str | BooleanExpression | Column | None = None,
    *,
    spark: Any = None,
    branch: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
) -> MergeResult:
    """Set columns of the rows that match a filter, in one snapshot.

    ``write.update.mode`` decides between position deletes and rewritten files. Without a matching row there is no snapshot.

    Args:
        table: Table. It shows the new version afterwards.
        set: Column name to SQL text over the table's columns (``"l_tax * 2"``), Spark column or literal. A string is SQL, as in a
            merge: quote a literal text in it (``"'de'"``). A dotted name such as ``place.city`` sets a field within a struct.
        where: Filter, as text or expression, which prunes files; or other Spark SQL or a Spark column, for which all rows are read;
            all rows if None. Rows for which it is null stay as they are.
        spark: Session; the active one if None.
        branch: Branch to change; main if None.
        snapshot_properties: Additional keys of the snapshot's summary.

    Returns:
        The number of updated rows; no rows are deleted or inserted.

    Raises:
        ResolveError: A name is no column.
        SchemaMismatchError: ``set`` names an unknown column.
        ValidationError: ``set`` is empty, Spark refuses a value, the filter does not parse, or there is no session.
        ValidationException: A concurrent commit conflicts.

    Examples:
        >>> icefloe.spark.update(table, {"name": "upper(name)"}, "id > 1")
        MergeResult(rows_updated=2, rows_deleted=0, rows_inserted=0)
    """
    if not set:
        raise ValidationError(f"update: no column to set; expected column names with their values, got {set!r}")
    checked_mapping("update, set", set, "column names to values")
    condition = RowCondition.of(where, checked_table("update", table).refresh().schema())
    target = plan_target(
        active_session(spark),
        table,
        "update",
        branch=branch,
        snapshot_properties=checked_summary(snapshot_properties),
        row_filter=condition.row_filter,
    )
    clause = Clause(Match.MATCHED, Action.UPDATE, values=dict(set), label="update")
    located = condition.of_rows(located_frame(target.spark, target.planned).alias("target"), "update")
    check_values(clause, target.struct, located)
    values = new_values(clause, target.struct, None, located)
    return update_located(target, located.select(FILE, POSITION, *values), set)
