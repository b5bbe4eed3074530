"""The clauses of a merge: when they apply, and what they make of a row.

Conditions and values see a joined row, whose columns are named `source.<column>` and `target.<column>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.table.row_level.clause_expressions import (
    SOURCE,
    TARGET,
    RowFunction,
    column,
    condition_of,
    null_of,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from icefloe.expressions import BooleanExpression
    from icefloe.schema import Schema
    from icefloe.table.row_level.clause_expressions import JoinedColumns

    Condition: TypeAlias = str | BooleanExpression | pc.Expression | RowFunction | None
    Values: TypeAlias = Mapping[str, Any] | None


class Action(Enum):
    """What a clause does with a row."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True)
class Clause:
    """One WHEN of a merge, as it was given.

    Attributes:
        action: What happens.
        condition: When; None for always.
        values: Column to value; None for all columns of the source.
        label: The clause in messages.
    """

    action: Action
    condition: Condition = None
    values: Values = None
    label: str = "merge"

    def bound(self, joined: JoinedColumns, target: Schema, schema: pa.Schema) -> BoundClause:
        """Return the clause with names and types resolved.

        Args:
            joined: The columns that the clause sees.
            target: The table's schema.
            schema: The same as Arrow's.

        Raises:
            ValidationError: A condition or value is not understood, or not of the type that is needed.
            ResolveError: A name is no column.
            SchemaMismatchError: A value is for no column or has no place in it, or a required column has no value.
        """
        condition = None
        if self.condition is not None:
            condition = condition_of(self.condition, joined, f"{self.label}, condition")
        if self.action is Action.DELETE:
            return BoundClause(self, condition, ())
        unknown = sorted(set(self.values or ()) - set(schema.names))
        if unknown:
            raise SchemaMismatchError(
                f"{self.label}: the table has no column {unknown[0]!r} to set; it has {', '.join(schema.names)}"
            )
        values = [self._value(field, joined, target) for field in schema]
        return BoundClause(self, condition, tuple(values))

    def _value(self, field: pa.Field, joined: JoinedColumns, target: Schema) -> RowFunction:
        if self.values is None:
            return column(SOURCE + field.name, joined, self.label)
        if field.name in self.values:
            label = f"{self.label}, value of column {field.name!r}"
            return value_of(self.values[field.name], field, target.find_field(field.name), joined, label)
        if self.action is Action.UPDATE:
            return column(TARGET + field.name, joined, self.label)
        if not field.nullable:
            raise SchemaMismatchError(f"{self.label}: the insert gives no value to the required column {field.name!r}")
        return null_of(field.type)


@dataclass(frozen=True)
class BoundClause:
    """A clause that is ready to run.

    Attributes:
        clause: The clause as it was given.
        condition: When; None for always.
        values: The value of each of the table's columns; none of a delete.
    """

    clause: Clause
    condition: RowFunction | None
    values: tuple[RowFunction, ...]

    def reads_target(self) -> bool:
        """Return whether the clause looks at columns of the target."""
        functions = [*self.values, *([] if self.condition is None else [self.condition])]
        return any(
            function.columns is None or any(name.startswith(TARGET) for name in function.columns)
            for function in functions
        )

    def new_rows(self, rows: pa.Table, schema: pa.Schema) -> pa.Table:
        """Return what the clause makes of joined rows, in the target's columns.

        Args:
            rows: The joined rows that the clause applies to.
            schema: The target's Arrow schema.
        """
        made = [
            fitted(value.evaluate(rows), field, self.clause.label)
            for value, field in zip(self.values, schema, strict=True)
        ]
        return pa.table(made, schema=pa.schema([field.with_nullable(True) for field in schema]))


def apply_in_order(clauses: Sequence[BoundClause], rows: pa.Table) -> list[pa.Array]:
    """Return, for each clause, the numbers of the rows that it applies to; each row goes to the first that does."""
    taken: list[pa.Array] = []
    free = pa.repeat(pa.scalar(value=True), rows.num_rows)
    for clause in clauses:
        mask = free if clause.condition is None else _holds(clause.condition, rows, free)
        taken.append(pc.indices_nonzero(mask).cast(pa.int64()))
        free = pc.and_(free, pc.invert(mask))
    return taken


def fitted(values: pa.ChunkedArray, field: pa.Field, label: str = "merge") -> pa.ChunkedArray:
    """Return a column in a field's type, when every value has a place in it.

    Raises:
        SchemaMismatchError: A value has none.
    """
    if values.type == field.type:
        return values
    try:
        return values.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise SchemaMismatchError(
            f"{label}: column {field.name!r}: {values.type} does not fit {field.type}: {error}"
        ) from error


def _holds(condition: RowFunction, rows: pa.Table, free: pa.Array) -> pa.Array:
    """Return the free rows for which a condition is true; unknown is not. Taken rows are not evaluated, lest they fail."""
    names = rows.column_names if condition.columns is None else sorted(condition.columns) or rows.column_names[:1]
    seen = rows.select(names)
    found = condition.evaluate(seen if pc.all(free).as_py() else seen.filter(free))
    if not pa.types.is_boolean(found.type):
        raise ValidationError(f"merge: a condition must be boolean, not {found.type}")
    holds = pc.fill_null(found, False).combine_chunks()
    return pc.replace_with_mask(free, free, holds) if len(holds) < len(free) else holds
