"""Literals: values in expressions, and what they become in a column of another type. Spec: Expressions."""

from __future__ import annotations

import math
import struct
import uuid
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from icefloe.conversions import EXACT, from_json_value, temporal, unscaled_value
from icefloe.exceptions import ValidationError
from icefloe.expressions.literal_value import (
    AboveMax,
    BelowMin,
    FloatAboveMax,
    FloatBelowMin,
    IntAboveMax,
    IntBelowMin,
    Literal,
    LongAboveMax,
    LongBelowMin,
)
from icefloe.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    PrimitiveType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

__all__ = [
    "UUID_BYTES_LENGTH",
    "AboveMax",
    "BelowMin",
    "BinaryLiteral",
    "BooleanLiteral",
    "DateLiteral",
    "DecimalLiteral",
    "DoubleLiteral",
    "FixedLiteral",
    "FloatAboveMax",
    "FloatBelowMin",
    "FloatLiteral",
    "IntAboveMax",
    "IntBelowMin",
    "Literal",
    "LongAboveMax",
    "LongBelowMin",
    "LongLiteral",
    "StringLiteral",
    "TimeLiteral",
    "TimestampLiteral",
    "UUIDLiteral",
    "literal",
]

UUID_BYTES_LENGTH = 16

_TIMESTAMPS = (TimestampType, TimestamptzType)
_NANO_TIMESTAMPS = (TimestampNanoType, TimestamptzNanoType)


class BooleanLiteral(Literal):
    """True or false."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return self if isinstance(kind, BooleanType) else None


class _NumberLiteral(Literal):
    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        value = self._value
        if isinstance(kind, FloatType):
            return _to_float(float(value))
        if isinstance(kind, DoubleType):
            return DoubleLiteral(float(value))
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(kind, DecimalType):
            exact = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
            return DecimalLiteral(Decimal(unscaled_value(exact, kind)).scaleb(-kind.scale, EXACT))
        return self._to_whole(kind, int(value)) if value == int(value) else None

    def _to_whole(self, kind: PrimitiveType, value: int) -> Literal | None:
        if isinstance(kind, (IntegerType, LongType)):
            return _beyond(kind, value) or LongLiteral(value)
        if isinstance(kind, DateType):
            beyond = _beyond(IntegerType(), value)
            return beyond or DateLiteral(value)
        beyond = _beyond(LongType(), value)
        if isinstance(kind, TimeType):
            return beyond or TimeLiteral(value)
        if isinstance(kind, _TIMESTAMPS):
            return beyond or TimestampLiteral(value, zoned=isinstance(kind, TimestamptzType))
        return (beyond or LongLiteral(value)) if isinstance(kind, _NANO_TIMESTAMPS) else None


class LongLiteral(_NumberLiteral):
    """An integer."""

    __slots__ = ()

    def increment(self) -> LongLiteral:
        """Return the next integer."""
        return LongLiteral(self._value + 1)

    def decrement(self) -> LongLiteral:
        """Return the integer before."""
        return LongLiteral(self._value - 1)


class FloatLiteral(_NumberLiteral):
    """A 32-bit floating-point number."""

    __slots__ = ()

    def __init__(self, value: float) -> None:
        super().__init__(struct.unpack("<f", struct.pack("<f", value))[0])


class DoubleLiteral(_NumberLiteral):
    """A 64-bit floating-point number."""

    __slots__ = ()


class DecimalLiteral(_NumberLiteral):
    """A decimal number."""

    __slots__ = ()

    def increment(self) -> DecimalLiteral:
        """Return the next number of as many digits after the point."""
        return DecimalLiteral(EXACT.add(self._value, self._step()))

    def decrement(self) -> DecimalLiteral:
        """Return the number before, of as many digits after the point."""
        return DecimalLiteral(EXACT.subtract(self._value, self._step()))

    def _step(self) -> Decimal:
        exponent = self._value.as_tuple().exponent
        return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


class DateLiteral(Literal):
    """Days from 1970-01-01."""

    __slots__ = ()

    def increment(self) -> DateLiteral:
        """Return the next day."""
        return DateLiteral(self._value + 1)

    def decrement(self) -> DateLiteral:
        """Return the day before."""
        return DateLiteral(self._value - 1)

    def _to(self, kind: PrimitiveType) -> Literal | None:
        if isinstance(kind, _TIMESTAMPS):
            return TimestampLiteral(self._value * temporal.MICROS_PER_DAY, zoned=isinstance(kind, TimestamptzType))
        return self if isinstance(kind, DateType) else None


class TimeLiteral(Literal):
    """Microseconds from midnight."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return self if isinstance(kind, TimeType) else None


