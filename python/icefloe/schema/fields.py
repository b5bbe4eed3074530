"""Fields of every depth of a type: indexes by id and by name, accessors in rows, selection, replacement and renumbering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from icefloe.exceptions import ValidationError
from icefloe.types import IcebergType, ListType, MapType, NestedField, StructType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Columned(Protocol):
    """An object with columns, such as a schema."""

    def as_struct(self) -> StructType:
        """Return the columns as a struct type."""


@dataclass(frozen=True, slots=True, repr=False)
class Accessor:
    """The path of a value in a row: a position, then positions in nested structs."""

    position: int
    inner: Accessor | None = None

    def get(self, container: Any) -> Any:
        """Return the value of a row at this path; None if a struct of the path is null."""
        value = container[self.position]
        return value if self.inner is None or value is None else self.inner.get(value)

    def __repr__(self) -> str:
        return f"Accessor(position={self.position},inner={self.inner})"


def child_fields(kind: IcebergType) -> tuple[NestedField, ...]:
    """Return the child fields of a type: a struct's fields, ``element`` of a list, ``key`` and ``value`` of a map."""
    if isinstance(kind, StructType):
        return kind.fields
    if isinstance(kind, ListType):
        return (kind.element_field,)
    if isinstance(kind, MapType):
        return (kind.key_field, kind.value_field)
    return ()


def index_by_id(schema_or_type: Columned | IcebergType) -> dict[int, NestedField]:
    """Return the fields of every depth by field id.

    Raises:
        ValidationError: Two fields have the same id.
    """
    index: dict[int, NestedField] = {}
    for field, _, _ in walk(schema_or_type):
        if field.field_id in index:
            raise ValidationError(
                f"field id {field.field_id} is used by both {index[field.field_id].name!r} and {field.name!r}; give each field its own id"
            )
        index[field.field_id] = field
    return index


def index_by_name(schema_or_type: Columned | IcebergType) -> dict[str, int]:
    """Return the ids of the fields of every depth by full name, and by short name.

    The short name omits ``element`` and ``value`` of lists and maps of structs: ``points.x`` is ``points.element.x``.

    Raises:
        ValidationError: Two fields have the same full name.
    """
    index: dict[str, int] = {}
    short: dict[str, int] = {}
    for field, name, short_name in walk(schema_or_type):
        if name in index:
            raise ValidationError(
                f"Invalid schema, multiple fields for name {name}: {index[name]} and {field.field_id}; rename one of them"
            )
        index[name] = field.field_id
        short[short_name] = field.field_id
    return {**short, **index}


def index_name_by_id(schema_or_type: Columned | IcebergType) -> dict[int, str]:
    """Return the full names of the fields of every depth by id."""
    return {field.field_id: name for field, name, _ in walk(schema_or_type)}


def walk(
    schema_or_type: Columned | IcebergType, prefix: str = "", short: str = ""
) -> Iterator[tuple[NestedField, str, str]]:
    """Yield the fields of every depth, parents first, with their full and short names."""
    kind = struct_of(schema_or_type)
    for field in child_fields(kind):
        name = prefix + field.name
        short_name = short + field.name
        yield field, name, short_name
        is_omitted = field.field_type.is_struct and not kind.is_struct and field.name in {"element", "value"}
        yield from walk(field.field_type, f"{name}.", short if is_omitted else f"{short_name}.")


def build_position_accessors(schema_or_type: Columned | IcebergType) -> dict[int, Accessor]:
    """Return the accessors of the fields outside lists and maps, by field id."""
    kind = struct_of(schema_or_type)
    accessors: dict[int, Accessor] = {}
    if isinstance(kind, StructType):
        for position, field in enumerate(kind.fields):
            accessors[field.field_id] = Accessor(position)
            accessors.update(
                {key: Accessor(position, inner) for key, inner in build_position_accessors(field.field_type).items()}
            )
    return accessors


def struct_of(schema_or_type: Columned | IcebergType) -> IcebergType:
    """Return a type, or the columns of a schema as a struct type."""
    if isinstance(schema_or_type, IcebergType):
        return schema_or_type
    if not hasattr(schema_or_type, "as_struct"):
        raise ValidationError(f"schema: expected a Schema or a type, got {schema_or_type!r}")
    return schema_or_type.as_struct()


def rebuild_type(kind: IcebergType, change: Callable[[NestedField], NestedField | None]) -> IcebergType:
    """Return a type with each child field replaced by ``change(field)``; a struct's field is dropped if that is None."""
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
    """Return the fields with the selected ids, with the fields around them; see :func:`icefloe.schema.prune_columns`."""

    def prune(field: NestedField) -> NestedField | None:
        kind = field.field_type
        if field.field_id in selected and (select_full_types or not kind.is_struct):
            return field
        if isinstance(kind, StructType):
            inner = rebuild_type(kind, prune)
            has_selected = field.field_id in selected or (isinstance(inner, StructType) and len(inner.fields) > 0)
            return field.with_(field_type=inner) if has_selected else None
        if not any(child.field_id in selected for child, _, _ in walk(kind)):
            return None
        return field.with_(field_type=rebuild_type(kind, prune))

    return tuple(pruned for field in fields if (pruned := prune(field)) is not None)


def assign_fresh_type_ids(
    kind: IcebergType, next_id: Callable[[], int], fresh: dict[int, int] | None = None
) -> IcebergType:
    """Return a type with new field ids: first all fields of a level, then the fields inside each.

    Args:
        kind: The type.
        next_id: A function that returns the next id.
        fresh: Receives the new id of each old id.
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
