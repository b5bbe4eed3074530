"""`floor`, `ceil` and `round` with the results and types of Spark."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.casting import rounded as rounded_decimal

_LEAST, _GREATEST = -(2**63), 2**63 - 1


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
    """Return the greatest whole numbers that are not greater than numbers."""
    return _whole(values, kind, "down")


def ceiling(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the least whole numbers that are not less than numbers."""
    return _whole(values, kind, "up")


def rounded(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return numbers in a type with fewer fraction digits, halves away from zero."""
    return rounded_decimal(values, kind) if pa.types.is_decimal(kind) else values


def _whole(values: pa.Array, kind: pa.DataType, mode: str) -> pa.Array:
    if pa.types.is_decimal(values.type):
        return pc.round(values.cast(kinds.wide(values.type.scale)), 0, mode).cast(kind)
    if not pa.types.is_floating(values.type):
        return values.cast(kind)
    # As a cast in Java: NaN becomes 0, and numbers beyond 64 bits the least or the greatest one.
    whole = pc.round(values.cast(pa.float64()), 0, mode)
    below, above = pc.less(whole, float(_LEAST)), pc.greater_equal(whole, float(_GREATEST))
    within = pc.if_else(pc.or_(pc.or_(below, above), pc.is_nan(whole)), 0.0, whole).cast(kind)
    limited = pc.if_else(above, pa.scalar(_GREATEST), within)
    return pc.if_else(below, pa.scalar(_LEAST), limited)
