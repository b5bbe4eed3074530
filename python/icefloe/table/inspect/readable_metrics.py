"""The type of the column `readable_metrics`: the statistics of each column under its name."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from icefloe.types import BinaryType, FixedType, LongType, NestedField, PrimitiveType, StructType

if TYPE_CHECKING:
    from icefloe.schema import Schema

_COUNTS = ("column_size", "value_count", "null_value_count", "nan_value_count")
_LONG_FIXED = 4_096
_BOUNDS = ("lower_bound", "upper_bound")


def readable_metrics_field(schema: Schema, *, above: Schema) -> NestedField:
    """Return the field, with one optional struct for every primitive column, nested ones by their dotted names, sorted by name.

    Args:
        schema: The schema whose columns the statistics describe.
        above: The other columns of the metadata table, whose ids the field's ids must not repeat.
    """
    ids = count(above.highest_field_id + 1)
    fields = []
    for name, kind in sorted(_leaves(schema)):
        members = [NestedField(next(ids), metric, LongType()) for metric in _COUNTS]
        members += [NestedField(next(ids), metric, _bound_type(kind)) for metric in _BOUNDS]
        fields.append(NestedField(next(ids), name, StructType(*members)))
    return NestedField(next(ids), "readable_metrics", StructType(*fields))


def _bound_type(kind: PrimitiveType) -> PrimitiveType:
    """Return the type of bounds: a null of a `fixed` takes the bytes of the type in memory, so those of a long one are binary."""
    return BinaryType() if isinstance(kind, FixedType) and len(kind) > _LONG_FIXED else kind


def _leaves(schema: Schema) -> list[tuple[str, PrimitiveType]]:
    leaves = []
    for field_id in schema.field_ids:
        kind = schema.find_field(field_id).field_type
        name = schema.find_column_name(field_id)
        if isinstance(kind, PrimitiveType) and name is not None:
            leaves.append((name, kind))
    return leaves
