"""Literals and the names of types in texts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa

from icefloe.conversions import temporal
from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.casting import cast
from icefloe.table.row_level.clause_sql.value import Value, literal

_TYPES = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "TEXT": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIME": pa.time64("us"),
    "TIMESTAMPTZ": pa.timestamp("us", "UTC"),
    "TIMESTAMPLTZ": pa.timestamp("us", "UTC"),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIMESTAMPNTZ": pa.timestamp("us"),
}


def number(text: str) -> Value:
    """Return a number literal: int, bigint or decimal by its digits, double with an exponent."""
    if "e" in text.lower():
        return literal(pa.scalar(float(text), pa.float64()))
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = -exponent
    if scale == 0 and "." not in text:
        whole = int(text)
        for kind, bits in ((pa.int32(), 31), (pa.int64(), 63)):
            if -(1 << bits) <= whole < 1 << bits:
                return literal(pa.scalar(whole, kind), digits=len(digits))
    precision = max(len(digits), scale)
    if precision > kinds.MAX_DIGITS:
        raise ValidationError(f"literal: expected at most {kinds.MAX_DIGITS} digits, got {precision}")
    return literal(pa.scalar(value, pa.decimal128(precision, scale)))


def type_of(node: Any) -> pa.DataType:
    """Return the target type of a cast.

    Raises:
        ValidationError: A merge's SQL has no such type.
    """
    name = node.this.name
    if name == "DECIMAL":
        parameters = [int(one.name) for one in node.expressions]
        precision, scale = (*parameters, *(10, 0)[len(parameters) :])
        if not (1 <= precision <= kinds.MAX_DIGITS and 0 <= scale <= precision):
            raise ValidationError(
                f"cast: expected decimal(p,s) with p in 1..=38 and s in 0..=p, got decimal({precision},{scale})"
            )
        return pa.decimal128(precision, scale)
    if name not in _TYPES or node.expressions:
        raise ValidationError(f"no cast to {node.sql('spark')}; expected one of {', '.join(_shown())}")
    return _TYPES[name]


def typed_text(node: Any, target: Any) -> Value | None:
    """Return a literal of a type's name and a text, such as `date '2026-01-31'`; None for other literals."""
    name = target.this.name
    if not node.is_string or name not in {"DATE", "TIME", "TIMESTAMPTZ", "TIMESTAMP"}:
        return None
    if name == "DATE":
        return literal(cast(pa.array([node.this], pa.string()), pa.date32())[0])
    if name == "TIME":
        return literal(pa.scalar(temporal.time_from_text(node.this), pa.time64("us")))
    nanos, _ = temporal.timestamp_nanos_from_text(node.this)
    micros, rest = divmod(nanos, temporal.NANOS_PER_MICRO)
    if rest != 0:
        return literal(pa.scalar(nanos, pa.timestamp("ns", "UTC")))
    return literal(pa.scalar(micros, pa.timestamp("us", "UTC")))


def _shown() -> list[str]:
    return [*dict.fromkeys(kinds.name_of(kind) for kind in _TYPES.values()), "decimal"]
