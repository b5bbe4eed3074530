"""Partition values as people read them."""

from __future__ import annotations

import base64
from typing import Any

from icefloe.conversions import to_json_value
from icefloe.types import IcebergType, PrimitiveType


def human_text(source: IcebergType, value: Any) -> str:
    """Return ISO 8601 texts of dates and times, base64 of bytes, ``null`` of None."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool):
        return str(value).lower()
    text = str(to_json_value(source, value)) if isinstance(source, PrimitiveType) else str(value)
    # Paths spell UTC with one letter, JSON with its offset.
    return text.replace("+00:00", "Z") if str(source).startswith("timestamptz") else text
