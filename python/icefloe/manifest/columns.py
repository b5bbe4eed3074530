"""Data files as Arrow columns, the form in which the Rust core writes them into manifests. Spec: Manifests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from icefloe.arguments import checked_integer, checked_text
from icefloe.conversions import to_json_value
from icefloe.exceptions import ValidationError
from icefloe.typedef import Record
from icefloe.types import BinaryType, FixedType, PrimitiveType, UUIDType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.manifest.data_file import DataFile
    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.types import NestedField

_COUNTS = pa.map_(pa.int32(), pa.int64())
_BOUNDS = pa.map_(pa.int32(), pa.binary())
DATA_FILE_SCHEMA = pa.schema(
    [
        pa.field("content", pa.int32(), nullable=False),
        pa.field("file_path", pa.string(), nullable=False),
        pa.field("file_format", pa.string(), nullable=False),
        pa.field("spec_id", pa.int32(), nullable=False),
        pa.field("partition", pa.string(), nullable=False),
        pa.field("record_count", pa.int64(), nullable=False),
        pa.field("file_size_in_bytes", pa.int64(), nullable=False),
        ("column_sizes", _COUNTS),
        ("value_counts", _COUNTS),
        ("null_value_counts", _COUNTS),
        ("nan_value_counts", _COUNTS),
        ("lower_bounds", _BOUNDS),
        ("upper_bounds", _BOUNDS),
        ("key_metadata", pa.binary()),
        ("split_offsets", pa.list_(pa.int64())),
        ("equality_ids", pa.list_(pa.int32())),
        ("sort_order_id", pa.int32()),
        ("referenced_data_file", pa.string()),
    ]
)


def data_file_columns(files: Sequence[DataFile], specs: dict[int, PartitionSpec], schema: Schema) -> pa.RecordBatch:
    """Return data files as a record batch of ``DATA_FILE_SCHEMA``, one row for each file.

    Args:
        files: The data files.
        specs: The table's partition specs by id.
        schema: The table's schema.

    Raises:
        ValidationError: The spec of a file is unknown, its partition tuple does not fit the spec, or an attribute has another type.
    """
    rows = [_row(file, specs, schema) for file in files]
    try:
        return pa.RecordBatch.from_pylist(rows, DATA_FILE_SCHEMA)
    except (pa.ArrowException, TypeError, OverflowError) as error:
        paths = ", ".join(file.file_path for file in files[:3])
        raise ValidationError(f"data file {paths}: an attribute has another type than in manifests: {error}") from error


def _row(file: DataFile, specs: dict[int, PartitionSpec], schema: Schema) -> dict[str, Any]:
    path = checked_text("file_path of a data file", file.file_path)
    for name in ("record_count", "file_size_in_bytes"):
        checked_integer(f"data file {path}: {name}", getattr(file, name), least=0)
    row: dict[str, Any] = {name: getattr(file, name) for name in DATA_FILE_SCHEMA.names}
    for name, value in row.items():
        if isinstance(value, dict):
            row[name] = list(value.items())
    return {
        **row,
        "content": int(file.content),
        "file_format": file.file_format.value,
        "partition": _partition_json(file, specs, schema),
    }


def _partition_json(file: DataFile, specs: dict[int, PartitionSpec], schema: Schema) -> str:
    spec = specs.get(file.spec_id)
    if spec is None:
        raise ValidationError(
            f"data file {file.file_path}: the table has no partition spec {file.spec_id}; expected one of {sorted(specs)}"
        )
    fields = spec.partition_type(schema).fields
    if not isinstance(file.partition, Record):
        raise ValidationError(
            f"data file {file.file_path}: expected an icefloe.typedef.Record as partition tuple, got {file.partition!r}"
        )
    if len(fields) != len(file.partition):
        raise ValidationError(
            f"data file {file.file_path}: partition spec {spec.spec_id} has {len(fields)} fields; "
            f"expected a partition tuple of {len(fields)} values, got {len(file.partition)} values"
        )
    return f"[{', '.join(_json_text(file, field, file.partition[place]) for place, field in enumerate(fields))}]"


def _json_text(file: DataFile, field: NestedField, value: Any) -> str:
    kind = field.field_type
    if value is None or not isinstance(kind, PrimitiveType):
        return json.dumps(value)
    is_binary = isinstance(kind, BinaryType | FixedType | UUIDType)
    try:
        # bytes() of a number are as many zeros.
        if not is_binary or isinstance(value, bytes | UUID):
            return json.dumps(to_json_value(kind, value))
    except (TypeError, ValueError, ArithmeticError, AttributeError):
        pass
    raise ValidationError(f"data file {file.file_path}: partition field {field.name}: expected a {kind}, got {value!r}")
