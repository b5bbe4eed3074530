"""Conditions and values of a merge in every accepted form, as functions of joined rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import FeatureUnsupportedError, ResolveError, SchemaMismatchError, ValidationError
from icefloe.expressions import AlwaysFalse, AlwaysTrue, BooleanExpression
from icefloe.expressions.filter import Filter
from icefloe.io.pyarrow import pyarrow_to_schema, schema_to_pyarrow
from icefloe.schema import Schema, assign_fresh_type_ids
from icefloe.table.read_context import schema_json
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.binding import bind
from icefloe.table.row_level.clause_sql.coercion import coerced
from icefloe.table.row_level.clause_sql.scope import Scope
from icefloe.table.row_level.clause_sql.value import repeated
from icefloe.table.row_level.literal_values import literal_scalar
from icefloe.types import NestedField, StructType, UUIDType
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from icefloe.table.row_level.clause_sql.value import Value

SOURCE = "source."
TARGET = "target."
MAX_BATCH_ROWS = 1 << 20
_ARROW_ERRORS = (pa.ArrowException, ArithmeticError)


@dataclass(frozen=True)
class RowFunction:
    """A function of joined rows.

    Attributes:
        evaluate: Returns the values for the rows of a table.
        columns: The columns that the function reads; None if it may read any.
        constant: For a condition that is the same for all rows, whether it is true; null counts as false. None for other functions.
    """

    evaluate: Callable[[pa.Table], pa.ChunkedArray]
    columns: frozenset[str] | None
    constant: bool | None = None


@dataclass(frozen=True)
class JoinedColumns:
    """The columns that a clause may read: of the source, of the target, or of both.

    Attributes:
        source: Arrow schema of the source; None for rows without a source row.
        target: The table's schema; None for rows without a target row.
        table: The table's schema.
        default_side: The side of names without a side in a text; None where names need one.
    """

    source: pa.Schema | None
    target: Schema | None
    table: Schema
    default_side: str | None = None

    @cached_property
    def arrow(self) -> pa.Schema:
        """Fields `source.<column>` and `target.<column>`."""
        sides = [] if self.source is None else [pa.field(SOURCE + one.name, one.type) for one in self.source]
        if self.target is not None:
            sides += [pa.field(TARGET + one.name, one.type) for one in schema_to_pyarrow(self.target)]
        return pa.schema(sides)

    @cached_property
    def scope(self) -> Scope:
        """The names that a text may use."""
        names = {TARGET + name for name in _uuids(self.table.fields)}
        names |= {SOURCE + name for name in _uuids(self._shared.values())}
        return Scope(self.arrow, frozenset(names), self.default_side)

    @cached_property
    def _shared(self) -> dict[str, NestedField]:
        """The table's columns that the source has in the same type."""
        if self.source is None:
            return {}
        own = storage_schema(schema_to_pyarrow(self.table))
        fields = (field for field in self.table.fields if field.name in self.source.names)
        return {one.name: one for one in fields if self.source.field(one.name).type == own.field(one.name).type}

    @cached_property
    def structs(self) -> Schema:
        """The columns as two structs `source` and `target`, without columns that no Iceberg type can store."""
        sides = []
        if self.source is not None:
            fields = [self._shared.get(one.name) or _iceberg_field(one) for one in self.source]
            sides.append(NestedField(0, "source", StructType(*(one for one in fields if one is not None))))
        if self.target is not None:
            sides.append(NestedField(0, "target", StructType(*self.target.fields)))
        # The two sides have the same field ids, and columns of the source alone have no id.
        struct = assign_fresh_type_ids(StructType(*sides), itertools.count(1).__next__)
        assert isinstance(struct, StructType)
        return Schema(*struct.fields)


def _uuids(fields: Iterable[NestedField], prefix: str = "") -> Iterator[str]:
    for field in fields:
        if isinstance(field.field_type, UUIDType):
            yield prefix + field.name
        elif isinstance(field.field_type, StructType):
            yield from _uuids(field.field_type.fields, f"{prefix}{field.name}.")


