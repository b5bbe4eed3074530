"""Partition values as people read them."""

from __future__ import annotations

import base64
import re
from typing import Any

from icefloe.conversions import to_json_value
from icefloe.types import IcebergType, PrimitiveType

_FRACTION = re.compile(r"\.\d+")
_WHOLE_MINUTE = re.compile(r":00$")


def human_text(source: IcebergType, value: Any) -> str:
    """Return ISO 8601 texts of dates and times, base64 of bytes, ``null`` of None."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool):
        return str(value).lower()
    text = str(to_json_value(source, value)) if isinstance(source, PrimitiveType) else str(value)
    kind = str(source)
    if kind == "time":
        return _WHOLE_MINUTE.sub("", _FRACTION.sub(_thousands, text))
    return _FRACTION.sub(_trimmed, text) if kind.startswith("timestamp") else text


def _trimmed(fraction: re.Match[str]) -> str:
    return fraction[0].rstrip("0").rstrip(".")


def _thousands(fraction: re.Match[str]) -> str:
    """Return as many of the digits as are needed, by threes."""
    digits = fraction[0]
    while digits.endswith("000"):
        digits = digits[:-3]
    return digits.rstrip(".")
