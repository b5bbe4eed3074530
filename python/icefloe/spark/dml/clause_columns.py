"""The clauses of a merge as Spark columns: the clause that applies to a row, and the row's new values."""

from __future__ import annotations

import functools
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql.types import NullType, StructType

from icefloe.conversions import temporal
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError
from icefloe.expressions.literals import DateLiteral, Literal, TimestampLiteral, UUIDLiteral
from icefloe.spark.dml.determinism import check_deterministic_rows
from icefloe.spark.types.conform import column_of, fits_by_name
from icefloe.spark.types.nullability import nullable
from icefloe.spark.types.struct_order import has_struct, in_order_of, names_match
from icefloe.table.row_level.assignments import FieldValues, assignments, leaves, require_whole_columns
from icefloe.table.row_level.clauses import Action

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from icefloe.table.row_level.clauses import Clause, Clauses, Match

OWN_PREFIX = "__icefloe_"
"""Beginning of the names of columns that a merge adds to its source."""
_OF_MANY_ROWS = ("MISSING_GROUP_BY", "INVALID_WHERE_CONDITION", "UNSUPPORTED_EXPR_FOR_OPERATOR")
CLAUSE = f"{OWN_PREFIX}clause"
"""Column with the number of the clause that applies to a row; null if no clause applies."""


def new_values(clause: Clause, struct: Any, source: Sequence[str] | None, rows: DataFrame) -> list[Column]:
    """Return the values of a row after an update or insert, one column for each of the table's.

    Args:
        clause: The clause.
        struct: The table's Spark schema.
        source: Names of the source's columns; None without a source row.
        rows: The rows that the values are computed from.

    Raises:
        SchemaMismatchError: A value is for an unknown column or field, a struct has other fields than its column, or a column has no
            value.
        ValidationError: A column or field is set twice.
        FeatureUnsupportedError: An insert sets a field within a struct.
    """
    assigned = _assigned(clause, struct)
    if assigned is not None and clause.action is Action.INSERT:
        require_whole_columns(assigned, clause.label)
    return [_new_value(clause, assigned, field, source, rows).alias(field.name) for field in struct.fields]


