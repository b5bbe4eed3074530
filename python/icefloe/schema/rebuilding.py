"""Types derived from types: fields selected, replaced, renumbered at every depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.schema.index import child_fields, walk
from icefloe.types import IcebergType, ListType, MapType, NestedField, StructType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def rebuild_type(kind: IcebergType, change: Callable[[NestedField], NestedField | None]) -> IcebergType:
    """Return a type with each field directly below it replaced by ``change(field)``; a None drops a struct's field."""
    if isinstance(kind, StructType):
        return StructType(*(changed for field in kind.fields if (changed := change(field)) is not None))
    changed_fields = [change(field) or field for field in child_fields(kind)]
    if isinstance(kind, ListType):
        element = changed_fields[0]
        return ListType(element.field_id, element.field_type, element.required)
    if isinstance(kind, MapType):
        key, value = changed_fields
        return MapType(key.field_id, key.field_type, value.field_id, value.field_type, value.required)
    return kind


def selected_fields(
    fields: Iterable[NestedField], selected: set[int], select_full_types: bool = True
) -> tuple[NestedField, ...]:
    """Return the fields of the selected ids and of what lies around them; see :func:`icefloe.schema.prune_columns`."""

    def prune(field: NestedField) -> NestedField | None:
        kind = field.field_type
        if field.field_id in selected and (select_full_types or not kind.is_struct):
            return field
        if isinstance(kind, StructType):
            inner = rebuild_type(kind, prune)
            kept = field.field_id in selected or (isinstance(inner, StructType) and inner.fields)
            return field.with_(field_type=inner) if kept else None
        if not any(child.field_id in selected for child, _, _ in walk(kind)):
            return None
        return field.with_(field_type=rebuild_type(kind, prune))

    return tuple(kept for field in fields if (kept := prune(field)) is not None)


def assign_fresh_type_ids(
    kind: IcebergType, next_id: Callable[[], int], fresh: dict[int, int] | None = None
) -> IcebergType:
    """Return a type with new ids: all fields of a level first, then what is inside each.

    Args:
        kind: The type.
        next_id: Gives one id after the other.
        fresh: Receives the new id of each old one.
    """
    children = child_fields(kind)
    ids = [next_id() for _ in children]
    if fresh is not None:
        fresh.update({field.field_id: new for field, new in zip(children, ids, strict=True)})
    queue = iter(ids)
    return rebuild_type(
        kind,
        lambda field: field.with_(
            field_id=next(queue), field_type=assign_fresh_type_ids(field.field_type, next_id, fresh)
        ),
    )
