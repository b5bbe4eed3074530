"""The schema: columns, and their lookup by id and by name. Spec: Schemas."""

from __future__ import annotations

import difflib
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, StrictInt, field_validator, model_serializer

from icefloe.arguments import checked_flag, checked_integer
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.schema.fields import (
    Accessor,
    build_position_accessors,
    child_fields,
    index_by_id,
    index_by_name,
    index_name_by_id,
    selected_fields,
)
from icefloe.schema.name_mapping import NameMapping, create_mapping_from_schema
from icefloe.typedef import JsonModel
from icefloe.types import DoubleType, FloatType, IcebergType, NestedField, StructType
from icefloe.types.arrow import field_to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

INITIAL_SCHEMA_ID = 0
# Higher ids are reserved for metadata columns. Spec: Reserved Field IDs.
MAX_COLUMN_ID = 2147483447


class Schema(JsonModel):
    """The columns of a table.

    Two schemas are equal if their columns and identifier fields are equal, whatever their schema ids.

    Args:
        fields: Columns in order.
        schema_id (int): Id of the schema in its table.
        identifier_field_ids (list[int]): Ids of the columns that together identify a row.

    Raises:
        ValidationError: Two fields share an id or a full name, or an identifier field is optional, nested in an optional struct, a
            list or a map, or of type float or double.

    >>> from icefloe.types import LongType, NestedField, StringType
    >>> schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType()))
    >>> schema.find_field("name").field_id
    2
    """

    type: Literal["struct"] = "struct"
    fields: tuple[NestedField, ...] = ()
    schema_id: StrictInt = INITIAL_SCHEMA_ID
    identifier_field_ids: list[StrictInt] = Field(default_factory=list)

    def __init__(self, *fields: NestedField, **data: Any) -> None:
        if fields:
            data["fields"] = fields
        super().__init__(**data)
        self._check()

    @field_validator("identifier_field_ids", mode="before")
    @classmethod
    def _absent_identifiers_are_none(cls, value: Any) -> Any:
        return [] if value is None else value

    @model_serializer(mode="plain")
    def _to_json_object(self) -> dict[str, Any]:
        value: dict[str, Any] = {"type": "struct", "schema-id": self.schema_id}
        if self.identifier_field_ids:
            value["identifier-field-ids"] = self.identifier_field_ids
        value["fields"] = [field.to_json_value() for field in self.fields]
        return value

    @cached_property
    def _json(self) -> str:
        return super().model_dump_json()

    def model_dump_json(self, **options: Any) -> str:
        """Return the JSON object as text. The text without options is kept: a commit passes it to the core many times."""
        return super().model_dump_json(**options) if options else self._json

    def _check(self) -> None:
        _ = self._by_id, self._names  # computing the indexes raises for duplicates
        for field_id in self.identifier_field_ids:
            self._check_identifier(field_id)

    def _check_identifier(self, field_id: int) -> None:
        """Raise ValidationError for an identifier field that the specification forbids. Spec: Identifier Field IDs."""
        field = self.find_field(field_id)
        subject = f"Identifier field {field_id} invalid"
        if not field.field_type.is_primitive:
            raise ValidationError(
                f"{subject}: not a primitive type field; expected a primitive type, {field.name!r} is a {field.field_type}"
            )
        if isinstance(field.field_type, (FloatType, DoubleType)):
            raise ValidationError(
                f"{subject}: must not be float or double field; {field.name!r} is a {field.field_type}"
            )
        if not field.required:
            raise ValidationError(
                f"{subject}: not a required field; expected a required field, {field.name!r} is optional"
            )
        while (parent := self.parent_ids.get(field.field_id)) is not None:
            field = self.find_field(parent)
            if not field.field_type.is_struct:
                raise ValidationError(f"{subject}: nested in {field.name!r}; expected a struct, got {field.field_type}")
            if not field.required:
                raise ValidationError(f"{subject}: nested in an optional field {field.name!r}; it must be required")

    @property
    def columns(self) -> tuple[NestedField, ...]:
        """The top-level columns."""
        return self.fields

    @cached_property
    def _by_id(self) -> dict[int, NestedField]:
        return index_by_id(self)

    @cached_property
    def _names(self) -> dict[str, int]:
        return index_by_name(self)

    def column_id(self, name: str) -> int | None:
        """Return the id of the field of a full or short name, None if the schema has no such field."""
        return self._names.get(name)

    @cached_property
    def _lower_names(self) -> dict[str, list[int]]:
        lower: dict[str, list[int]] = {}
        for name, field_id in self._names.items():
            ids = lower.setdefault(name.lower(), [])
            if field_id not in ids:
                ids.append(field_id)
        return lower

    @cached_property
    def _full_names(self) -> dict[int, str]:
        return index_name_by_id(self)

    @cached_property
    def parent_ids(self) -> dict[int, int]:
        """The id of the parent of each nested field; the dictionary must not be modified."""
        return {
            child.field_id: field.field_id for field in self._by_id.values() for child in child_fields(field.field_type)
        }

    def container_of(self, field_id: int) -> NestedField | None:
        """Return the innermost list or map around a field, or None if the field is a column or a field of structs alone."""
        parent = self.parent_ids.get(field_id)
        while parent is not None:
            field = self.find_field(parent)
            if not field.field_type.is_struct:
                return field
            parent = self.parent_ids.get(parent)
        return None

    @cached_property
    def _accessors(self) -> dict[int, Accessor]:
        return build_position_accessors(self)

    def as_struct(self) -> StructType:
        """Return the columns as a struct type."""
        return StructType(*self.fields)

    def as_arrow(self) -> pa.Schema:
        """Return the Arrow schema of scans of this schema; field ids are in the metadata of the fields."""
        import pyarrow as pa

        return pa.schema([field_to_arrow(field) for field in self.fields])

    def find_field(self, name_or_id: str | int, case_sensitive: bool = True) -> NestedField:
        """Return a field of any depth by its id or its full name, such as ``point.x`` or ``tags.element``.

        Args:
            name_or_id: Field id or full name.
            case_sensitive: Whether the name must match exactly.

        Raises:
            ResolveError: The schema has no such field, or several whose names differ by case alone.
        """
        if isinstance(name_or_id, int) and not isinstance(name_or_id, bool):
            field = self._by_id.get(name_or_id)
            if field is None:
                raise ResolveError(f"Could not find field with id: {name_or_id}; ids are {sorted(self._by_id)}")
            return field
        if not isinstance(name_or_id, str):
            raise ResolveError(f"column: expected its full name or its field id, got {name_or_id!r}")
        if case_sensitive is True:
            field_id = self._names.get(name_or_id)
        else:
            checked_flag("case_sensitive", case_sensitive)
            ids = self._lower_names.get(name_or_id.lower(), [])
            if len(ids) > 1:
                fields = " and ".join(str(self._full_names[field_id]) for field_id in ids)
                raise ResolveError(
                    f"column name {name_or_id!r} is ambiguous when case is ignored: {fields}; match case exactly"
                )
            field_id = ids[0] if ids else None
        if field_id is None:
            raise ResolveError(
                f"Could not find field with name {name_or_id}, case_sensitive={case_sensitive}; "
                f"{self._near_misses(name_or_id)}"
            )
        return self._by_id[field_id]

    def _near_misses(self, name: str) -> str:
        """Return a hint for a misspelled name: similar names, else the first 20 names of the schema."""
        names = self.column_names
        similar = [known for known in names if known.lower().rpartition(".")[2] == name.lower().rpartition(".")[2]]
        similar += [known for known in difflib.get_close_matches(name, names, cutoff=0.75) if known not in similar]
        if similar:
            return f"did you mean {' or '.join(similar[:20])}?"
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        return f"columns are {', '.join(names[:20])}{more}"

    def find_type(self, name_or_id: str | int, case_sensitive: bool = True) -> IcebergType:
        """Return the type of a field; see :meth:`find_field`."""
        return self.find_field(name_or_id, case_sensitive).field_type

    def find_column_name(self, column_id: int) -> str | None:
        """Return the full name of a field; None for an unknown id."""
        return self._full_names.get(column_id if type(column_id) is int else checked_integer("column_id", column_id))

    @property
    def column_names(self) -> list[str]:
        """The full names of the fields of every depth."""
        return list(self._full_names.values())

    @property
    def highest_field_id(self) -> int:
        """The highest field id of any depth; 0 of a schema without columns."""
        return max(self._by_id, default=0)

    @property
    def field_ids(self) -> set[int]:
        """The ids of the fields of every depth."""
        return set(self._by_id)

    @cached_property
    def name_mapping(self) -> NameMapping:
        """The name mapping of this schema: its current names and field ids."""
        return create_mapping_from_schema(self)

    def accessor_for_field(self, field_id: int) -> Accessor:
        """Return the accessor of a field's value in a row.

        Raises:
            ResolveError: The id is unknown, or the field is nested in a list or a map.
        """
        if field_id not in self._accessors:
            raise ResolveError(
                f"Could not find accessor for field with id: {field_id}; expected the id of a field outside lists and maps"
            )
        return self._accessors[field_id]

    def identifier_field_names(self) -> set[str]:
        """Return the full names of the identifier fields."""
        return {self._full_names[field_id] for field_id in self.identifier_field_ids}

    def select(self, *names: str, case_sensitive: bool = True) -> Schema:
        """Return the schema of the named fields, with the fields around and inside them, in the order of this schema.

        Args:
            names: Full names of fields of any depth; ``*`` selects every column.
            case_sensitive: Whether names must match exactly.

        Raises:
            ResolveError: The schema has no field of a name, or several that differ by case alone.

        >>> from icefloe.types import NestedField
        >>> Schema(NestedField(1, "id", "long"), NestedField(2, "name", "string")).select("name").column_names
        ['name']
        """
        if "*" in names:
            return self
        selected = {self._selected(name, case_sensitive) for name in names}
        return self.with_columns(selected_fields(self.fields, selected))

    def _selected(self, name: str, case_sensitive: bool) -> int:
        try:
            return self.find_field(name, case_sensitive).field_id
        except ResolveError as error:
            raise ResolveError(f"Could not find column: {name!r}; {str(error).partition('; ')[2]}") from error

    def with_columns(self, fields: tuple[NestedField, ...]) -> Schema:
        """Return a schema of other columns with this schema's id and its identifier fields among them."""
        known = index_by_id(StructType(*fields))
        identifiers = [field_id for field_id in self.identifier_field_ids if field_id in known]
        return Schema(fields=fields, schema_id=self.schema_id, identifier_field_ids=identifiers)

    def check_format_version_compatibility(self, format_version: int) -> None:
        """Raise ValidationError if a column has a type of a later format version than ``format_version``."""
        for field in self._by_id.values():
            needed = field.field_type.minimum_format_version()
            if needed > format_version:
                raise ValidationError(
                    f"column {self.find_column_name(field.field_id)}: {field.field_type} needs format version {needed}, the table has {format_version}; upgrade the table"
                )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self.fields == other.fields and set(self.identifier_field_ids) == set(other.identifier_field_ids)

    def __hash__(self) -> int:
        return hash(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        lines = "".join(f"\n  {field}" for field in self.fields)
        return f"table {{{lines}\n}}"

    def __repr__(self) -> str:
        fields = "".join(f"{field!r}, " for field in self.fields)
        return f"Schema({fields}schema_id={self.schema_id}, identifier_field_ids={self.identifier_field_ids})"
