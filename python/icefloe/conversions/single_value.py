"""One value as bytes, as JSON and as Python. Spec: Appendix D, Single-value Serialization.

Python values are those of rows in metadata: dates are days, times and timestamps microseconds (or nanoseconds) from the epoch, all
of them ``int``; decimals ``Decimal``; UUIDs ``uuid.UUID``; the rest what one expects. ``date``, ``time`` and ``datetime`` are
accepted where an ``int`` is.
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
# A value written before its column was promoted keeps its narrow form.
_NARROW = {("long", 4): "<i", ("double", 4): "<f"}
_MAX_PRECISION = 38
_JSON_KINDS: dict[str, Any] = {
    "boolean": bool, "int": int, "long": int, "float": (int, float), "double": (int, float),
}  # fmt: skip
# What JSON has no numbers for is text.
_NOT_IN_JSON = ("NaN", "Infinity", "-Infinity")
# Twice the digits of the widest decimal: arithmetic under it never rounds.
EXACT = Context(prec=76)


def to_bytes(primitive_type: PrimitiveType, value: Any) -> bytes:
    """Return the binary form of a value.

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
            raise ValidationError(f"{value!r} is not a value of type {kind}") from error
    if isinstance(primitive_type, DecimalType):
        unscaled = unscaled_value(value, primitive_type)
        # ~unscaled has as many significant bits as a negative number needs beside its sign.
        bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length() + 1
        return unscaled.to_bytes((bits + 7) // 8, "big", signed=True)
    if kind == "string":
        return str(value).encode()
    if kind == "uuid":
        return value.bytes if isinstance(value, uuid.UUID) else bytes(value)
    if kind == "binary" or isinstance(primitive_type, FixedType):
        return bytes(value)
    raise FeatureUnsupportedError(f"single values of type {kind}")


def from_bytes(primitive_type: PrimitiveType, b: bytes) -> Any:
    """Return the value of a binary form; ValidationError if its length is wrong.

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
            raise ValidationError(f"text that is not UTF-8: {b!r}") from error
    if kind == "uuid":
        _check_length(kind, b, 16)
        return uuid.UUID(bytes=b)
    if isinstance(primitive_type, FixedType):
        _check_length(kind, b, primitive_type.length)
        return b
    if kind == "binary":
        return b
    raise FeatureUnsupportedError(f"single values of type {kind}")


def _decimal_from_bytes(kind: DecimalType, data: bytes) -> Decimal:
    if not data:
        raise ValidationError(f"a {kind} needs at least one byte")
    unscaled = int.from_bytes(data, "big", signed=True)
    if abs(unscaled) >= 10**_MAX_PRECISION:
        raise ValidationError(f"{len(data)} bytes are more digits than a decimal has")
    return Decimal(unscaled).scaleb(-kind.scale, EXACT)


def to_ordinal(primitive_type: PrimitiveType, value: Any) -> Any:
    """Return a date, time or datetime as the number that rows hold; other values as they are."""
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
    """Return a decimal's digits as an integer; ValidationError if it does not fit the type exactly."""
    scaled = Decimal(value).scaleb(kind.scale, EXACT)
    unscaled = int(scaled)
    if scaled != unscaled or abs(unscaled) >= 10**kind.precision:
        raise ValidationError(f"{value} does not fit {kind}")
    return unscaled


def to_json_value(primitive_type: PrimitiveType, value: Any) -> Any:
    """Return the JSON form of a value, None of None.

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
            # Beyond the years 1 to 9999 that Python's own dates have.
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
    """Return the value of a JSON form, None of None; ValidationError if it is not one of the type."""
    if value is None:
        return None
    kind = str(primitive_type)
    if kind in {"float", "double"} and value in _NOT_IN_JSON:
        return float(value)
    _check_json_kind(kind, value)
    try:
        return _parsed(primitive_type, kind, value)
    except (ValueError, ArithmeticError) as error:
        if kind.startswith(("date", "time")) and (far := _far(primitive_type, value)) is not None:
            return far
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


def _far(primitive_type: PrimitiveType, text: str) -> int | None:
    """Return a date or timestamp beyond the years 1 to 9999 that Python's own dates have; None if the text is none."""
    from icefloe import _core

    try:
        value = from_bytes(
            primitive_type, _core.single_value_to_bytes(str(primitive_type), pydantic_core.to_json(text).decode())
        )
    except ValidationError:
        return None
    return int(value)


def _check_json_kind(kind: str, value: Any) -> None:
    if not isinstance(value, _JSON_KINDS.get(kind, str)) or (isinstance(value, bool) and kind != "boolean"):
        raise ValidationError(f"{value!r} is not the JSON form of a {kind}")


def _check_length(kind: str, data: bytes, length: int) -> None:
    if len(data) != length:
        raise ValidationError(f"a {kind} takes {length} bytes, found {len(data)}")


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
    made = _OBJECTS.get(str(primitive_type))
    return value if made is None or value is None else made(value)
