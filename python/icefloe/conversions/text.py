"""Values of text: literals in filters, and values in the names of Hive partition directories."""

from __future__ import annotations

import base64
import binascii
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from icefloe.conversions import temporal
from icefloe.conversions.single_value import from_json_value
from icefloe.exceptions import ValidationError
from icefloe.types import DecimalType, FixedType, PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable

_NANOS_PER_DAY = temporal.MICROS_PER_DAY * temporal.NANOS_PER_MICRO
_SPELLED = {"date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "uuid", "binary"}
_NUMBERS: dict[str, Callable[[str], Any]] = {"int": Decimal, "long": Decimal, "float": float, "double": float}
_READERS: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: {"true": True, "false": False}[text.lower()],
    "int": int,
    "long": int,
    "float": float,
    "double": float,
}


def value_from_text(kind: PrimitiveType, text: str) -> Any:
    """Return the value of a text that a filter compares with a column.

    Args:
        kind: The column's type, other than string.
        text: A number, ``true`` or ``false``, an ISO 8601 date or time, a UUID, or bytes in hexadecimal. The text of a timestamp
            is accepted for a date column: its value is the day.

    Returns:
        A bool, a float, a UUID or bytes; a Decimal for int, long and decimal; an ordinal for date, time and timestamp types.

    Raises:
        ValidationError: The text is not a value of the type; a timestamp must have a zone exactly if the type has one.

    >>> from icefloe.types import DateType
    >>> value_from_text(DateType(), "2026-01-31")
    20484
    """
    name = str(kind)
    if name == "boolean":
        if text.lower() not in {"true", "false"}:
            raise ValidationError(f"Could not convert {text} into a boolean: expected 'true' or 'false', got {text!r}")
        return text.lower() == "true"
    number = Decimal if isinstance(kind, DecimalType) else _NUMBERS.get(name)
    if number is not None:
        try:
            return number(text)
        except (ArithmeticError, ValueError) as error:
            raise ValidationError(f"Could not convert {text} into a {kind}: expected a number, got {text!r}") from error
    if name not in _SPELLED and not isinstance(kind, FixedType):
        raise ValidationError(
            f"Could not convert {text} into a {kind}: values of type {kind} cannot be compared; use `is null`"
        )
    if name.startswith("timestamp"):
        return _timestamp_from_text(name, text)
    if name == "date" and ":" in text:
        return temporal.timestamp_nanos_from_text(text)[0] // _NANOS_PER_DAY
    return from_json_value(kind, text)


def _timestamp_from_text(name: str, text: str) -> int:
    nanos, zoned = temporal.timestamp_nanos_from_text(text)
    if zoned != name.startswith("timestamptz"):
        zone = "have no zone" if zoned else "have a zone, such as +00:00"
        raise ValidationError(f"Could not convert {text} into a {name}: {text!r} must {zone} to be a {name}")
    return nanos if name.endswith("_ns") else nanos // temporal.NANOS_PER_MICRO


def partition_to_py(primitive_type: PrimitiveType, value_str: str) -> Any:
    """Return the value in the name of a Hive partition directory; None for ``__HIVE_DEFAULT_PARTITION__``.

    Args:
        primitive_type: The type of the partition field.
        value_str: The text after ``=``, with URL escapes removed.

    Raises:
        ValidationError: The text is not a value of the type.

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
        raise ValidationError(f"partition value {value_str!r} is not a value of type {kind}: {error}") from error
