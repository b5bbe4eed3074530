"""UPDATE, and DELETE by a condition that is no filter.

The rows of the condition are read once, with their positions, and committed in one snapshot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_mapping
from icefloe.exceptions import ValidationError
from icefloe.io.pyarrow import schema_to_pyarrow
from icefloe.table.row_level.arrow_clauses import bind_clause
from icefloe.table.row_level.change_files import commit_changes
from icefloe.table.row_level.clause_expressions import JoinedColumns
from icefloe.table.row_level.clause_run import ClauseRun
from icefloe.table.row_level.clauses import Action, Clause, Match
from icefloe.table.row_level.filtered_rows import FilteredRows
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.row_level.row_changes import RowChanges
from icefloe.table.row_level.row_commit import RowLevelOperation
from icefloe.table.row_level.row_condition import row_condition
from icefloe.table.write.delete import delete_rows
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.row_level.row_condition import RowCondition, Where
    from icefloe.table.row_level.target import Target


def update_rows(target: Target, where: Where, values: Mapping[str, Any], *, case_sensitive: bool) -> MergeResult:
    """Set columns of the rows that meet a condition, in one snapshot; commit nothing if no row does.

    Args:
        target: The table.
        where: Filter, SQL text over the table's columns, or pyarrow expression over `target.<column>`.
        values: Column name to new value.
        case_sensitive: Whether names in the filter must match in case.

    Raises:
        ValidationError: `values` is empty, or a condition or value is not understood or fails for a row.
        ResolveError: A name is no column.
        SchemaMismatchError: A value does not fit its column.
    """
    if not checked_mapping("update: values", values, "column names to values"):
        raise ValidationError(f"update: no column to set; expected column names with their values, got {values!r}")
    condition = row_condition(target, where, "update", case_sensitive=case_sensitive)
    clause = Clause(Match.MATCHED, Action.UPDATE, condition.of_rows, dict(values), "update")
    return _change_rows(target, condition, clause)


def delete_where(target: Target, where: Where, *, case_sensitive: bool) -> None:
    """Delete the rows that meet a condition, in one snapshot; commit nothing if no row does.

    Args:
        target: The table.
        where: Filter, SQL text over the table's columns, or pyarrow expression over `target.<column>`.
        case_sensitive: Whether names in the filter must match in case.

    Raises:
        ValidationError: The condition is not understood or fails for a row.
        ResolveError: A name is no column.
    """
    condition = row_condition(target, where, "delete", case_sensitive=case_sensitive)
    if condition.of_rows is None:
        delete_rows(target, condition.row_filter)
    else:
        clause = Clause(Match.MATCHED, Action.DELETE, condition.of_rows, None, "delete")
        _change_rows(target, condition, clause)


def _change_rows(target: Target, condition: RowCondition, clause: Clause) -> MergeResult:
    schema = target.metadata.schema()
    arrow = storage_schema(schema_to_pyarrow(schema))
    bound = bind_clause(clause, JoinedColumns(None, schema, schema, "target"), arrow)
    plan = target.plan(condition.row_filter)
    run = ClauseRun([bound], FilteredRows(plan, schema), arrow)
    operation = RowLevelOperation(target=target, name=clause.action.value, row_filter=condition.row_filter)
    commit_changes(operation, plan, RowChanges(arrow, (run,)))
    return MergeResult(run.updated, run.deleted, 0)
