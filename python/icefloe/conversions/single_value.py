"""Single values as bytes, as JSON and as Python objects. Spec: Appendix D, Single-value Serialization.

Python values are ordinals of type ``int`` for dates (days from 1970-01-01), times (microseconds from midnight) and timestamps
(microseconds, or nanoseconds of ``_ns`` types, from 1970-01-01 00:00), ``Decimal`` for decimals, ``uuid.UUID`` for UUIDs and ``bytes``
for binary and fixed. ``date``, ``time`` and ``datetime`` objects are accepted in place of ordinals.
"""

from __future__ import annotations

import math
import struct
import uuid
from datetime import date, datetime, time
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import pydantic_core

from icefloe.conversions import temporal
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.types import DecimalType, FixedType, PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable

_FORMATS = {
    "int": "<i", "date": "<i", "long": "<q", "time": "<q", "timestamp": "<q", "timestamptz": "<q",
    "timestamp_ns": "<q", "timestamptz_ns": "<q", "float": "<f", "double": "<d",
}  # fmt: skip
# Bounds that were written before a column was promoted have the length of the narrower type.
_NARROW = {("long", 4): "<i", ("double", 4): "<f"}
_MAX_PRECISION = 38
_JSON_KINDS: dict[str, Any] = {
    "boolean": bool, "int": int, "long": int, "float": (int, float), "double": (int, float),
}  # fmt: skip
# Floats without a JSON number are text.
_NOT_IN_JSON = ("NaN", "Infinity", "-Infinity")
# Twice the digits of the widest decimal, so that arithmetic in this context never rounds.
EXACT = Context(prec=76)


