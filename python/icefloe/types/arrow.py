"""Arrow types of Iceberg types, and Arrow fields of columns. Spec: Schemas and Data Types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.types.nested import ListType, MapType, NestedField, StructType
from icefloe.types.primitive import DecimalType, FixedType, IcebergType, PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

FIELD_ID_KEY = b"PARQUET:field_id"
DOC_KEY = b"doc"


def storage_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with extension types replaced by their storage types, which Arrow's kernels compare, group and join.

    >>> storage_schema(pa.schema([("u", pa.uuid())])).types
    [FixedSizeBinaryType(fixed_size_binary[16])]
    """
    import pyarrow as pa

    return pa.schema([_storage_field(field) for field in schema], schema.metadata)


def storage_table(table: pa.Table) -> pa.Table:
    """Return a table with extension types replaced by their storage types; see :func:`storage_schema`."""
    schema = storage_schema(table.schema)
    return table if schema.equals(table.schema) else table.cast(schema)


def without_views(kind: pa.DataType) -> pa.DataType:
    """Return a type with views of every depth replaced by plain strings and binaries; the same object if there are none.

    Arrow's kernels cannot take rows of views.

    >>> without_views(pa.struct([("s", pa.string_view())]))
    StructType(struct<s: string>)
    """
    return _replaced(kind, _plain_of_view)


def _plain_of_view(kind: pa.DataType) -> pa.DataType | None:
    import pyarrow as pa

    if kind == pa.string_view():
        return pa.string()
    return pa.binary() if kind == pa.binary_view() else None


def _storage_of_extension(kind: pa.DataType) -> pa.DataType | None:
    import pyarrow as pa

    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else None


def _storage_field(field: pa.Field) -> pa.Field:
    return _replaced_field(field, _storage_of_extension)


def _replaced_field(field: pa.Field, other: Callable[[pa.DataType], pa.DataType | None]) -> pa.Field:
    kind = _replaced(field.type, other)
    return field if kind is field.type else field.with_type(kind)


def _replaced(kind: pa.DataType, other: Callable[[pa.DataType], pa.DataType | None]) -> pa.DataType:
    """Return a type with the types of every depth replaced that have another one; the same object if there are none."""
    import pyarrow as pa

    found = other(kind)
    if found is not None:
        return found
    children = [kind.field(position) for position in range(kind.num_fields)]
    replaced = [_replaced_field(child, other) for child in children]
    if all(child is new for child, new in zip(children, replaced, strict=True)):
        return kind
    if pa.types.is_struct(kind):
        return pa.struct(replaced)
    if pa.types.is_map(kind):
        key, item = (_replaced_field(field, other) for field in (kind.key_field, kind.item_field))
        return pa.map_(key, item, kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(replaced[0], kind.list_size)
    return pa.large_list(replaced[0]) if pa.types.is_large_list(kind) else pa.list_(replaced[0])


def primitive_to_arrow(kind: PrimitiveType) -> pa.DataType:
    """Return the Arrow type of the values of a primitive type in scans.

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
        "uuid": pa.uuid(),
        "binary": pa.binary(),
        "unknown": pa.null(),
    }
    if str(kind) not in plain:
        raise FeatureUnsupportedError(f"type {kind}: has no Arrow type; select other columns")
    return plain[str(kind)]


def field_to_arrow(field: NestedField, *, ids: bool = True) -> pa.Field:
    """Return the Arrow field of a column, with its comment and, if ``ids``, its field id in the metadata."""
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
