"""Parsing of primitive types from text, and of the keys of nested types from JSON objects. Spec: Appendix C."""

from __future__ import annotations

import re
from typing import Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.types.primitive import DecimalType, FixedType, GeographyType, GeometryType, PrimitiveType

_PLAIN: dict[str, PrimitiveType] = {
    str(kind()): kind()
    for kind in PrimitiveType.__subclasses__()
    if kind not in {DecimalType, FixedType, GeographyType, GeometryType}
}
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,4})\s*,\s*(-?\d{1,4})\s*\)", re.IGNORECASE)
_FIXED = re.compile(r"fixed\[\s*(\d{1,10})\s*\]", re.IGNORECASE)
_GEOMETRY = re.compile(r"geometry(?:\(\s*([^(),]+?)\s*\))?")
_GEOGRAPHY = re.compile(r"geography(?:\(\s*([^(),]+?)\s*(?:,\s*(\w+)\s*)?\))?")
_TYPE_NAME = re.compile(r"[a-z]\w*(?:[(\[<].*[)\]>])?", re.IGNORECASE)
_PARAMETERISED = re.compile(r"decimal\b|fixed\b|geometry\b|geography\b", re.IGNORECASE)
_UNSUPPORTED = {"variant"}


def type_from_text(text: str) -> PrimitiveType:
    """Return the primitive type of a text, in upper or lower case.

    Raises:
        ValidationError: The text is not a primitive type, or a parameter is out of range.
        FeatureUnsupportedError: The type is ``variant``.

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
    if text in _UNSUPPORTED:
        raise FeatureUnsupportedError(f"type {text}: not supported; expected a primitive type other than variant")
    raise ValidationError(
        f"type {text!r}: not a primitive type; expected one of {', '.join(_PLAIN)}, decimal(P, S) or fixed[L]"
    )


def known_type(text: str) -> PrimitiveType:
    """Return the primitive type of a text in table metadata.

    Raises:
        ValidationError: The text has the form of a known type, with wrong parameters, or of no type.
        FeatureUnsupportedError: The text has the form of a type, which may belong to a later format version.
    """
    try:
        return type_from_text(text)
    except ValidationError as error:
        if _TYPE_NAME.fullmatch(text) and not _PARAMETERISED.match(text):
            raise FeatureUnsupportedError(
                f"type {text!r} is not supported; expected a primitive type of format version 1 to 3"
            ) from error
        raise


def check_kind(data: dict[str, Any], kind: str) -> None:
    """Raise ValidationError for keywords that the JSON object of a nested type does not have."""
    stated = data.pop("type", kind)
    if stated != kind:
        raise ValidationError(f"type JSON: `type` of a {kind} must be '{kind}', got {stated!r}")
    if data:
        raise ValidationError(f"type JSON: unknown properties of a {kind}: {', '.join(sorted(data))}; remove them")


def integer(name: str, data: dict[str, Any], given: int | None) -> int:
    """Return an id that is passed under its Python name or under its JSON key."""
    field_id = data.pop(name.replace("_", "-"), given)
    if not isinstance(field_id, int) or isinstance(field_id, bool):
        raise ValidationError(f"type: `{name}` must be an integer, got {field_id!r}")
    return field_id


def boolean(name: str, data: dict[str, Any], given: bool) -> bool:
    """Return a boolean that is passed under its Python name or under its JSON key."""
    value = data.pop(name.replace("_", "-"), given)
    if not isinstance(value, bool):
        raise ValidationError(f"type: `{name}` must be True or False, got {value!r}")
    return value


def required_key(value: dict[str, Any], key: str, kind: type, owner: str) -> Any:
    """Return the value of a required key of a JSON object.

    Raises:
        ValidationError: The key is missing, or its value is of another type.
    """
    part = value.get(key)
    if part is None:
        article = "a " if owner in _KINDS else ""
        raise ValidationError(f"type JSON: `{key}` of {article}{owner} is missing; expected {_NAMES[kind]}")
    if not isinstance(part, kind) or (kind is int and isinstance(part, bool)):
        raise ValidationError(f"type JSON: `{key}` of {owner} must be {_NAMES[kind]}, got {part!r}")
    if isinstance(part, int) and not -(2**31) <= part < 2**31:
        raise ValidationError(f"type JSON: `{key}` of {owner} must be a 32-bit integer, got {part!r}")
    return part


_KINDS = {"type", "struct", "list", "map", "field"}
_NAMES: dict[type, str] = {str: "text", int: "an integer", bool: "a boolean", list: "a list"}
