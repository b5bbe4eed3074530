"""The Arrow type of each primitive type. Spec: Primitive Types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.types.primitive import DecimalType, FixedType, PrimitiveType

if TYPE_CHECKING:
    import pyarrow as pa


def primitive_to_arrow(kind: PrimitiveType) -> pa.DataType:
    """Return the Arrow type that values of a primitive type are read as.

    >>> from icefloe.types import TimestamptzType
    >>> primitive_to_arrow(TimestamptzType())
    TimestampType(timestamp[us, tz=UTC])
    """
    import pyarrow as pa

    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, FixedType):
        return pa.binary(kind.length)
    plain = {
        "boolean": pa.bool_(),
        "int": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", "UTC"),
        "timestamp_ns": pa.timestamp("ns"),
        "timestamptz_ns": pa.timestamp("ns", "UTC"),
        "string": pa.string(),
        "uuid": pa.binary(16),
        "binary": pa.binary(),
        "unknown": pa.null(),
    }
    if str(kind) not in plain:
        raise FeatureUnsupportedError(f"type {kind} of format version 3 has no Arrow form here yet")
    return plain[str(kind)]