def to_bytes(primitive_type: PrimitiveType, value: Any) -> bytes:
    """Return the binary single value of a value.

    Args:
        primitive_type: The type of the value.
        value: The value; never None.

    Raises:
        ValidationError: The value is not of the type, or a decimal has too many digits.
        FeatureUnsupportedError: The type has no single values: geometry, geography, unknown.

    >>> from icefloe.types import IntegerType
    >>> to_bytes(IntegerType(), 84202).hex()
    'ea480100'
    """
    kind, value = str(primitive_type), to_ordinal(primitive_type, value)
    if kind == "boolean":
        return b"\x01" if value else b"\x00"
    if kind in _FORMATS:
        try:
            return struct.pack(_FORMATS[kind], value)
        except struct.error as error:
            raise ValidationError(
                f"value {value!r} is not a value of type {kind}; expected a number in the range of the type"
            ) from error
    if isinstance(primitive_type, DecimalType):
        unscaled = unscaled_value(value, primitive_type)
        # A negative number needs the significant bits of its complement, and a sign bit.
        bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length() + 1
        return unscaled.to_bytes((bits + 7) // 8, "big", signed=True)
    if kind == "string":
        return str(value).encode()
    if kind == "uuid":
        return value.bytes if isinstance(value, uuid.UUID) else bytes(value)
    if kind == "binary" or isinstance(primitive_type, FixedType):
        return bytes(value)
    raise FeatureUnsupportedError(f"type {kind}: single values are not supported; expected another primitive type")


def from_bytes(primitive_type: PrimitiveType, b: bytes) -> Any:
    """Return the value of a binary single value.

    Args:
        primitive_type: The type of the value; a long or double may have the 4 bytes of the int or float that it was promoted from.
        b: The bytes.

    Raises:
        ValidationError: The length is wrong, text is not UTF-8, or a decimal has more than 38 digits.
        FeatureUnsupportedError: The type has no single values: geometry, geography, unknown.

    >>> from icefloe.types import LongType
    >>> from_bytes(LongType(), bytes.fromhex("c800000000000000"))
    200
    """
    kind = str(primitive_type)
    if kind == "boolean":
        _check_length(kind, b, 1)
        return b != b"\x00"
    if kind in _FORMATS:
        form = _NARROW.get((kind, len(b)), _FORMATS[kind])
        _check_length(kind, b, struct.calcsize(form))
        return struct.unpack(form, b)[0]
    if isinstance(primitive_type, DecimalType):
        return _decimal_from_bytes(primitive_type, b)
    if kind == "string":
        try:
            return b.decode()
        except UnicodeDecodeError as error:
            raise ValidationError(f"value of type string: not UTF-8: {b!r}; expected UTF-8 bytes") from error
    if kind == "uuid":
        _check_length(kind, b, 16)
        return uuid.UUID(bytes=b)
    if isinstance(primitive_type, FixedType):
        _check_length(kind, b, primitive_type.length)
        return b
    if kind == "binary":
        return b
    raise FeatureUnsupportedError(f"type {kind}: single values are not supported; expected another primitive type")


def _decimal_from_bytes(kind: DecimalType, data: bytes) -> Decimal:
    if not data:
        raise ValidationError(f"value of type {kind}: expected 1 to 16 bytes, got 0")
    unscaled = int.from_bytes(data, "big", signed=True)
    if abs(unscaled) >= 10**_MAX_PRECISION:
        raise ValidationError(
            f"value of type {kind}: {len(data)} bytes hold more digits than a decimal; expected at most 38 digits"
        )
    return Decimal(unscaled).scaleb(-kind.scale, EXACT)


def to_ordinal(primitive_type: PrimitiveType, value: Any) -> Any:
    """Return the ordinal of a ``date``, ``time`` or ``datetime`` object, and the UUID of text or bytes; other values unchanged."""
    kind = str(primitive_type)
    if isinstance(value, datetime):
        micros = temporal.datetime_to_micros(value)
        if kind == "date":
            return temporal.date_to_days(value)
        return micros * temporal.NANOS_PER_MICRO if kind.endswith("_ns") else micros
    if isinstance(value, date):
        days = temporal.date_to_days(value)
        if kind == "date":
            return days
        return days * temporal.MICROS_PER_DAY * (temporal.NANOS_PER_MICRO if kind.endswith("_ns") else 1)
    if isinstance(value, time):
        return temporal.time_to_micros(value)
    if kind == "uuid" and isinstance(value, (str, bytes)):
        return uuid.UUID(value) if isinstance(value, str) else uuid.UUID(bytes=value)
    return value


def unscaled_value(value: Decimal | int | str, kind: DecimalType) -> int:
    """Return the unscaled value of a decimal: its digits as an integer.

    Raises:
        ValidationError: The value has more digits than the precision, or more digits after the point than the scale.

    >>> unscaled_value("1.50", DecimalType(9, 2))
    150
    """
    scaled = Decimal(value).scaleb(kind.scale, EXACT)
    unscaled = int(scaled)
    if scaled != unscaled or abs(unscaled) >= 10**kind.precision:
        raise ValidationError(
            f"value {value} does not fit {kind}; expected at most {kind.precision} digits, {kind.scale} of them after the point"
        )
    return unscaled


def to_json_value(primitive_type: PrimitiveType, value: Any) -> Any:
    """Return the JSON single value of a value, None for None.

    >>> from icefloe.types import DateType
    >>> to_json_value(DateType(), 17486)
    '2017-11-16'
    """
    if value is None:
        return None
    kind, value = str(primitive_type), to_ordinal(primitive_type, value)
    if kind.startswith(("date", "time")):
        try:
            return _temporal_text(kind, value)
        except OverflowError:
            # Python's dates have the years 1 to 9999; the core has no such limit.
            return _from_core(kind, to_bytes(primitive_type, value))
    if isinstance(primitive_type, DecimalType):
        unscaled, scale = unscaled_value(value, primitive_type), primitive_type.scale
        return f"{unscaled}E+{-scale}" if scale < 0 else format(Decimal(unscaled).scaleb(-scale, EXACT), "f")
    if kind == "uuid":
        return str(value)
    if kind in {"float", "double"} and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return bytes(value).hex() if kind == "binary" or isinstance(primitive_type, FixedType) else value


def _temporal_text(kind: str, value: int) -> str:
    if kind == "date":
        return temporal.days_to_date(value).isoformat()
    if kind == "time":
        return temporal.micros_to_time(value).isoformat(timespec="microseconds")
    zone = "+00:00" if kind.startswith("timestamptz") else ""
    if kind.endswith("_ns"):
        return temporal.timestamp_nanos_to_text(value, zone)
    return temporal.timestamp_to_text(value, zone)


def _from_core(kind: str, data: bytes) -> Any:
    from icefloe import _core

    return pydantic_core.from_json(_core.single_value_from_bytes(kind, data))


def from_json_value(primitive_type: PrimitiveType, value: Any) -> Any:
    """Return the value of a JSON single value, None for None.

    Raises:
        ValidationError: The JSON value is not a single value of the type.

    >>> from icefloe.types import DateType
    >>> from_json_value(DateType(), "2017-11-16")
    17486
    """
    if value is None:
        return None
    kind = str(primitive_type)
    if kind in {"float", "double"} and value in _NOT_IN_JSON:
        return float(value)
    _check_json_kind(kind, value)
    try:
        return _parsed(primitive_type, kind, value)
    except (ValueError, ArithmeticError) as error:
        if kind.startswith(("date", "time")) and (ordinal := _ordinal_by_core(primitive_type, value)) is not None:
            return ordinal
        raise ValidationError(f"{value!r} is not the JSON form of a {kind}: {error}") from error


def _parsed(primitive_type: PrimitiveType, kind: str, value: Any) -> Any:
    if kind in {"float", "double"}:
        return float(value)
    if kind == "date":
        return temporal.date_from_text(value)
    if kind == "time":
        return temporal.time_from_text(value)
    if kind.startswith("timestamp"):
        nanos = temporal.timestamp_nanos_from_text(value)[0]
        return nanos if kind.endswith("_ns") else nanos // temporal.NANOS_PER_MICRO
    if isinstance(primitive_type, DecimalType):
        return Decimal(unscaled_value(value, primitive_type)).scaleb(-primitive_type.scale, EXACT)
    if kind == "uuid":
        return uuid.UUID(value)
    return bytes.fromhex(value) if kind == "binary" or isinstance(primitive_type, FixedType) else value


def _ordinal_by_core(primitive_type: PrimitiveType, text: str) -> int | None:
    """Return the ordinal of a date or timestamp outside the years 1 to 9999 of Python's dates; None for any other text."""
    from icefloe import _core

    try:
        value = from_bytes(
            primitive_type, _core.single_value_to_bytes(str(primitive_type), pydantic_core.to_json(text).decode())
        )
    except ValidationError:
        return None
    return int(value)


def _check_json_kind(kind: str, value: Any) -> None:
    expected_types = _JSON_KINDS.get(kind, str)
    if not isinstance(value, expected_types) or (isinstance(value, bool) and kind != "boolean"):
        expected = {bool: "a boolean", int: "an integer", (int, float): "a number", str: "text"}[expected_types]
        raise ValidationError(
            f"{value!r} is not the JSON form of a {kind}; expected {expected}, got {type(value).__name__}"
        )


def _check_length(kind: str, data: bytes, length: int) -> None:
    if len(data) != length:
        raise ValidationError(f"value of type {kind}: expected {length} bytes, got {len(data)}")


_OBJECTS: dict[str, Callable[[int], Any]] = {
    "date": temporal.days_to_date,
    "time": temporal.micros_to_time,
    "timestamp": temporal.micros_to_timestamp,
    "timestamptz": temporal.micros_to_timestamptz,
}


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
    to_object = _OBJECTS.get(str(primitive_type))
    return value if to_object is None or value is None else to_object(value)
