"""Name mappings: the field ids of columns in files without ids, by name. Spec: Column Projection, Name Mapping Serialization."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field, RootModel, StrictInt, model_serializer
from pydantic import ValidationError as PydanticError
from pydantic_core import from_json

from icefloe.arguments import checked_text
from icefloe.exceptions import ValidationError
from icefloe.schema.fields import child_fields, struct_of
from icefloe.typedef import JsonModel, explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from icefloe.schema.fields import Columned
    from icefloe.types import IcebergType, NestedField


class MappedField(JsonModel):
    """A field id, the names of its column in files, and the mapped child fields."""

    field_id: StrictInt | None = None
    names: tuple[str, ...] = ()
    fields: tuple[MappedField, ...] = Field(default=())

    @model_serializer(mode="plain")
    def _to_json_object(self) -> dict[str, Any]:
        value: dict[str, Any] = {} if self.field_id is None else {"field-id": self.field_id}
        value["names"] = list(self.names)
        if self.fields:
            value["fields"] = [field.model_dump() for field in self.fields]
        return value

    def __repr__(self) -> str:
        return f"MappedField(field_id={self.field_id}, names={list(self.names)!r}, fields={list(self.fields)!r})"

    def __str__(self) -> str:
        below = f" {', '.join(map(str, self.fields))}" if self.fields else ""
        return f"([{', '.join(self.names)}] -> {self.field_id}{below})"


class NameMapping(RootModel[tuple[MappedField, ...]]):
    """The name mapping of a table.

    >>> parse_mapping_from_json('[{"field-id": 1, "names": ["id", "ID"]}]').find("ID").field_id
    1
    """

    model_config = ConfigDict(frozen=True)
    root: tuple[MappedField, ...] = ()

    def find(self, *names: str) -> MappedField:
        """Return the field at a path of names.

        Args:
            names: The names from the top level down; a name may contain dots. A single name with dots may also be a path.

        Raises:
            ValidationError: The mapping has no such field.
        """
        field = self._by_path.get(names) or self._by_path.get(tuple(".".join(names).split(".")))
        if field is None:
            known = ", ".join(name for mapped in self.root[:20] for name in mapped.names)
            raise ValidationError(f"name mapping: no field with name {'.'.join(names)!r}; top-level names are {known}")
        return field

    @cached_property
    def _by_path(self) -> dict[tuple[str, ...], MappedField]:
        return dict(_paths(self.root, ()))

    def __len__(self) -> int:
        return len(self.root)

    def __iter__(self) -> Iterator[MappedField]:  # type: ignore[override]  # pydantic iterates over attributes
        return iter(self.root)

    def __repr__(self) -> str:
        return f"NameMapping(root={list(self.root)!r})"

    def __str__(self) -> str:
        lines = "".join(f"\n  {field}" for field in self.root)
        return f"[{lines}\n]" if lines else "[]"


def parse_mapping_from_json(mapping: str) -> NameMapping:
    """Return the mapping of a JSON text. Spec: Name Mapping Serialization.

    Raises:
        ValidationError: The text is not JSON, or not a list of mapped fields.
    """
    try:
        return NameMapping.model_validate(from_json(checked_text("name mapping", mapping)))
    except PydanticError as error:
        raise ValidationError(explain("name mapping", error)) from error
    except ValueError as error:
        raise ValidationError(f"name mapping: not valid JSON: {error}") from error


def create_mapping_from_schema(schema: Columned) -> NameMapping:
    """Return the mapping in which every field has its current name."""
    return NameMapping(tuple(map(_mapped, child_fields(struct_of(schema)))))


def update_mapping(
    mapping: NameMapping, updates: Mapping[int, NestedField], adds: Mapping[int, Sequence[NestedField]]
) -> NameMapping:
    """Return the mapping after a schema change.

    Args:
        mapping: The mapping before.
        updates: Changed fields by id; a new name is added to the names of its field.
        adds: New fields by the id of their parent, -1 at the top level. A name of a new field is removed from its siblings.
    """
    return NameMapping(_updated(mapping.root, -1, updates, adds))


def _mapped(field: NestedField) -> MappedField:
    below: IcebergType = field.field_type
    return MappedField(field_id=field.field_id, names=(field.name,), fields=tuple(map(_mapped, child_fields(below))))


def _paths(fields: Sequence[MappedField], prefix: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], MappedField]]:
    for field in fields:
        for name in field.names:
            yield (*prefix, name), field
            yield from _paths(field.fields, (*prefix, name))


def _updated(
    fields: Sequence[MappedField],
    parent_id: int,
    updates: Mapping[int, NestedField],
    adds: Mapping[int, Sequence[NestedField]],
) -> tuple[MappedField, ...]:
    new = [_mapped(field) for field in adds.get(parent_id, ())]
    taken = {name for field in new for name in field.names}
    taken |= {
        updates[field.field_id].name for field in fields if field.field_id is not None and field.field_id in updates
    }
    changed = []
    for field in fields:
        renamed = updates.get(field.field_id) if field.field_id is not None else None
        names = tuple(
            name for name in field.names if name not in taken or (renamed is not None and name == renamed.name)
        )
        if renamed is not None and renamed.name not in names:
            names = (*names, renamed.name)
        below = _updated(field.fields, field.field_id if field.field_id is not None else -2, updates, adds)
        changed.append(MappedField(field_id=field.field_id, names=names, fields=below))
    return (*changed, *new)
