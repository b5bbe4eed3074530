"""`floor`, `ceil` and `round` with the results and types of Spark."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.casting import rounded as rounded_decimal


def whole_kind(kind: pa.DataType) -> pa.DataType:
    """Return the type of `floor` and `ceil`: a decimal has one more digit than its whole part, other numbers are bigint."""
    if not pa.types.is_decimal(kind):
        return pa.int64()
    return kind if kind.scale == 0 else pa.decimal128(kind.precision - kind.scale + 1, 0)


def rounded_kind(kind: pa.DataType, scale: int) -> pa.DataType:
    """Return the type of `round`: a decimal has one more digit, because 9.9 becomes 10; integers keep their type."""
    if not pa.types.is_decimal(kind):
        return kind
    scale = min(kind.scale, scale)
    return pa.decimal128(min(kind.precision - kind.scale + 1 + scale, kinds.MAX_DIGITS), scale)


def floor(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the greatest whole numbers that are not greater than numbers.

    Raises:
        pyarrow.ArrowInvalid: A number is NaN or beyond 64 bits, as in Spark 4.3; earlier versions return 0 or the nearest bigint.
    """
    return _whole(values, kind, "down")


def ceiling(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the least whole numbers that are not less than numbers; raise as :func:`floor`."""
    return _whole(values, kind, "up")


def rounded(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return numbers in a type with fewer fraction digits, halves away from zero."""
    return rounded_decimal(values, kind) if pa.types.is_decimal(kind) else values


def _whole(values: pa.Array, kind: pa.DataType, mode: str) -> pa.Array:
    if pa.types.is_decimal(values.type):
        return pc.round(values.cast(kinds.wide(values.type.scale)), 0, mode).cast(kind)
    if pa.types.is_floating(values.type):
        values = pc.round(values.cast(pa.float64()), 0, mode)
    return values.cast(kind)
