"""The clauses of a merge over Arrow tables: names and types resolved once, then evaluated row by row.

Conditions and values read joined rows, whose columns are named `source.<column>` and `target.<column>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.table.row_level.assignments import (
    FieldValues,
    assignments,
    columns_of,
    fields_of_struct,
    require_whole_columns,
)
from icefloe.table.row_level.clause_expressions import (
    SOURCE,
    TARGET,
    RowFunction,
    column,
    condition_of,
    null_of,
    value_of,
)
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clauses import Action, Clause, check_reachable
from icefloe.table.row_level.fitted_columns import fitted
from icefloe.table.row_level.struct_values import struct_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from icefloe.table.row_level.clause_expressions import JoinedColumns


@dataclass(frozen=True)
class BoundClause:
    """A clause whose condition and values are functions of joined rows.

    Attributes:
        clause: The clause.
        condition: Condition; None for every row.
        values: New value of each of the table's columns; empty for a delete.
    """

    clause: Clause
    condition: RowFunction | None
    values: tuple[RowFunction, ...]

    def applies(self) -> bool | None:
        """Return whether the clause applies to all of its rows or to none; None if its condition reads the rows."""
        return True if self.condition is None else self.condition.constant

    def reads_target(self) -> bool:
        """Return whether a condition or value reads a column of the target."""
        functions = [*self.values, *([] if self.condition is None else [self.condition])]
        return any(
            function.columns is None or any(name.startswith(TARGET) for name in function.columns)
            for function in functions
        )

    def new_rows(self, rows: pa.Table, schema: pa.Schema) -> pa.Table:
        """Return the new version of each row, in the target's columns.

        Args:
            rows: Joined rows that the clause applies to.
            schema: The target's Arrow schema.

        Raises:
            SchemaMismatchError: A value does not fit the type of its column.
        """
        columns = [
            fitted(value.evaluate(rows), field, self.clause.label)
            for value, field in zip(self.values, schema, strict=True)
        ]
        return pa.table(columns, schema=pa.schema([field.with_nullable(True) for field in schema]))


def bind_clause(clause: Clause, joined: JoinedColumns, schema: pa.Schema) -> BoundClause:
    """Resolve the names and types of a clause.

    Args:
        clause: The clause.
        joined: The columns that the clause may read.
        schema: The table's Arrow schema.

    Raises:
        ValidationError: A condition or value is not understood, or a condition is not boolean.
        ResolveError: A name is no column.
        SchemaMismatchError: A value is for an unknown column or field or does not fit it, or a required column has no value.
        FeatureUnsupportedError: An insert sets a field within a struct.
    """
    condition = None
    if clause.condition is not None:
        condition = condition_of(clause.condition, joined, f"{clause.label}, condition")
    if clause.action is Action.DELETE:
        return BoundClause(clause, condition, ())
    assigned = None
    if clause.values is not None:
        assigned = assignments(clause.values, columns_of(joined.table.fields), fields_of_struct, clause.label)
        if clause.action is Action.INSERT:
            require_whole_columns(assigned, clause.label)
    return BoundClause(clause, condition, tuple(_value(clause, assigned, field, joined) for field in schema))


def bind_clauses(clauses: Sequence[Clause], joined: JoinedColumns, schema: pa.Schema) -> list[BoundClause]:
    """Resolve the names and types of the clauses of the same rows, in order; see :func:`bind_clause`.

    Raises:
        ValidationError: As for `bind_clause`, or a clause can never apply.
    """
    bound = [bind_clause(clause, joined, schema) for clause in clauses]
    check_reachable(clauses, [one.applies() for one in bound])
    return bound


def rows_by_clause(clauses: Sequence[BoundClause], rows: pa.Table) -> list[pa.Array]:
    """Return, for each clause, the numbers of the rows that it applies to; each row belongs to one clause at most."""
    numbers: list[pa.Array] = []
    unclaimed = pa.repeat(pa.scalar(value=True), rows.num_rows)
    for clause in clauses:
        mask = unclaimed if clause.condition is None else _is_true(clause, clause.condition, rows, unclaimed)
        numbers.append(pc.indices_nonzero(mask).cast(pa.int64()))
        unclaimed = pc.and_(unclaimed, pc.invert(mask))
    return numbers


def _value(clause: Clause, assigned: Mapping[str, Any] | None, field: pa.Field, joined: JoinedColumns) -> RowFunction:
    if assigned is None:
        return column(SOURCE + field.name, joined, clause.label)
    if field.name in assigned:
        value, own = assigned[field.name], joined.table.find_field(field.name)
        if isinstance(value, FieldValues):
            return struct_value(value, field, own, joined, clause.label)
        return value_of(value, field, own, joined, f"{clause.label}, value of column {field.name!r}")
    if clause.action is Action.UPDATE:
        return column(TARGET + field.name, joined, clause.label)
    if not field.nullable:
        raise SchemaMismatchError(
            f"{clause.label}: no value for the required column {field.name!r}; expected one in values={{...}}"
        )
    return null_of(field.type)


def _is_true(clause: BoundClause, condition: RowFunction, rows: pa.Table, unclaimed: pa.Array) -> pa.Array:
    """Return the unclaimed rows for which a condition is true. Claimed rows are not evaluated: they might raise errors."""
    names = rows.column_names if condition.columns is None else sorted(condition.columns) or rows.column_names[:1]
    selected = rows.select(names)
    result = condition.evaluate(selected if pc.all(unclaimed).as_py() else selected.filter(unclaimed))
    if not pa.types.is_boolean(result.type):
        raise ValidationError(
            f"{clause.clause.label}, condition: expected a boolean, got {kinds.name_of(result.type)}; "
            "compare it with a value"
        )
    true = pc.fill_null(result, False).combine_chunks()
    return pc.replace_with_mask(unclaimed, unclaimed, true) if len(true) < len(unclaimed) else true