def condition_of(condition: Any, joined: JoinedColumns, label: str) -> RowFunction:
    """Return a condition as a function of joined rows.

    Args:
        condition: SQL text, icefloe or pyarrow expression.
        joined: The columns that the clause may read.
        label: The condition in messages.

    Raises:
        ValidationError: The condition does not parse, is of another type, or is not boolean.
        ResolveError: A name is no column.
    """
    if isinstance(condition, RowFunction):
        return condition
    if isinstance(condition, str):
        value = _bound(condition, joined, label)
        if value.kind not in (pa.bool_(), pa.null()):
            raise ValidationError(
                f"{label} {condition!r}: expected a boolean, got {kinds.name_of(value.kind)}; compare it with a value"
            )
        return replace(function_of(value, pa.bool_(), f"{label} {condition!r}"), constant=_constant_condition(value))
    if isinstance(condition, BooleanExpression):
        is_constant = isinstance(condition, (AlwaysTrue, AlwaysFalse))
        constant = isinstance(condition, AlwaysTrue) if is_constant else None
        return replace(_of_filter(condition, joined, label), constant=constant)
    if isinstance(condition, pc.Expression):
        return replace(_of_arrow(condition, joined, label), constant=_constant_expression(condition))
    raise ValidationError(
        f"{label}: expected SQL text, an icefloe expression or a pyarrow expression, got {type(condition).__name__}"
    )


def value_of(value: Any, field: pa.Field, column_field: NestedField, joined: JoinedColumns, label: str) -> RowFunction:
    """Return the value of a column as a function of joined rows.

    Args:
        value: SQL text, pyarrow expression, or any other value, which is a literal.
        field: The column in the table's Arrow schema.
        column_field: The column in the table's schema.
        joined: The columns that the clause may read.
        label: The value in messages.

    Raises:
        ValidationError: A text does not parse.
        ResolveError: A name is no column.
        SchemaMismatchError: The value does not fit the type of the column.
    """
    if isinstance(value, str):
        return _of_stored_text(value, field, column_field, joined, label)
    if isinstance(value, pc.Expression):
        return _of_arrow(value, joined, label)
    try:
        scalar = literal_scalar(value, field.type, column_field)
    except (pa.ArrowException, OverflowError, SchemaMismatchError, TypeError, ValidationError, ValueError) as error:
        raise SchemaMismatchError(
            f"{label}: the literal does not fit; expected a value of type {column_field.field_type}, got {value!r} ({error})"
        ) from error
    return _constant(scalar, field.type)


def column(name: str, joined: JoinedColumns, label: str) -> RowFunction:
    """Return a joined column by its full name, such as `source.id`."""
    if name not in joined.arrow.names:
        raise ResolveError(
            f"{label}: there is no column {name!r}; expected one of {', '.join(sorted(joined.arrow.names))}"
        )
    return RowFunction(lambda rows: rows.column(name), frozenset([name]))


def null_of(kind: pa.DataType) -> RowFunction:
    """Return null in every row."""
    return RowFunction(lambda rows: pa.chunked_array([pa.nulls(rows.num_rows, kind)]), frozenset())


# ---- the forms


def _constant_condition(value: Value) -> bool | None:
    """Return whether a condition that reads no column is true; None for one that reads columns, or that fails for each row."""
    if value.columns:
        return None
    try:
        return value.single().as_py() is True
    except (*_ARROW_ERRORS, ValidationError, RecursionError):
        return None


def _bound(text: str, joined: JoinedColumns, label: str) -> Value:
    try:
        return bind(text, joined.scope)
    except ResolveError as error:
        raise ResolveError(f"{label} {text!r}: {error}") from error
    except ValidationError as error:
        raise ValidationError(f"{label} {text!r}: {error}") from error


def function_of(value: Value, kind: pa.DataType, label: str) -> RowFunction:
    """Return a bound text as a function of joined rows, in a type; `label` is the text in messages."""

    def evaluate(rows: pa.Table) -> pa.ChunkedArray:
        names = sorted(value.columns) or rows.column_names[:1]
        try:
            parts = [value.evaluate(batch) for batch in rows.select(names).to_batches(MAX_BATCH_ROWS)]
            return _as(pa.chunked_array(parts, value.kind), kind)
        except (*_ARROW_ERRORS, ValidationError, RecursionError) as error:
            raise ValidationError(f"{label}: {error}") from error

    return RowFunction(evaluate, value.columns)


