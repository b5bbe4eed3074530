"""The Arrow type of each type, and the Arrow field of each column. Spec: Schemas and Data Types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.types.nested import ListType, MapType, NestedField, StructType
from icefloe.types.primitive import DecimalType, FixedType, IcebergType, PrimitiveType

if TYPE_CHECKING:
    import pyarrow as pa

FIELD_ID_KEY = b"PARQUET:field_id"
DOC_KEY = b"doc"


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


def field_to_arrow(field: NestedField, *, ids: bool = True) -> pa.Field:
    """Return the Arrow field of a column: its comment, and its id if wanted, in the metadata."""
    import pyarrow as pa

    metadata = {}
    if field.doc is not None:
        metadata[DOC_KEY] = field.doc.encode()
    if ids:
        metadata[FIELD_ID_KEY] = str(field.field_id).encode()
    return pa.field(field.name, _type_to_arrow(field.field_type, ids=ids), not field.required, metadata or None)


def _type_to_arrow(kind: IcebergType, *, ids: bool) -> pa.DataType:
    import pyarrow as pa

    if isinstance(kind, StructType):
        return pa.struct([field_to_arrow(field, ids=ids) for field in kind.fields])
    if isinstance(kind, ListType):
        return pa.list_(field_to_arrow(kind.element_field, ids=ids))
    if isinstance(kind, MapType):
        return pa.map_(field_to_arrow(kind.key_field, ids=ids), field_to_arrow(kind.value_field, ids=ids))
    assert isinstance(kind, PrimitiveType)
    return primitive_to_arrow(kind)