def as_column(value: Any) -> Column:
    """Return a value as a column: text is Spark SQL, a Spark column stays itself, any other value is a literal."""
    if isinstance(value, str):
        return F.expr(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        # Spark takes it for a moment in the time zone of the process, and shifts it into that of the session.
        return F.lit(value.isoformat(sep=" ")).cast("timestamp_ntz")
    return _literal_column(value) if isinstance(value, Literal) else F.lit(value)


def check_clauses(clauses: Clauses, struct: Any, frames: Mapping[Match, DataFrame]) -> None:
    """Check that Spark can resolve every condition and value; no job runs.

    Args:
        clauses: The clauses.
        struct: The table's Spark schema.
        frames: The rows that clauses read, by the rows that they apply to.

    Raises:
        ResolveError: A name is no column.
        ValidationError: Spark refuses a text for another reason, or a condition is not boolean or not deterministic.
    """
    for clause in clauses.in_order:
        frame = frames[clause.match]
        if clause.condition is not None:
            _check(frame, clause.condition, f"{clause.label}, condition")
            check_deterministic_rows(frame, as_column(clause.condition), clause.condition, clause.label)
        check_values(clause, struct, frame)


def check_values(clause: Clause, struct: Any, frame: DataFrame) -> None:
    """Check that Spark can resolve every value of a clause over a frame; see :func:`check_clauses`."""
    for path, value in leaves(_assigned(clause, struct) or {}):
        kind = functools.reduce(lambda outer, name: outer[name].dataType, path, struct)
        what = "column" if len(path) == 1 else "field"
        _check(frame, value, f"{clause.label}, value of {what} {'.'.join(path)!r}", kind)


def check_condition(frame: DataFrame, condition: Column, label: str) -> None:
    """Check that Spark can resolve a condition over a frame, and that it is boolean; no job runs.

    Raises:
        ResolveError: A name is no column.
        ValidationError: Spark refuses the condition for another reason, or it is not boolean.
    """
    try:
        _check(frame, condition, label)
        _check_where(frame, condition, label)
    except ValidationError as error:
        cause = error.__cause__
        if isinstance(cause, AnalysisException) and (cause.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
            raise ResolveError(str(error)) from cause
        raise


def check_source(clauses: Clauses, struct: Any, source: Any) -> None:
    """Check that the source has every column of the table, where a clause takes all columns from it; no job runs.

    Raises:
        SchemaMismatchError: The source lacks a column, or has it in a type that does not fit.
    """
    needs_all = [clause for clause in clauses.in_order if clause.values is None and clause.action is not Action.DELETE]
    if not needs_all:
        return
    for field in struct.fields:
        column = source[_same_name(needs_all[0], field.name, source.names)]
        is_null = isinstance(column.dataType, NullType) and field.nullable
        if not (is_null or fits_by_name(column.dataType, field.dataType)):
            raise SchemaMismatchError(
                f"{needs_all[0].label}: the source's column {column.name!r} does not fit; expected "
                f"{field.dataType.simpleString()}, got {column.dataType.simpleString()}: cast the column"
            )


def clause_number(clauses: Sequence[Clause]) -> Column:
    """Return the number of the first clause whose condition is true; null if there is none."""
    number = None
    for index, clause in enumerate(clauses):
        applies = F.lit(True) if clause.condition is None else as_column(clause.condition)
        number = F.when(applies, F.lit(index)) if number is None else number.when(applies, F.lit(index))
    return F.lit(None).cast("int") if number is None else number


def values_by_clause(
    clauses: Sequence[Clause], struct: Any, source: Sequence[str] | None, rows: DataFrame
) -> list[Column]:
    """Return the new values of rows by the number of their clause in ``CLAUSE``; null where that clause deletes."""
    values_of = {
        index: new_values(clause, struct, source, rows)
        for index, clause in enumerate(clauses)
        if clause.action is not Action.DELETE
    }
    if not values_of:
        return []
    if len(values_of) == 1 and len(clauses) == 1 and clauses[0].condition is None:
        return values_of[0]
    columns = []
    for position, field in enumerate(struct.fields):
        # At most one clause applies to a row, so at most one part is not null; a new value that is null stays null.
        parts = [F.when(F.col(CLAUSE) == F.lit(index), values[position]) for index, values in values_of.items()]
        columns.append(F.coalesce(*parts).alias(field.name))
    return columns


def _assigned(clause: Clause, struct: Any) -> dict[str, Any] | None:
    """Return the new values of a clause by column; None where all columns come from the source."""
    if clause.values is None:
        return None
    columns = _fields_of(struct)
    assert columns is not None
    return assignments(clause.values, columns, _fields_of, clause.label)


def _fields_of(kind: Any) -> dict[str, Any] | None:
    return {field.name: field.dataType for field in kind.fields} if isinstance(kind, StructType) else None


def _struct_of(clause: Clause, changes: FieldValues, kind: Any, old: Column, rows: DataFrame) -> Column:
    """Return a struct with new values of some fields; the other fields keep their values, null in a null struct."""
    fields = []
    for field in kind.fields:
        new = old.getField(field.name)
        if field.name in changes.by_name:
            value = changes.by_name[field.name]
            if isinstance(value, FieldValues):
                new = _struct_of(clause, value, field.dataType, new, rows)
            else:
                new = _cast_value(clause, value, field, rows)
        fields.append(new.alias(field.name))
    return F.struct(*fields)


def _cast_value(clause: Clause, value: Any, field: Any, rows: DataFrame) -> Column:
    """Return a value in the type of its column or field, which the writer checks for nulls; the fields of structs are matched by name."""
    column = as_column(value)
    if has_struct(field.dataType):
        found = rows.select(column).schema.fields[0].dataType
        if not names_match(found, field.dataType):
            raise SchemaMismatchError(
                f"{clause.label}: the value of {field.name!r} has other fields; expected {field.dataType.simpleString()}, got "
                f"{found.simpleString()}: name its fields as the table does"
            )
        column = in_order_of(column, found, field.dataType)
    return column.cast(nullable(field.dataType))


def _new_value(
    clause: Clause, assigned: Mapping[str, Any] | None, field: Any, source: Sequence[str] | None, rows: DataFrame
) -> Column:
    if assigned is None:
        return _source_value(column_of("source", _same_name(clause, field.name, source or ())), field, rows)
    if field.name in assigned:
        value = assigned[field.name]
        if isinstance(value, FieldValues):
            return _struct_of(clause, value, field.dataType, column_of("target", field.name), rows)
        return _cast_value(clause, value, field, rows)
    if clause.action is Action.UPDATE:
        return column_of("target", field.name)
    if not field.nullable:
        raise SchemaMismatchError(
            f"{clause.label}: no value for the required column {field.name!r}; expected one in values={{...}}"
        )
    return F.lit(None).cast(field.dataType)


def _source_value(column: Column, field: Any, rows: DataFrame) -> Column:
    """Return a column of the source; the fields of structs are matched by name, and Spark casts them by their positions."""
    if not has_struct(field.dataType):
        return column
    found = rows.select(column).schema.fields[0].dataType
    if isinstance(found, NullType):
        return column
    return in_order_of(column, found, field.dataType).cast(nullable(field.dataType))


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


def _check(frame: DataFrame, value: Any, label: str, kind: Any = None) -> None:
    """Check that a value casts to a type, or without a type that a condition is boolean."""
    try:
        column = as_column(value)
        # Spark refuses an aggregate beside the columns of its rows. Over Spark Connect, reading the schema makes Spark analyse.
        _ = frame.select("*", F.when(column, F.lit(1)) if kind is None else column.cast(nullable(kind))).schema
    except AnalysisException as error:
        shown = f"{value!r}" if isinstance(value, str) else str(value)
        condition = error.getCondition() or ""
        if condition.startswith("UNRESOLVED_COLUMN") and isinstance(value, str):
            literal = "'" + value.replace("'", "''") + "'"
            raise ResolveError(
                f'{label} {shown}: {_first_line(error)}; if this is a literal, quote it: "{literal}", or pass F.lit()'
            ) from error
        raise refusal(error, f"{label} {shown}") from error


def _check_where(frame: DataFrame, condition: Column, label: str) -> None:
    """Check that Spark accepts a condition in WHERE, where it refuses window functions."""
    try:
        _ = frame.where(condition).schema
    except AnalysisException as error:
        raise refusal(error, f"{label} {condition}") from error


def refusal(error: AnalysisException, label: str, instead: str = "") -> ValidationError:
    """Return the error for a text that Spark refuses, with what to write instead where that is known.

    Args:
        error: The error of Spark.
        label: The clause and the text.
        instead: Further advice for a name that is in both tables.
    """
    condition = error.getCondition() or ""
    if condition.startswith(_OF_MANY_ROWS):
        return ValidationError(
            f"{label}: expected an expression over one row, got an aggregate or another function of several rows: compute it in a query "
            "before, and join its result"
        )
    problem = f"{label}: {_first_line(error)}"
    if condition.startswith("AMBIGUOUS_REFERENCE"):
        return ValidationError(f"{problem}; expected target or source before the column, as in target.id{instead}")
    return ResolveError(problem) if condition.startswith("UNRESOLVED_COLUMN") else ValidationError(problem)


def _first_line(error: AnalysisException) -> str:
    return (str(error).strip().splitlines() or [""])[0].rstrip(".;")


def _same_name(clause: Clause, name: str, source: Sequence[str]) -> str:
    """Return the source's column of a name, exactly or else ignoring case."""
    if name in source:
        return name
    source = [candidate for candidate in source if not candidate.startswith(OWN_PREFIX)]
    similar = [candidate for candidate in source if candidate.lower() == name.lower()]
    if len(similar) != 1:
        raise SchemaMismatchError(
            f"{clause.label}: the source has no column {name!r}; expected all columns of the table, got "
            f"{', '.join(source)}: add the column, or name the columns to set"
        )
    return similar[0]
