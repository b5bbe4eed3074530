"""Primitive types from their texts, and the keys of the JSON objects of nested types. Spec: Appendix C."""

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


def known_type(text: str) -> PrimitiveType:
    """Return the type that metadata spell; one that no format version up to the third has is a later one's."""
    try:
        return type_from_text(text)
    except ValidationError as error:
        if _TYPE_NAME.fullmatch(text) and not _PARAMETERISED.match(text):
            raise FeatureUnsupportedError(f"type {text!r} is not supported") from error
        raise


def check_kind(data: dict[str, Any], kind: str) -> None:
    """Refuse keywords that no JSON object of this kind has."""
    if data.pop("type", kind) != kind:
        raise ValidationError(f"`type` of a {kind} must be '{kind}'")
    if data:
        raise ValidationError(f"unknown properties of a {kind}: {', '.join(sorted(data))}")


def integer(name: str, data: dict[str, Any], given: int | None) -> int:
    """Return an id given by its Python name or by its JSON key."""
    found = data.pop(name.replace("_", "-"), given)
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValidationError(f"`{name}` must be an integer, got {found!r}")
    return found


def required_key(value: dict[str, Any], key: str, kind: type, owner: str) -> Any:
    """Return the value of a key that a JSON object must have; ValidationError if it is missing or of another type."""
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
