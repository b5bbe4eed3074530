"""Fields of every depth, indexed by id and by full name, and how to reach their values in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from icefloe.exceptions import ValidationError
from icefloe.types import IcebergType, ListType, MapType, NestedField, StructType

if TYPE_CHECKING:
    from collections.abc import Iterator


class Columned(Protocol):
    """What has columns: a schema."""

    def as_struct(self) -> StructType:
        """Return the columns as a struct type."""


@dataclass(frozen=True, slots=True, repr=False)
class Accessor:
    """How to reach a value in a row: a position, then positions in the structs inside."""

    position: int
    inner: Accessor | None = None

    def get(self, container: Any) -> Any:
        """Return the value at this position of a row; None if a struct on the way is null."""
        value = container[self.position]
        return value if self.inner is None or value is None else self.inner.get(value)

    def __repr__(self) -> str:
        return f"Accessor(position={self.position},inner={self.inner})"


def child_fields(kind: IcebergType) -> tuple[NestedField, ...]:
    """Return the fields directly below a type: a struct's, or ``element``, or ``key`` and ``value``."""
    if isinstance(kind, StructType):
        return kind.fields
    if isinstance(kind, ListType):
        return (kind.element_field,)
    if isinstance(kind, MapType):
        return (kind.key_field, kind.value_field)
    return ()


def index_by_id(schema_or_type: Columned | IcebergType) -> dict[int, NestedField]:
    """Return the fields of every depth by id; ValidationError if an id occurs twice."""
    index: dict[int, NestedField] = {}
    for field, _, _ in walk(schema_or_type):
        if field.field_id in index:
            raise ValidationError(
                f"field id {field.field_id} is used by both {index[field.field_id].name!r} and {field.name!r}"
            )
        index[field.field_id] = field
    return index


def index_by_name(schema_or_type: Columned | IcebergType) -> dict[str, int]:
    """Return the ids of the fields of every depth by full name, and by short name: without ``element`` and ``value`` of structs."""
    index: dict[str, int] = {}
    short: dict[str, int] = {}
    for field, name, short_name in walk(schema_or_type):
        if name in index:
            raise ValidationError(
                f"Invalid schema, multiple fields for name {name}: {index[name]} and {field.field_id}"
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
    """Yield each field of every depth, parents first, with its full and its short name."""
    kind = struct_of(schema_or_type)
    for field in child_fields(kind):
        name = prefix + field.name
        short_name = short + field.name
        yield field, name, short_name
        # The struct inside a list or a map value lends its names to the list or map: `points.x` is `points.element.x`.
        silent = field.field_type.is_struct and not kind.is_struct and field.name in {"element", "value"}
        yield from walk(field.field_type, f"{name}.", short if silent else f"{short_name}.")


def build_position_accessors(schema_or_type: Columned | IcebergType) -> dict[int, Accessor]:
    """Return how to reach each field that is not inside a list or a map, by id."""
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
    """Return a schema's columns as a struct type; a type as it is."""
    return schema_or_type if isinstance(schema_or_type, IcebergType) else schema_or_type.as_struct()
