"""Which types may be read as which others. Spec: Schema Evolution."""

from __future__ import annotations

from icefloe.exceptions import ResolveError
from icefloe.types import (
    BinaryType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    PrimitiveType,
    StringType,
    UnknownType,
)


def promote(file_type: IcebergType, read_type: IcebergType) -> IcebergType:
    """Return ``read_type`` if values written as ``file_type`` may be read as it; ResolveError if not. Spec: Schema Evolution."""
    if file_type == read_type or isinstance(file_type, UnknownType):
        return read_type
    allowed: dict[type[PrimitiveType], tuple[type[PrimitiveType], ...]] = {
        IntegerType: (LongType,),
        FloatType: (DoubleType,),
        StringType: (BinaryType,),
        BinaryType: (StringType,),
        FixedType: (BinaryType,),
    }
    if isinstance(file_type, PrimitiveType) and isinstance(read_type, allowed.get(type(file_type), ())):
        return read_type
    if isinstance(file_type, DecimalType) and isinstance(read_type, DecimalType):
        widened = file_type.scale == read_type.scale and file_type.precision <= read_type.precision
        if widened:
            return read_type
    raise ResolveError(f"Cannot promote {file_type} to {read_type}: its values cannot be read as {read_type}")
