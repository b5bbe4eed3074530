"""Values as bytes, as JSON, as path text and as Python. Spec: Appendix D."""

from __future__ import annotations

import base64
import binascii
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from icefloe.conversions import temporal
from icefloe.conversions.single_value import (
    EXACT,
    from_bytes,
    from_json_value,
    to_bytes,
    to_json_value,
    to_ordinal,
    unscaled_value,
)
from icefloe.exceptions import ValidationError
from icefloe.types import DecimalType, FixedType, PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable

_READERS: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: {"true": True, "false": False}[text.lower()],
    "int": int,
    "long": int,
    "float": float,
    "double": float,
}

_OBJECTS: dict[str, Callable[[int], Any]] = {
    "date": temporal.days_to_date,
    "time": temporal.micros_to_time,
    "timestamp": temporal.micros_to_timestamp,
    "timestamptz": temporal.micros_to_timestamptz,
}

__all__ = [
    "EXACT",
    "from_bytes",
    "from_json",
    "from_json_value",
    "partition_to_py",
    "to_bytes",
    "to_json",
    "to_json_value",
    "to_ordinal",
    "unscaled_value",
]


def to_json(primitive_type: PrimitiveType, val: Any) -> Any:
    """Return the JSON single value of a value. Spec: JSON single-value serialization.

    >>> from icefloe.types import DateType
    >>> to_json(DateType(), 17486)
    '2017-11-16'
    """
    return to_json_value(primitive_type, val)


def from_json(primitive_type: PrimitiveType, val: Any) -> Any:
    """Return the value of a JSON single value: dates, times and timestamps as ``datetime`` objects.

    >>> from icefloe.types import DateType
    >>> from_json(DateType(), "2017-11-16")
    datetime.date(2017, 11, 16)
    """
    value = from_json_value(primitive_type, val)
    made = _OBJECTS.get(str(primitive_type))
    return value if made is None or value is None else made(value)


def partition_to_py(primitive_type: PrimitiveType, value_str: str) -> Any:
    """Return the value that a directory name such as Hive's spells; None of ``__HIVE_DEFAULT_PARTITION__``.

    >>> from icefloe.types import DateType
    >>> partition_to_py(DateType(), "2017-11-16")
    17486
    """
    if value_str == "__HIVE_DEFAULT_PARTITION__":
        return None
    kind = str(primitive_type)
    try:
        if kind in _READERS:
            return _READERS[kind](value_str)
        if value_str.lstrip("-").isdigit() and kind.startswith(("date", "time")):
            return int(value_str)
        if isinstance(primitive_type, DecimalType):
            return Decimal(value_str)
        if kind == "binary" or isinstance(primitive_type, FixedType):
            return base64.b64decode(value_str, validate=True)
        return from_json_value(primitive_type, value_str)
    except (KeyError, InvalidOperation, binascii.Error, ValueError) as error:
        raise ValidationError(f"{value_str!r} is not a value of type {kind}") from error
