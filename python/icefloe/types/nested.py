"""Struct, list and map types, fields, and their JSON. Spec: Nested Types, Appendix C."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.types.parsing import boolean, check_kind, integer, known_type, required_key
from icefloe.types.primitive import IcebergType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

# The maximum nesting of types; deeper JSON could exhaust the interpreter's stack.
MAX_DEPTH = 64


class _NestedValue(IcebergType):
    """A field, struct, list or map: an immutable value with a JSON object."""

    __slots__ = ()

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Return the value that a JSON object describes; see :func:`type_from_json` and :func:`field_from_json`."""
        del options
        value = field_from_json(obj) if cls is NestedField else type_from_json(obj)
        if not isinstance(value, cls):
            raise ValidationError(f"type JSON: expected a {cls.__name__}, got {value!r}")
        return value

    @classmethod
    def model_validate_json(cls, json_data: str | bytes, **options: Any) -> Self:
        """Return the value that a JSON text describes; see :meth:`model_validate`."""
        try:
            return cls.model_validate(json.loads(json_data), **options)
        except json.JSONDecodeError as error:
            raise ValidationError(f"{cls.__name__}: not JSON: {error}; expected the JSON of Appendix C") from error

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some attributes changed; `deep` has no effect, since all attributes are immutable."""
        del deep
        changed = object.__new__(type(self))
        for name in self.__dataclass_fields__:  # type: ignore[attr-defined]
            value = update[name] if update is not None and name in update else getattr(self, name)
            object.__setattr__(changed, name, value)
        return changed


@dataclass(frozen=True, slots=True, init=False, repr=False)
class NestedField(_NestedValue):
    """A column, or a field of a struct, or the element of a list, or the key or value of a map.

    Args:
        field_id: Id that is unique in the table and never reused; also accepted as ``id``.
        name: Name, unique among the fields of the same struct.
        field_type: A type or its text; also accepted as ``type``.
        required: Whether nulls are refused.
        doc: Comment, or None.
        initial_default: Value of rows that were written before the column existed: a JSON single value (format version 3).
        write_default: Value of rows that are written without the column: a JSON single value (format version 3).

    Raises:
        ValidationError: The id, the name or the type is missing, or an argument has another type.

    >>> str(NestedField(1, "id", "long", required=True))
    '1: id: required long'
    """

    field_id: int
    name: str
    field_type: IcebergType
    required: bool
    doc: str | None
    initial_default: Any
    write_default: Any

    def __init__(  # noqa: PLR0913 - the signature is shared with PyIceberg
        self,
        field_id: int | None = None,
        name: str | None = None,
        field_type: IcebergType | str | dict[str, Any] | None = None,
        required: bool = False,
        doc: str | None = None,
        initial_default: Any = None,
        write_default: Any = None,
        **aliases: Any,
    ) -> None:
        field_id = aliases.pop("id", field_id)
        field_type = aliases.pop("type", field_type)
        initial_default = aliases.pop("initial-default", initial_default)
        write_default = aliases.pop("write-default", write_default)
        if aliases:
            raise ValidationError(f"field: unknown properties of a field: {', '.join(sorted(aliases))}; remove them")
        if not isinstance(field_id, int) or isinstance(field_id, bool):
            raise ValidationError(f"field {name!r}: the id must be an integer, got {field_id!r}")
        if not isinstance(name, str):
            raise ValidationError(f"field {field_id}: the name must be text, got {name!r}")
        if field_type is None:
            raise ValidationError(f"field {name!r} needs a type; expected a type such as 'long', got None")
        if not isinstance(required, bool) or not isinstance(doc, str | None):
            raise ValidationError(f"field {name!r}: expected a boolean and text or None, got {required!r} and {doc!r}")
        object.__setattr__(self, "field_id", field_id)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "field_type", type_from_json(field_type))
        object.__setattr__(self, "required", required)
        object.__setattr__(self, "doc", doc)
        object.__setattr__(self, "initial_default", initial_default)
        object.__setattr__(self, "write_default", write_default)

    @property
    def optional(self) -> bool:
        """Whether nulls are allowed."""
        return not self.required

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            field_from_json, serialization=core_schema.plain_serializer_function_ser_schema(cls.to_json_value)
        )

    def with_(self, **changes: Any) -> NestedField:
        """Return a copy of the field with some attributes changed."""
        return replace(self, **changes)

    def to_json_value(self) -> dict[str, Any]:
        """Return the JSON object. Spec: Appendix C."""
        value = {
            "id": self.field_id,
            "name": self.name,
            "required": self.required,
            "type": self.field_type.to_json_value(),
            "doc": self.doc,
            "initial-default": self.initial_default,
            "write-default": self.write_default,
        }
        return {key: part for key, part in value.items() if part is not None}

    def __str__(self) -> str:
        comment = "" if self.doc is None else f" ({self.doc})"
        return f"{self.field_id}: {self.name}: {'required' if self.required else 'optional'} {self.field_type}{comment}"

    def __repr__(self) -> str:
        parts = [
            f"field_id={self.field_id}, name={self.name!r}, field_type={self.field_type!r}, required={self.required}"
        ]
        defaults = {"initial_default": self.initial_default, "write_default": self.write_default}
        parts += [f"{key}={value!r}" for key, value in defaults.items() if value is not None]
        return f"NestedField({', '.join(parts)})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class StructType(_NestedValue):
    """A struct of named fields.

    >>> str(StructType(NestedField(1, "x", "int"), NestedField(2, "y", "int")))
    'struct<1: x: optional int, 2: y: optional int>'
    """

    fields: tuple[NestedField, ...]

    def __init__(self, *fields: NestedField, **data: Any) -> None:
        given: Iterable[Any] = fields if len(fields) > 0 else data.pop("fields", ())
        check_kind(data, "struct")
        object.__setattr__(self, "fields", tuple(map(field_from_json, given)))

    @property
    def type(self) -> str:
        """The value of the key ``type`` in JSON."""
        return "struct"

    @property
    def is_struct(self) -> bool:
        """Whether this is a struct: always true."""
        return True

    def field(self, field_id: int) -> NestedField | None:
        """Return the direct field of an id, or None."""
        return next((field for field in self.fields if field.field_id == field_id), None)

    def field_by_name(self, name: str, case_sensitive: bool = True) -> NestedField | None:
        """Return the direct field of a name, or None."""
        if case_sensitive:
            return next((field for field in self.fields if field.name == name), None)
        return next((field for field in self.fields if field.name.lower() == name.lower()), None)

    def to_json_value(self) -> dict[str, Any]:
        """Return the JSON object. Spec: Appendix C."""
        return {"type": "struct", "fields": [field.to_json_value() for field in self.fields]}

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"struct<{', '.join(map(str, self.fields))}>"

    def __repr__(self) -> str:
        return f"StructType(fields=({', '.join(map(repr, self.fields))},))"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ListType(_NestedValue):
    """A list of elements of one type.

    >>> str(ListType(2, "string", element_required=False))
    'list<string>'
    """

    element_id: int
    element_type: IcebergType
    element_required: bool

    def __init__(
        self,
        element_id: int | None = None,
        element: IcebergType | str | dict[str, Any] | None = None,
        element_required: bool = True,
        **data: Any,
    ) -> None:
        element_id = integer("element_id", data, element_id)
        element = data.pop("element_type", element)
        element_required = boolean("element_required", data, element_required)
        check_kind(data, "list")
        if element is None:
            raise ValidationError(f"list with element id {element_id}: the element type is missing; pass element=")
        object.__setattr__(self, "element_id", element_id)
        object.__setattr__(self, "element_type", type_from_json(element))
        object.__setattr__(self, "element_required", element_required)

    @property
    def type(self) -> str:
        """The value of the key ``type`` in JSON."""
        return "list"

    @property
    def element_field(self) -> NestedField:
        """The element as a field named ``element``."""
        return NestedField(self.element_id, "element", self.element_type, self.element_required)

    def to_json_value(self) -> dict[str, Any]:
        """Return the JSON object. Spec: Appendix C."""
        return {
            "type": "list",
            "element-id": self.element_id,
            "element": self.element_type.to_json_value(),
            "element-required": self.element_required,
        }

    def __str__(self) -> str:
        return f"list<{self.element_type}>"

    def __repr__(self) -> str:
        return (
            f"ListType(type='list', element_id={self.element_id}, element_type={self.element_type!r}, "
            f"element_required={self.element_required})"
        )


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MapType(_NestedValue):
    """A map from keys of one type, never null, to values of one type.

    >>> str(MapType(2, "string", 3, "int"))
    'map<string, int>'
    """

    key_id: int
    key_type: IcebergType
    value_id: int
    value_type: IcebergType
    value_required: bool

    def __init__(
        self,
        key_id: int | None = None,
        key_type: IcebergType | str | dict[str, Any] | None = None,
        value_id: int | None = None,
        value_type: IcebergType | str | dict[str, Any] | None = None,
        value_required: bool = True,
        **data: Any,
    ) -> None:
        key_id = integer("key_id", data, key_id)
        value_id = integer("value_id", data, value_id)
        key_type = data.pop("key", key_type)
        value_type = data.pop("value", value_type)
        value_required = boolean("value_required", data, value_required)
        check_kind(data, "map")
        if key_type is None or value_type is None:
            missing = "key" if key_type is None else "value"
            raise ValidationError(f"map with key id {key_id}: the {missing} type is missing; pass {missing}_type=")
        object.__setattr__(self, "key_id", key_id)
        object.__setattr__(self, "key_type", type_from_json(key_type))
        object.__setattr__(self, "value_id", value_id)
        object.__setattr__(self, "value_type", type_from_json(value_type))
        object.__setattr__(self, "value_required", value_required)

    @property
    def type(self) -> str:
        """The value of the key ``type`` in JSON."""
        return "map"

    @property
    def key_field(self) -> NestedField:
        """The key as a required field named ``key``."""
        return NestedField(self.key_id, "key", self.key_type, required=True)

    @property
    def value_field(self) -> NestedField:
        """The value as a field named ``value``."""
        return NestedField(self.value_id, "value", self.value_type, self.value_required)

    def to_json_value(self) -> dict[str, Any]:
        """Return the JSON object. Spec: Appendix C."""
        return {
            "type": "map",
            "key-id": self.key_id,
            "key": self.key_type.to_json_value(),
            "value-id": self.value_id,
            "value": self.value_type.to_json_value(),
            "value-required": self.value_required,
        }

    def __str__(self) -> str:
        return f"map<{self.key_type}, {self.value_type}>"

    def __repr__(self) -> str:
        return (
            f"MapType(type='map', key_id={self.key_id}, key_type={self.key_type!r}, value_id={self.value_id}, "
            f"value_type={self.value_type!r}, value_required={self.value_required})"
        )


def type_from_json(value: Any, depth: int = 0) -> IcebergType:
    """Return the type that a JSON value describes. Spec: Appendix C.

    Raises:
        ValidationError: A key is missing or has a value of the wrong type, or types are nested too deeply.
        FeatureUnsupportedError: The type belongs to a later format version.

    >>> str(type_from_json({"type": "list", "element-id": 3, "element": "decimal(9,2)", "element-required": True}))
    'list<decimal(9, 2)>'
    """
    if isinstance(value, IcebergType):
        return value
    if isinstance(value, str):
        return known_type(value)
    if not isinstance(value, dict):
        raise ValidationError(f"type JSON: expected text or an object, got {value!r}")
    if depth > MAX_DEPTH:
        raise ValidationError(f"type JSON: types are nested more than {MAX_DEPTH} deep")
    kind = required_key(value, "type", str, "type")
    if kind == "struct":
        return StructType(
            *(field_from_json(field, depth + 1) for field in required_key(value, "fields", list, "struct"))
        )
    if kind == "list":
        return ListType(
            required_key(value, "element-id", int, "list"),
            type_from_json(value.get("element"), depth + 1),
            required_key(value, "element-required", bool, "list"),
        )
    if kind == "map":
        return MapType(
            required_key(value, "key-id", int, "map"),
            type_from_json(value.get("key"), depth + 1),
            required_key(value, "value-id", int, "map"),
            type_from_json(value.get("value"), depth + 1),
            required_key(value, "value-required", bool, "map"),
        )
    return known_type(kind)


def field_from_json(value: Any, depth: int = 0) -> NestedField:
    """Return the field that a JSON object describes; ValidationError if a key is missing or of the wrong type."""
    if isinstance(value, NestedField):
        return value
    if not isinstance(value, dict):
        raise ValidationError(f"field JSON: expected an object, got {value!r}")
    name = required_key(value, "name", str, "field")
    doc = value.get("doc")
    if doc is not None and not isinstance(doc, str):
        raise ValidationError(f"field JSON: `doc` of field {name!r} must be text, got {doc!r}")
    return NestedField(
        required_key(value, "id", int, f"field {name!r}"),
        name,
        type_from_json(value.get("type"), depth),
        required_key(value, "required", bool, f"field {name!r}"),
        doc,
        value.get("initial-default"),
        value.get("write-default"),
    )
