"""The clauses of a merge: when they apply, and what they make of a row.

Conditions and values see a joined row, whose columns are named `source.<column>` and `target.<column>`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import FeatureUnsupportedError, ResolveError, SchemaMismatchError, ValidationError
from icefloe.table.read_context import filter_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from icefloe.expressions import BooleanExpression

    Condition: TypeAlias = str | BooleanExpression | pc.Expression | None
    Values: TypeAlias = Mapping[str, Any] | None

SOURCE = "source."
TARGET = "target."


class Action(Enum):
    """What a clause does with a row."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True)
class Clause:
    """One WHEN of a merge.

    Attributes:
        action: What happens.
        condition: When; None for always.
        values: Column to value; None for all columns of the source.
    """

    action: Action
    condition: Condition = None
    values: Values = None

    def needs_target(self) -> bool:
        """Whether the clause looks at columns of the target other than the keys."""
        return self.condition is not None or (self.values is not None and self.action is not Action.INSERT)


def apply_in_order(clauses: list[Clause], rows: pa.Table) -> list[pa.Array]:
    """Return, for each clause, the numbers of the rows that it applies to; each row goes to the first that does."""
    taken: list[pa.Array] = []
    free = pa.repeat(pa.scalar(value=True), rows.num_rows)
    for clause in clauses:
        mask = free if clause.condition is None else pc.and_(free, _holds(rows, clause.condition))
        taken.append(pc.indices_nonzero(mask).cast(pa.int64()))
        free = pc.and_(free, pc.invert(mask))
    return taken


def new_rows(clause: Clause, rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return what a clause makes of joined rows, in the target's columns.

    Args:
        clause: An update or an insert.
        rows: The joined rows that it applies to.
        schema: The target's Arrow schema.
    """
    names, expressions = [], []
    for field in schema:
        names.append(field.name)
        expressions.append(_value(clause, field, rows.schema))
    made = evaluate(rows, expressions, names)
    return pa.table(
        [fitted(made.column(one.name), one) for one in schema],
        schema=pa.schema([f.with_nullable(True) for f in schema]),
    )


def evaluate(rows: pa.Table, expressions: list[pc.Expression], names: list[str]) -> pa.Table:
    """Return the values of expressions over rows, in the rows' order.

    Raises:
        ValidationError: An expression does not fit the rows.
    """
    # It brings pyarrow's datasets along, and pandas: 60 MB that no reader needs.
    from pyarrow import acero

    source = acero.Declaration("table_source", acero.TableSourceNodeOptions(rows))
    project = acero.Declaration("project", acero.ProjectNodeOptions(expressions, names))
    try:
        return acero.Declaration.from_sequence([source, project]).to_table(use_threads=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
        raise ValidationError(f"merge: an expression cannot be evaluated: {error}") from error


def fitted(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Return a column in a field's type, when every value has a place in it.

    Raises:
        SchemaMismatchError: A value has none.
    """
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaMismatchError(f"column {field.name!r}: {column.type} does not fit {field.type}: {error}") from error


def _value(clause: Clause, field: pa.Field, joined: pa.Schema) -> pc.Expression:
    if clause.values is None:
        return _column(SOURCE + field.name, joined)
    if field.name in clause.values:
        return _expression(clause.values[field.name], field, joined)
    if clause.action is Action.UPDATE:
        return _column(TARGET + field.name, joined)
    if not field.nullable:
        raise SchemaMismatchError(f"merge: the insert gives no value to the required column {field.name!r}")
    return pc.scalar(pa.scalar(None, field.type))


def _expression(value: Any, field: pa.Field, joined: pa.Schema) -> pc.Expression:
    if isinstance(value, pc.Expression):
        return value
    if isinstance(value, str) and value.startswith((SOURCE, TARGET)):
        return _column(value, joined)
    try:
        return pc.scalar(pa.scalar(value, field.type))
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise SchemaMismatchError(
            f"merge: {value!r} is no value of column {field.name!r} ({field.type}): {error}"
        ) from error


def _column(name: str, joined: pa.Schema) -> pc.Expression:
    if joined.get_field_index(name) < 0:
        raise ResolveError(f"merge: there is no column {name!r} here; there are {', '.join(sorted(joined.names))}")
    return pc.field(name)


def _holds(rows: pa.Table, condition: str | BooleanExpression | pc.Expression) -> pa.Array:
    """Whether a condition is true; one that is unknown is not."""
    is_arrow = isinstance(condition, pc.Expression)
    own = condition if is_arrow else _from_json(json.loads(filter_json(condition)), rows.schema)
    made = evaluate(rows, [own], ["holds"]).column("holds")
    if not pa.types.is_boolean(made.type):
        raise ValidationError(f"merge: a condition must be boolean, not {made.type}")
    return pc.fill_null(made, False).combine_chunks()


_COMPARISONS: dict[str, Callable[[Any, Any], pc.Expression]] = {
    "lt": lambda a, b: a < b,
    "lt-eq": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "gt-eq": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "not-eq": lambda a, b: a != b,
}


def _from_json(tree: Any, joined: pa.Schema) -> pc.Expression:
    """Return a predicate that compares columns with literals as an Arrow expression."""
    kind = "true" if tree is True else "false" if tree is False else tree["type"]
    if kind in ("true", "false"):
        return pc.scalar(kind == "true")
    if kind in ("and", "or"):
        left, right = _from_json(tree["left"], joined), _from_json(tree["right"], joined)
        return left & right if kind == "and" else left | right
    if kind == "not":
        return ~_from_json(tree["child"], joined)
    if not isinstance(tree["term"], str):
        raise FeatureUnsupportedError(f"merge: a condition on the transform {tree['term'].get('transform')}")
    column = _column(tree["term"], joined)
    field = joined.field(tree["term"])
    if kind in _COMPARISONS:
        return _COMPARISONS[kind](column, _literal(tree["value"], field))
    if kind in ("in", "not-in"):
        found = column.isin(pa.array([_literal(value, field) for value in tree["values"]], field.type))
        return found if kind == "in" else ~found
    if kind in ("is-null", "not-null"):
        return column.is_null() if kind == "is-null" else ~column.is_null()
    if kind in ("is-nan", "not-nan"):
        return pc.is_nan(column) if kind == "is-nan" else ~pc.is_nan(column)
    found = pc.starts_with(column, tree["value"])
    return found if kind == "starts-with" else ~found


def _literal(value: Any, field: pa.Field) -> pa.Scalar:
    try:
        return pa.scalar(value).cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValidationError(f"merge: {value!r} is no value of {field.name!r} ({field.type}): {error}") from error
