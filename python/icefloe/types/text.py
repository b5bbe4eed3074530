"""Reading a type from its text or its JSON form. Spec: Appendix C."""

from __future__ import annotations

import re
from typing import Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.types.nested import ListType, MapType, NestedField, StructType
from icefloe.types.primitive import DecimalType, FixedType, GeographyType, GeometryType, IcebergType, PrimitiveType

# Deeper nesting than any real schema has, shallower than the interpreter's stack.
MAX_DEPTH = 64

_PLAIN: dict[str, PrimitiveType] = {
    str(kind()): kind()
    for kind in PrimitiveType.__subclasses__()
    if kind not in {DecimalType, FixedType, GeographyType, GeometryType}
}
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)", re.IGNORECASE)
_FIXED = re.compile(r"fixed\[\s*(\d{1,9})\s*\]", re.IGNORECASE)
_GEOMETRY = re.compile(r"geometry(?:\(\s*([^(),]+?)\s*\))?")
_GEOGRAPHY = re.compile(r"geography(?:\(\s*([^(),]+?)\s*(?:,\s*(\w+)\s*)?\))?")
_TYPE_NAME = re.compile(r"[a-z]\w*(?:[(\[<].*[)\]>])?", re.IGNORECASE)
_PARAMETERISED = re.compile(r"decimal\b|fixed\b|geometry\b|geography\b", re.IGNORECASE)
_REFUSED = {"variant"}


def type_from_text(text: str) -> PrimitiveType:
    """Return the primitive type that a text spells, in upper or lower case.

    >>> type_from_text("decimal(9,2)")
    DecimalType(precision=9, scale=2)
    """
    if (plain := _PLAIN.get(text.lower())) is not None:
        return plain
    if match := _DECIMAL.fullmatch(text):
        return DecimalType(int(match[1]), int(match[2]))
    if match := _FIXED.fullmatch(text):
        return FixedType(int(match[1]))
    if match := _GEOMETRY.fullmatch(text):
        return GeometryType(*(part for part in match.groups() if part))
    if match := _GEOGRAPHY.fullmatch(text):
        return GeographyType(*(part for part in match.groups() if part))
    if text in _REFUSED:
        raise FeatureUnsupportedError(f"type {text} of format version 3 is not supported")
    raise ValidationError(f"no such type: {text!r}")


def _known_type(text: str) -> PrimitiveType:
    """Return the type that metadata spell; one that no format version up to the third has is a later one's."""
    try:
        return type_from_text(text)
    except ValidationError as error:
        if _TYPE_NAME.fullmatch(text) and not _PARAMETERISED.match(text):
            raise FeatureUnsupportedError(f"type {text!r} is not supported") from error
        raise


def type_from_json(value: Any, depth: int = 0) -> IcebergType:
    """Return the type that a JSON value describes; ValidationError says what is missing or of the wrong kind."""
    if isinstance(value, IcebergType):
        return value
    if isinstance(value, str):
        return _known_type(value)
    if not isinstance(value, dict):
        raise ValidationError(f"a type is text or an object, found {value!r}")
    if depth > MAX_DEPTH:
        raise ValidationError(f"types are nested more than {MAX_DEPTH} deep")
    kind = _get(value, "type", str, "type")
    if kind == "struct":
        return StructType(*(field_from_json(field, depth + 1) for field in _get(value, "fields", list, "struct")))
    if kind == "list":
        return ListType(
            _get(value, "element-id", int, "list"),
            type_from_json(value.get("element"), depth + 1),
            _get(value, "element-required", bool, "list"),
        )
    if kind == "map":
        return MapType(
            _get(value, "key-id", int, "map"),
            type_from_json(value.get("key"), depth + 1),
            _get(value, "value-id", int, "map"),
            type_from_json(value.get("value"), depth + 1),
            _get(value, "value-required", bool, "map"),
        )
    return _known_type(kind)


def field_from_json(value: Any, depth: int = 0) -> NestedField:
    """Return the field that a JSON object describes."""
    if isinstance(value, NestedField):
        return value
    if not isinstance(value, dict):
        raise ValidationError(f"a field is an object, found {value!r}")
    name = _get(value, "name", str, "field")
    doc = value.get("doc")
    if doc is not None and not isinstance(doc, str):
        raise ValidationError(f"`doc` of field {name!r} must be text, found {doc!r}")
    return NestedField(
        _get(value, "id", int, f"field {name!r}"),
        name,
        type_from_json(value.get("type"), depth),
        _get(value, "required", bool, f"field {name!r}"),
        doc,
        value.get("initial-default"),
        value.get("write-default"),
    )


def _get(value: dict[str, Any], key: str, kind: type, owner: str) -> Any:
    found = value.get(key)
    if found is None:
        raise ValidationError(
            f"`{key}` of a {owner} is missing" if owner in _KINDS else f"`{key}` of {owner} is missing"
        )
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise ValidationError(f"`{key}` of {owner} must be {_NAMES[kind]}, found {found!r}")
    if isinstance(found, int) and not -(2**31) <= found < 2**31:
        raise ValidationError(f"`{key}` of {owner} must be an integer of 32 bits, found {found!r}")
    return found


_KINDS = {"type", "struct", "list", "map", "field"}
_NAMES: dict[type, str] = {str: "text", int: "an integer", bool: "true or false", list: "a list"}
