"""Primitive types from their texts. Spec: Appendix C."""

from __future__ import annotations

import re

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