def _of_stored_text(
    text: str, field: pa.Field, column_field: NestedField, joined: JoinedColumns, label: str
) -> RowFunction:
    value, kind = _bound(text, joined, label), kinds.canonical(field.type)
    if isinstance(column_field.field_type, UUIDType):
        kind = kinds.UUID
    if kinds.is_known(kind) and kinds.is_known(value.kind):
        try:
            value = coerced(value, kind)
        except (ValidationError, *_ARROW_ERRORS) as error:
            raise SchemaMismatchError(f"{label} {text!r}: {error}") from error
    return function_of(value, value.kind, f"{label} {text!r}")


def _constant_expression(condition: pc.Expression) -> bool | None:
    """Return whether a pyarrow expression that is a literal is true; None for other expressions."""
    if condition.equals(pc.scalar(True)):
        return True
    never = (pc.scalar(False), pc.scalar(None), pc.scalar(pa.scalar(None, pa.bool_())))
    return False if any(condition.equals(one) for one in never) else None


def _of_filter(condition: BooleanExpression, joined: JoinedColumns, label: str) -> RowFunction:
    """Evaluate an expression as a row filter over the structs `source` and `target`."""
    schema = joined.structs
    row_filter = Filter.of(condition, schema)
    try:
        text = row_filter.json
        row_filter.bound  # noqa: B018 - raises for names that are unknown
    except ResolveError as error:
        raise ResolveError(f"{label}: {error}; expected one of {', '.join(joined.arrow.names)}") from error
    except ValidationError as error:
        raise ValidationError(f"{label}: {error}") from error
    whole, shape = schema_json(schema), schema_to_pyarrow(schema)

    def evaluate(rows: pa.Table) -> pa.ChunkedArray:
        masks = [_core.filter_rows(whole, text, _nested(batch, shape)) for batch in rows.to_batches(MAX_BATCH_ROWS)]
        return pa.chunked_array(masks, pa.bool_())

    return RowFunction(evaluate, None)


def _of_arrow(expression: pc.Expression, joined: JoinedColumns, label: str) -> RowFunction:
    """Evaluate a pyarrow expression, first without rows: names and types are checked before a row is read."""

    def evaluate(rows: pa.Table) -> pa.ChunkedArray:
        # The module loads pyarrow's datasets and pandas, 60 MB that readers do not need.
        from pyarrow import acero

        source = acero.Declaration("table_source", acero.TableSourceNodeOptions(rows))
        project = acero.Declaration("project", acero.ProjectNodeOptions([expression], ["value"]))
        try:
            return acero.Declaration.from_sequence([source, project]).to_table(use_threads=False).column("value")
        except pa.ArrowException as error:
            if "No match for FieldRef" in str(error):
                raise ResolveError(
                    f"{label}: {expression}: there is no such column here; expected one of "
                    f"{', '.join(sorted(joined.arrow.names))}"
                ) from error
            raise ValidationError(f"{label}: pyarrow cannot evaluate {expression}: {error}") from error

    evaluate(storage_schema(joined.arrow).empty_table())
    return RowFunction(evaluate, None)


def _constant(scalar: pa.Scalar, kind: pa.DataType) -> RowFunction:
    return RowFunction(
        lambda rows: _as(pa.chunked_array([repeated(scalar, rows.num_rows)], scalar.type), kind), frozenset()
    )


def _as(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return values in a type. Arrow's cast to the same type refuses null structs that have required fields."""
    return values if values.type == kind else values.cast(kind)


# ---- joined rows as two structs


def _iceberg_field(field: pa.Field) -> NestedField | None:
    try:
        return pyarrow_to_schema(pa.schema([field.remove_metadata()]), format_version=3).fields[0]
    except FeatureUnsupportedError:
        return None


def _nested(batch: pa.RecordBatch, shape: pa.Schema) -> pa.RecordBatch:
    """Return joined rows as a batch of the columns `source` and `target`."""
    sides = []
    for side in shape:
        fields = [side.type.field(index) for index in range(side.type.num_fields)]
        columns = [batch.column(f"{side.name}.{field.name}").cast(field.type) for field in fields]
        sides.append(pa.StructArray.from_arrays(columns, fields=[field.with_nullable(True) for field in fields]))
    return pa.RecordBatch.from_arrays(sides, names=[side.name for side in shape])
