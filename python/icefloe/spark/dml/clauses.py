"""The clauses of a merge: when they apply and what they make of a row, as Spark columns."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.conversions import temporal
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError
from icefloe.expressions.literals import DateLiteral, Literal, TimestampLiteral, UUIDLiteral
from icefloe.spark.types.columns import column_of
from icefloe.spark.types.conform import fits
from icefloe.table.row_level.clauses import Action

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

CLAUSE = "__icefloe_clause"
"""Column with the number of the clause that applies to a row, null if none does."""


@dataclass(frozen=True)
class Clause:
    """One WHEN of a merge.

    Args:
        kind: ``matched``, ``not matched`` or ``not matched by source``.
        action: What happens.
        condition: When; None for always.
        values: Column to value; None for all columns of the source.
    """

    kind: str
    action: Action
    condition: Any
    values: dict[str, Any] | None

    @staticmethod
    def make(kind: str, action: Action, condition: Any, values: Mapping[str, Any] | None) -> Clause:
        """Return a clause.

        Raises:
            ValidationError: The mapping of values is empty, or missing where there is no source row to take them from.
        """
        if values is not None and not values:
            raise ValidationError(f"{kind}: {action.value} sets no column")
        if values is None and kind == "not matched by source" and action is Action.UPDATE:
            raise ValidationError("Rows that the source does not match can only be set to given values: set={...}")
        return Clause(kind, action, condition, None if values is None else dict(values))

    def sees_target(self) -> bool:
        """Return whether the clause looks at columns of the target besides the keys."""
        return self.kind != "not matched" and (self.condition is not None or self.values is not None)

    def new_values(self, struct: Any, source: Sequence[str] | None) -> list[Column]:
        """Return what the clause makes of a row, as the table's columns.

        Args:
            struct: The table's Spark schema.
            source: Columns of the source, None if there is none.

        Raises:
            SchemaMismatchError: A value is for no column, or a column has no value.
        """
        unknown = set(self.values or {}) - {field.name for field in struct.fields}
        if unknown:
            raise SchemaMismatchError(f"The table has no column {min(unknown)!r} to set")
        return [self._new_value(field, source).alias(field.name) for field in struct.fields]

    def _new_value(self, field: Any, source: Sequence[str] | None) -> Column:
        if self.values is None:
            return column_of("source", _same_name(field.name, source or ()))
        if field.name in self.values:
            return as_column(self.values[field.name]).cast(field.dataType)
        if self.action is Action.UPDATE:
            return column_of("target", field.name)
        if not field.nullable:
            raise SchemaMismatchError(f"The insert gives no value to the required column {field.name!r}")
        return F.lit(None).cast(field.dataType)


def as_column(value: Any) -> Column:
    """Return a value as a column: text is Spark SQL, columns stay, anything else is a literal."""
    if isinstance(value, str):
        return F.expr(value)
    return _literal_column(value) if isinstance(value, Literal) else F.lit(value)


def _literal_column(value: Literal) -> Column:
    raw = value.value
    if isinstance(value, DateLiteral):
        return F.lit(temporal.days_to_date(raw))
    if isinstance(value, TimestampLiteral):
        kind = "timestamp" if value.zoned else "timestamp_ntz"
        return F.lit(temporal.timestamp_to_text(raw, "+00:00" if value.zoned else "")).cast(kind)
    if isinstance(value, UUIDLiteral):
        return F.lit(str(uuid.UUID(bytes=raw)))
    return F.lit(bytearray(raw)) if isinstance(raw, bytes) else F.lit(raw)


def check_expressions(clauses: Sequence[Clause], struct: Any, frames: Mapping[str, DataFrame]) -> None:
    """Check, before any job, that Spark can resolve every condition and value.

    Args:
        clauses: The clauses.
        struct: The table's Spark schema.
        frames: The rows that the clauses of each kind see.

    Raises:
        ResolveError: A name is no column.
        ValidationError: Spark refuses a text for another reason, or a condition is not boolean.
    """
    for number, clause in enumerate(clauses, 1):
        label = f"merge, clause {number} (when_{clause.kind.replace(' ', '_')}_{clause.action.value})"
        frame = frames[clause.kind]
        if clause.condition is not None:
            _check(frame, clause.condition, f"{label}, condition")
        check_values(clause, struct, frame, label)


def check_values(clause: Clause, struct: Any, frame: DataFrame, label: str) -> None:
    """Check that Spark can resolve every value of a clause over a frame; see :func:`check_expressions`."""
    for name, value in (clause.values or {}).items():
        if name in struct.names:
            _check(frame, value, f"{label}, value of column {name!r}", struct[name].dataType)


def _check(frame: DataFrame, given: Any, label: str, kind: Any = None) -> None:
    """Check a value of a type, or a condition if there is none."""
    try:
        column = as_column(given)
        # Over Spark Connect it is the schema that makes Spark analyse the expression.
        _ = frame.select(F.when(column, F.lit(1)) if kind is None else column.cast(kind)).schema
    except AnalysisException as error:
        shown = f"{given!r}" if isinstance(given, str) else str(given)
        condition = error.getCondition() or ""
        if condition.startswith("UNRESOLVED_COLUMN") and isinstance(given, str):
            quoted = "'" + given.replace("'", "''") + "'"
            raise ResolveError(
                f'{label} {shown}: {_first_line(error)}; if this is a literal, quote it: "{quoted}", or pass F.lit()'
            ) from error
        raise ValidationError(f"{label} {shown}: {_first_line(error)}") from error


def _first_line(error: AnalysisException) -> str:
    return (str(error).strip().splitlines() or [""])[0].rstrip(".;")


def clause_number(clauses: Sequence[Clause]) -> Column:
    """Return the number of the first clause whose condition holds, null if none does."""
    number = None
    for index, clause in enumerate(clauses):
        holds = F.lit(True) if clause.condition is None else as_column(clause.condition)
        number = F.when(holds, F.lit(index)) if number is None else number.when(holds, F.lit(index))
    return F.lit(None).cast("int") if number is None else number


def values_of_clauses(clauses: Sequence[Clause], struct: Any, source: Sequence[str] | None) -> list[Column]:
    """Return the new values of rows that carry the number of their clause; null where that clause deletes."""
    made = {
        index: clause.new_values(struct, source)
        for index, clause in enumerate(clauses)
        if clause.action is not Action.DELETE
    }
    if not made:
        return []
    if len(made) == 1 and len(clauses) == 1 and clauses[0].condition is None:
        return made[0]
    columns = []
    for position, field in enumerate(struct.fields):
        # At most one of these is not null, as at most one clause applies to a row; null is a value like any other.
        parts = [F.when(F.col(CLAUSE) == F.lit(index), values[position]) for index, values in made.items()]
        columns.append(F.coalesce(*parts).alias(field.name))
    return columns


def check_source(clauses: Sequence[Clause], struct: Any, source: Any) -> None:
    """Check, before any job, that clauses which take all columns from the source can.

    Raises:
        SchemaMismatchError: The source lacks a column or has it in a type that does not fit.
    """
    if all(clause.values is not None or clause.action is Action.DELETE for clause in clauses):
        return
    for field in struct.fields:
        given = source[_same_name(field.name, source.names)]
        if not fits(given.dataType, field.dataType):
            have, want = given.dataType.simpleString(), field.dataType.simpleString()
            raise SchemaMismatchError(f"The source's column {given.name!r} is {have}, the table has {want}")


def _same_name(name: str, source: Sequence[str]) -> str:
    if name in source:
        return name
    similar = [candidate for candidate in source if candidate.lower() == name.lower()]
    if len(similar) != 1:
        raise SchemaMismatchError(f"The source has no column {name!r}, which updating or inserting all columns needs")
    return similar[0]
