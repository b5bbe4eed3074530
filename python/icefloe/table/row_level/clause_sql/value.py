"""Bound expressions, evaluated only for the rows whose branch needs them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.io.arrow_values import row_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ONE_ROW = pa.record_batch({"row": pa.nulls(1)})


@dataclass(frozen=True)
class Value:
    """An expression with resolved columns and types.

    Attributes:
        kind: Type of the values.
        evaluate: Returns the values for the rows of a batch.
        columns: Columns of the batch that the expression reads.
        can_fail: Evaluation may raise for some rows, as a division does.
        constant: The value is the same for all rows and reads no column.
        digits: Number of digits of a literal integer.
    """

    kind: pa.DataType
    evaluate: Callable[[pa.RecordBatch], pa.Array]
    columns: frozenset[str] = frozenset()
    can_fail: bool = False
    constant: bool = False
    digits: int | None = None

    def single(self) -> pa.Scalar:
        """Return the value of a constant."""
        return self.evaluate(_ONE_ROW)[0]


def literal(scalar: pa.Scalar, digits: int | None = None) -> Value:
    """Return a constant."""
    return Value(scalar.type, lambda rows: repeated(scalar, rows.num_rows), constant=True, digits=digits)


def repeated(scalar: pa.Scalar, count: int) -> pa.Array:
    """Return an array of `count` times a scalar, which may be null."""
    return pa.repeat(scalar, count) if scalar.is_valid else pa.nulls(count, scalar.type)


def computed(
    kind: pa.DataType, function: Callable[..., pa.Array], operands: Sequence[Value], *, can_fail: bool = False
) -> Value:
    """Return the result of a function of the operands' arrays; a constant is evaluated once, unless that fails."""

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        return function(*(operand.evaluate(rows) for operand in operands))

    value = combined(kind, evaluate, operands, can_fail=can_fail)
    if not value.constant:
        return value
    try:
        return literal(value.single())
    except (pa.ArrowException, ValidationError):
        # It fails at evaluation instead, and not at all in a branch without rows.
        return replace(value, constant=False)


def combined(
    kind: pa.DataType,
    evaluate: Callable[[pa.RecordBatch], pa.Array],
    operands: Sequence[Value],
    *,
    can_fail: bool = False,
) -> Value:
    """Return an expression whose function evaluates the operands."""
    return Value(
        kind,
        evaluate,
        columns=frozenset().union(*(operand.columns for operand in operands)),
        can_fail=can_fail or any(operand.can_fail for operand in operands),
        constant=len(operands) > 0 and all(operand.constant for operand in operands),
    )


def conjunction(parts: Sequence[Value]) -> Value:
    """Return whether all parts are true; a part is not evaluated for rows where an earlier part is false."""
    return _connected(parts, pc.and_kleene, decisive=False)


def disjunction(parts: Sequence[Value]) -> Value:
    """Return whether a part is true; a part is not evaluated for rows where an earlier part is true."""
    return _connected(parts, pc.or_kleene, decisive=True)


def _connected(parts: Sequence[Value], function: Callable[..., pa.Array], *, decisive: bool) -> Value:
    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        found = parts[0].evaluate(rows)
        for part in parts[1:]:
            if part.can_fail:
                undecided = pc.fill_null(pc.invert(found) if decisive else found, True)
                values = part.evaluate(rows.filter(undecided))
                found = function(found, pc.replace_with_mask(pa.nulls(len(found), pa.bool_()), undecided, values))
            else:
                found = function(found, part.evaluate(rows))
        return found

    return combined(pa.bool_(), evaluate, parts)


def chosen(conditions: Sequence[Value], values: Sequence[Value], otherwise: Value) -> Value:
    """Return the value of the first condition that is true; a value is evaluated for the rows of its condition only."""

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        numbers = row_numbers(rows.num_rows)
        parts, positions = [], []
        for condition, value in zip(conditions, values, strict=True):
            applies = pc.fill_null(condition.evaluate(rows), False)
            parts.append(value.evaluate(rows.filter(applies)))
            positions.append(numbers.filter(applies))
            rows, numbers = rows.filter(pc.invert(applies)), numbers.filter(pc.invert(applies))
        parts.append(otherwise.evaluate(rows))
        positions.append(numbers)
        return pa.concat_arrays(parts).take(pc.array_sort_indices(pa.concat_arrays(positions)))

    return combined(otherwise.kind, evaluate, [*conditions, *values, otherwise])


def first_not_null(values: Sequence[Value]) -> Value:
    """Return the first value that is not null; a value is evaluated for rows where earlier values are null."""

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        found = values[0].evaluate(rows)
        for value in values[1:]:
            missing = pc.is_null(found)
            if value.can_fail:
                found = pc.replace_with_mask(found, missing, value.evaluate(rows.filter(missing)))
            else:
                found = pc.if_else(missing, value.evaluate(rows), found)
        return found

    return combined(values[0].kind, evaluate, values)
