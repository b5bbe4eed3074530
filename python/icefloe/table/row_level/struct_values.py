"""New values of struct columns of which an update sets fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import SchemaMismatchError
from icefloe.table.row_level.assignments import FieldValues, leaves
from icefloe.table.row_level.clause_expressions import TARGET, RowFunction, column, value_of
from icefloe.table.row_level.fitted_columns import fitted
from icefloe.types import StructType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.row_level.clause_expressions import JoinedColumns
    from icefloe.types import NestedField


def struct_value(
    changes: FieldValues, field: pa.Field, column_field: NestedField, joined: JoinedColumns, label: str
) -> RowFunction:
    """Return a struct column with new values of some fields; the other fields keep their values, null in a null struct.

    Args:
        changes: The new values.
        field: The column in the table's Arrow schema.
        column_field: The column in the table's schema.
        joined: The columns that values may read, with the table's row before the change.
        label: The clause in messages.

    Raises:
        ValidationError: A text does not parse.
        ResolveError: A name is no column.
        SchemaMismatchError: A value does not fit the type of its field.
    """

    def bind(value: Any, own: pa.Field, own_field: NestedField, path: str) -> RowFunction:
        return value_of(value, own, own_field, joined, f"{label}, value of field {path!r}")

    old, bound = column(TARGET + field.name, joined, label), _bound(changes, field, column_field, field.name, bind)
    functions = [old, *(function for _, function in leaves(bound.by_name))]
    read: frozenset[str] | None = frozenset()
    for function in functions:
        read = None if read is None or function.columns is None else read | function.columns

    def evaluate(rows: pa.Table) -> pa.ChunkedArray:
        before = fitted(old.evaluate(rows), field, label).combine_chunks()
        return pa.chunked_array([_replaced(before, field, bound, rows, f"{label}, value of column {field.name!r}")])

    return RowFunction(evaluate, read)


def _bound(
    changes: FieldValues,
    field: pa.Field,
    column_field: NestedField,
    path: str,
    bind: Callable[[Any, pa.Field, NestedField, str], RowFunction],
) -> FieldValues:
    """Return changes with a function of joined rows for each value."""
    assert isinstance(column_field.field_type, StructType)
    inner = {one.name: one for one in column_field.field_type.fields}
    bound: dict[str, Any] = {}
    for name, value in changes.by_name.items():
        shown, own = f"{path}.{name}", field.type.field(name)
        if isinstance(value, FieldValues):
            bound[name] = _bound(value, own, inner[name], shown, bind)
        else:
            bound[name] = bind(value, own, inner[name], shown)
    return FieldValues(bound)


def _replaced(old: pa.StructArray, field: pa.Field, changes: FieldValues, rows: pa.Table, label: str) -> pa.StructArray:
    """Return structs that are not null, with the values of `changes` for their fields and the old values of the others."""
    fields = [field.type.field(index) for index in range(field.type.num_fields)]
    columns = []
    for index, one in enumerate(fields):
        before = pc.struct_field(old, index)
        change = changes.by_name.get(one.name)
        if change is None:
            after = before
        elif isinstance(change, FieldValues):
            after = _replaced(before, one, change, rows, label)
        else:
            after = fitted(change.evaluate(rows), one, label).combine_chunks()
        if not one.nullable and after.null_count > 0:
            raise SchemaMismatchError(
                f"{label}: the required field {one.name!r} would be null; expected a value: set the field as well"
            )
        columns.append(after)
    return pa.StructArray.from_arrays(columns, fields=fields)
