"""Metadata columns, computed from the position of a row instead of read from a file. Spec: Reserved Field IDs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.schema import Schema
from icefloe.table.read_context import column_partition_ids, schema_json
from icefloe.transforms import UnknownTransform, VoidTransform
from icefloe.types import BooleanType, IntegerType, LongType, NestedField, StringType, StructType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from icefloe.partitioning import PartitionField
    from icefloe.table.metadata import TableMetadata
    from icefloe.types import IcebergType

FILE = "_file"
POSITION = "_pos"
DELETED = "_deleted"
SPEC_ID = "_spec_id"
PARTITION = "_partition"
PARTITION_ID = 2147483642

_FIXED: dict[str, tuple[int, IcebergType]] = {
    FILE: (2147483646, StringType()),
    POSITION: (2147483645, LongType()),
    DELETED: (2147483644, BooleanType()),
    SPEC_ID: (2147483643, IntegerType()),
}
FILE_ROW = "__file_row"
# A plan numbers its files; no user selects the numbers.
_INTERNAL: dict[str, tuple[int, IcebergType]] = {FILE_ROW: (2147483497, IntegerType())}
METADATA_COLUMNS = (*_FIXED, PARTITION)
"""Names of the metadata columns that can be selected."""

NO_COLUMNS = '{"type": "struct", "schema-id": 0, "fields": []}'
"""The projection of a read without columns of the table, schema JSON."""


def metadata_field(name: str, metadata: TableMetadata | None = None) -> NestedField:
    """Return the field of a metadata column.

    Args:
        name: One of `METADATA_COLUMNS`, or `FILE_ROW`, the file's row in the plan.
        metadata: The table; only `_partition` needs it.
    """
    if name == PARTITION and metadata is not None:
        return NestedField(PARTITION_ID, name, partition_column_type(metadata))
    field_id, kind = _FIXED.get(name) or _INTERNAL[name]
    return NestedField(field_id, name, kind, required=True)


def partition_struct(metadata: TableMetadata) -> StructType:
    """Return the struct of the partition fields of all of a table's specs, as `_partition` has it.

    The struct has one optional field for each partition field id, in the order of the ids, with the field's name in the newest
    spec. Fields that are void in every spec, fields of unknown transforms, whose result type is unknown, and fields of dropped
    columns are left out.

    Raises:
        ValidationError: Specs have different fields of one id.
    """
    schema = metadata.schema()
    names: dict[int, str] = {}
    found: dict[int, NestedField] = {}
    fields: dict[int, PartitionField] = {}
    for spec in sorted(metadata.partition_specs, key=lambda spec: spec.spec_id, reverse=True):
        for field, value in zip(spec.fields, spec.partition_type(schema).fields, strict=True):
            names.setdefault(field.field_id, field.name)
            if not isinstance(field.transform, VoidTransform):
                _check_same(fields.setdefault(field.field_id, field), field)
            if _is_active(field, schema):
                found.setdefault(field.field_id, value)
    return StructType(*(NestedField(one, names[one], found[one].field_type) for one in sorted(found)))


def partition_column_type(metadata: TableMetadata) -> StructType:
    """Return `partition_struct` for a schema that has columns of the table too, with ids that no column has.

    Raises:
        ValidationError: As `partition_struct`.
    """
    ids = column_partition_ids(metadata)
    fields = partition_struct(metadata).fields
    return StructType(*(NestedField(ids[field.field_id], field.name, field.field_type) for field in fields))


def _check_same(newer: PartitionField, older: PartitionField) -> None:
    if (newer.source_id, newer.transform) != (older.source_id, older.transform):
        raise ValidationError(
            f"_partition: two specs have different partition fields of id {newer.field_id}, {older.name} and {newer.name}, as tables of "
            "format version 1 may; select other columns"
        )


def _is_active(field: PartitionField, schema: Schema) -> bool:
    return field.source_id in schema.field_ids and not isinstance(field.transform, UnknownTransform | VoidTransform)


def check_names(selected: Iterable[str], schema: Schema, reserved: Iterable[str] = METADATA_COLUMNS) -> None:
    """Raise if a selected name is the name of both a metadata column and a column of the table.

    Raises:
        ValidationError: A name is ambiguous.
    """
    names = set(reserved)
    _check_distinct((name for name in selected if name in names), (field.name for field in schema.fields))


def _check_distinct(names: Iterable[str], columns: Iterable[str]) -> None:
    own = set(columns)
    clash = next((name for name in names if name in own), None)
    if clash is not None:
        raise ValidationError(
            f"{clash} is a column of this table and the name of a metadata column: rename the table's column to select either"
        )


def with_metadata_columns(schema: str, names: Sequence[str], metadata: TableMetadata | None = None) -> str:
    """Return a schema's JSON with metadata columns appended to its fields.

    Args:
        schema: Schema JSON.
        names: Names of metadata columns, in order.
        metadata: The table; only `_partition` needs it.

    Raises:
        ValidationError: A column of the schema has the name of a metadata column.
    """
    if not names:
        return schema
    rows = json.loads(schema)
    _check_distinct(names, (field["name"] for field in rows["fields"]))
    rows["fields"] += json.loads(schema_json(Schema(*[metadata_field(name, metadata) for name in names])))["fields"]
    return json.dumps(rows)