class TimestampLiteral(Literal):
    """Microseconds from 1970-01-01 00:00:00, of UTC if ``zoned``."""

    __slots__ = ("zoned",)
    zoned: bool

    def __init__(self, value: int, zoned: bool = False) -> None:
        super().__init__(value)
        self.zoned = zoned

    def increment(self) -> TimestampLiteral:
        """Return the next microsecond."""
        return TimestampLiteral(self._value + 1, self.zoned)

    def decrement(self) -> TimestampLiteral:
        """Return the microsecond before."""
        return TimestampLiteral(self._value - 1, self.zoned)

    def _to(self, kind: PrimitiveType) -> Literal | None:
        if isinstance(kind, _TIMESTAMPS):
            return TimestampLiteral(self._value, isinstance(kind, TimestamptzType))
        if isinstance(kind, _NANO_TIMESTAMPS):
            return LongLiteral(self._value * temporal.NANOS_PER_MICRO)
        return DateLiteral(self._value // temporal.MICROS_PER_DAY) if isinstance(kind, DateType) else None

    def __reduce__(self) -> tuple[Any, ...]:
        return TimestampLiteral, (self._value, self.zoned)


class StringLiteral(Literal):
    """Text; in a column of another type, what the text spells."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        text = self._value
        if isinstance(kind, StringType):
            return self
        if isinstance(kind, BooleanType):
            return BooleanLiteral(text.lower() == "true") if text.lower() in {"true", "false"} else None
        try:
            if isinstance(kind, (IntegerType, LongType, DecimalType)):
                return DecimalLiteral(Decimal(text)).to(kind)
            if isinstance(kind, (FloatType, DoubleType)):
                return DoubleLiteral(float(text)).to(kind)
        except (ArithmeticError, ValueError) as error:
            raise ValidationError(f"Could not convert {text} into a {kind}: it does not spell a number") from error
        return _from_text(kind, text)

    def __repr__(self) -> str:
        return f"literal({self._value!r})"


class UUIDLiteral(Literal):
    """A UUID, as its 16 bytes."""

    __slots__ = ()

    def __init__(self, value: uuid.UUID | bytes) -> None:
        super().__init__(value.bytes if isinstance(value, uuid.UUID) else bytes(value))

    def _to(self, kind: PrimitiveType) -> Literal | None:
        if isinstance(kind, UUIDType):
            return self
        if isinstance(kind, FixedType) and kind.length == len(self._value):
            return FixedLiteral(self._value)
        return BinaryLiteral(self._value) if isinstance(kind, BinaryType) else None


class FixedLiteral(Literal):
    """Bytes of a fixed number."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return _bytes_to(self._value, kind)


class BinaryLiteral(Literal):
    """Bytes."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return _bytes_to(self._value, kind)


def literal(value: Any) -> Literal:
    """Return the literal of a Python value.

    >>> literal(34), literal("a")
    (LongLiteral(34), literal('a'))
    """
    if isinstance(value, Literal):
        return value
    if isinstance(value, datetime):
        return TimestampLiteral(temporal.datetime_to_micros(value), zoned=value.tzinfo is not None)
    if isinstance(value, date):
        return DateLiteral(temporal.date_to_days(value))
    if isinstance(value, time):
        return TimeLiteral(temporal.time_to_micros(value))
    for kind, made in _KINDS:
        if isinstance(value, kind):
            return made(value)
    raise ValidationError(f"no literal of a value of type {type(value).__name__}: {value!r}")


# bool before int, of which it is one.
_KINDS: tuple[tuple[type | tuple[type, ...], type[Literal]], ...] = (
    (bool, BooleanLiteral),
    (int, LongLiteral),
    (float, DoubleLiteral),
    (str, StringLiteral),
    (uuid.UUID, UUIDLiteral),
    ((bytes, bytearray), BinaryLiteral),
    (Decimal, DecimalLiteral),
)


def _beyond(kind: IntegerType | LongType, value: int) -> Literal | None:
    """Return what stands for a number that a type cannot hold; None if it can."""
    if kind.min <= value <= kind.max:
        return None
    if isinstance(kind, IntegerType):
        return IntAboveMax() if value > kind.max else IntBelowMin()
    return LongAboveMax() if value > kind.max else LongBelowMin()


def _to_float(value: float) -> Literal:
    if math.isfinite(value) and value > FloatType.max:
        return FloatAboveMax()
    if math.isfinite(value) and value < FloatType.min:
        return FloatBelowMin()
    return FloatLiteral(value)


def _from_text(kind: PrimitiveType, text: str) -> Literal | None:
    if isinstance(kind, (*_TIMESTAMPS, *_NANO_TIMESTAMPS)):
        nanos, zoned = temporal.timestamp_nanos_from_text(text)
        wanted = isinstance(kind, (TimestamptzType, TimestamptzNanoType))
        if zoned != wanted:
            raise ValidationError(
                f"{text!r} must {'have a zone, such as +00:00' if wanted else 'have no zone'} to be a {kind}"
            )
        if isinstance(kind, _NANO_TIMESTAMPS):
            return LongLiteral(nanos)
        return TimestampLiteral(nanos // temporal.NANOS_PER_MICRO, zoned)
    if isinstance(kind, DateType):
        return DateLiteral(_day_of(text))
    made = {"time": TimeLiteral, "uuid": UUIDLiteral, "binary": BinaryLiteral}.get(str(kind))
    if isinstance(kind, FixedType):
        return BinaryLiteral(from_json_value(kind, text)).to(kind)
    return None if made is None else made(from_json_value(kind, text))


def _day_of(text: str) -> int:
    """Return the day of a date, or of a moment as a timestamp's literal has it."""
    if ":" in text:
        nanos, _ = temporal.timestamp_nanos_from_text(text)
        return nanos // (temporal.MICROS_PER_DAY * temporal.NANOS_PER_MICRO)
    day: int = from_json_value(DateType(), text)
    return day


def _bytes_to(value: bytes, kind: PrimitiveType) -> Literal | None:
    if isinstance(kind, BinaryType):
        return BinaryLiteral(value)
    if isinstance(kind, FixedType) and kind.length == len(value):
        return FixedLiteral(value)
    return UUIDLiteral(value) if isinstance(kind, UUIDType) and len(value) == UUID_BYTES_LENGTH else None
