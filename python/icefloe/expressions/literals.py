"""Literals: values in expressions, and their conversion to the types of columns. Spec: Primitive Types, Appendix D."""

from __future__ import annotations

import math
import struct
import sys
import uuid
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from typing_extensions import Self, TypeVar

from icefloe.arguments import integer_of
from icefloe.conversions import EXACT, temporal, unscaled_value
from icefloe.conversions.text import value_from_text
from icefloe.exceptions import ValidationError
from icefloe.types import DecimalType, FixedType, FloatType, IcebergType, IntegerType, LongType, PrimitiveType

if TYPE_CHECKING:
    from collections.abc import Callable

UUID_BYTES_LENGTH = 16
_TIMESTAMPS = {"timestamp", "timestamptz"}
_NANO_TIMESTAMPS = {"timestamp_ns", "timestamptz_ns"}

L_co = TypeVar("L_co", covariant=True, default=Any)


class Literal(Generic[L_co]):
    """A value in an expression. Literals are equal if their classes and values are equal."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    @property
    def value(self) -> Any:
        """The value: a date in days, a time or timestamp in microseconds, from 1970-01-01 or midnight."""
        return self._value

    def to(self, type_var: IcebergType) -> Literal:
        """Return this literal converted to a type, for the comparison with a column of the type.

        Returns:
            A literal of the type; an :class:`AboveMax` or :class:`BelowMin` if the value is outside the range of the type.

        Raises:
            ValidationError: The type has no value that equals this one exactly.

        >>> from icefloe.types import DateType, IntegerType
        >>> literal("2026-01-31").to(DateType())
        DateLiteral(20484)
        >>> literal(2**40).to(IntegerType())
        IntAboveMax()
        """
        converted = self._to(type_var) if isinstance(type_var, PrimitiveType) else None
        if converted is None:
            problem = f"it cannot be compared with values of that type; expected a literal of type {type_var}"
            raise ValidationError(f"Could not convert {self} into a {type_var}: {problem}")
        return converted

    def _to(self, kind: PrimitiveType) -> Literal | None:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self) is type(other) and bool(self._value == other._value)

    def __lt__(self, other: Literal) -> bool:
        return bool(self._value < other._value)

    def __gt__(self, other: Literal) -> bool:
        return bool(self._value > other._value)

    def __le__(self, other: Literal) -> bool:
        return bool(self._value <= other._value)

    def __ge__(self, other: Literal) -> bool:
        return bool(self._value >= other._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __str__(self) -> str:
        return str(Decimal(self._value) if type(self._value) is int else self._value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._value!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._value,)


class _OutOfRange(Literal):
    """A literal outside the range of a type; ``value`` is the limit that it exceeds."""

    bound: ClassVar[Any] = None
    _only: ClassVar[dict[type, Any]] = {}

    def __init_subclass__(cls, bound: Any = None) -> None:
        cls.bound = bound

    def __new__(cls) -> Self:
        """Return the one literal of its class."""
        only: Self = _OutOfRange._only.setdefault(cls, super().__new__(cls))
        return only

    def __init__(self) -> None:
        super().__init__(self.bound)

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return self

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


class AboveMax(_OutOfRange):
    """A literal above every value of a type."""


class BelowMin(_OutOfRange):
    """A literal below every value of a type."""


class IntAboveMax(AboveMax, bound=IntegerType.max):
    """A literal above every int."""


class IntBelowMin(BelowMin, bound=IntegerType.min):
    """A literal below every int."""


class LongAboveMax(AboveMax, bound=LongType.max):
    """A literal above every long."""


class LongBelowMin(BelowMin, bound=LongType.min):
    """A literal below every long."""


class FloatAboveMax(AboveMax, bound=FloatType.max):
    """A literal above every finite float."""


class FloatBelowMin(BelowMin, bound=FloatType.min):
    """A literal below every finite float."""


class _SteppedLiteral(Literal):
    """A literal whose value has a successor and a predecessor."""

    __slots__ = ()

    def increment(self) -> Self:
        """Return the literal of the next value."""
        return self._moved_by(1)

    def decrement(self) -> Self:
        """Return the literal of the value before."""
        return self._moved_by(-1)

    def _moved_by(self, steps: int) -> Self:
        return type(self)(self._value + steps)


class BooleanLiteral(Literal):
    """True or false."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return self if str(kind) == "boolean" else None


class _NumberLiteral(Literal):
    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        value, name = self._value, str(kind)
        if isinstance(value, Decimal) and not value.is_finite():
            value = float(value)
        if name == "float":
            return _out_of_range(name, value) or FloatLiteral(float(value))
        if name == "double":
            return DoubleLiteral(_as_double(value))
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(kind, DecimalType):
            # str() of an int refuses thousands of digits, str() of a decimal does not.
            text = str(Decimal(value) if isinstance(value, int) else value)
            return DecimalLiteral(Decimal(unscaled_value(text, kind)).scaleb(-kind.scale, EXACT))
        if name not in _WHOLE_NUMBERS or value != int(value):
            return None
        limits, literal_of = _WHOLE_NUMBERS[name]
        return _out_of_range(limits, value) or literal_of(int(value))


class LongLiteral(_NumberLiteral, _SteppedLiteral):
    """An integer of any size."""

    __slots__ = ()


class FloatLiteral(_NumberLiteral):
    """A 32-bit floating-point number."""

    __slots__ = ()

    def __init__(self, value: float) -> None:
        super().__init__(struct.unpack("<f", struct.pack("<f", value))[0])


class DoubleLiteral(_NumberLiteral):
    """A 64-bit floating-point number."""

    __slots__ = ()


class DecimalLiteral(_NumberLiteral, _SteppedLiteral):
    """A decimal number; its step is one unit of its last digit."""

    __slots__ = ()

    def _moved_by(self, steps: int) -> Self:
        exponent = self._value.as_tuple().exponent
        step = Decimal(steps).scaleb(exponent if isinstance(exponent, int) else 0)
        return type(self)(EXACT.add(self._value, step))


class DateLiteral(_SteppedLiteral):
    """Days from 1970-01-01."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        if str(kind) in _TIMESTAMPS:
            return TimestampLiteral(self._value * temporal.MICROS_PER_DAY, zoned=str(kind) == "timestamptz")
        return self if str(kind) == "date" else None


class TimeLiteral(Literal):
    """Microseconds from midnight."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return self if str(kind) == "time" else None


class TimestampLiteral(_SteppedLiteral):
    """Microseconds from 1970-01-01 00:00:00, of UTC if ``zoned``."""

    __slots__ = ("zoned",)
    zoned: bool

    def __init__(self, value: int, zoned: bool = False) -> None:
        super().__init__(value)
        self.zoned = zoned

    def _moved_by(self, steps: int) -> Self:
        return type(self)(self._value + steps, self.zoned)

    def _to(self, kind: PrimitiveType) -> Literal | None:
        if str(kind) in _TIMESTAMPS:
            return TimestampLiteral(self._value, zoned=str(kind) == "timestamptz")
        if str(kind) in _NANO_TIMESTAMPS:
            return LongLiteral(self._value * temporal.NANOS_PER_MICRO)
        return DateLiteral(self._value // temporal.MICROS_PER_DAY) if str(kind) == "date" else None

    def __reduce__(self) -> tuple[Any, ...]:
        return TimestampLiteral, (self._value, self.zoned)


class StringLiteral(Literal):
    """A string; converts to the value that it is the text of."""

    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        return self if str(kind) == "string" else literal(value_from_text(kind, self._value)).to(kind)

    def __repr__(self) -> str:
        return f"literal({self._value!r})"


class _BytesLiteral(Literal):
    __slots__ = ()

    def _to(self, kind: PrimitiveType) -> Literal | None:
        if str(kind) == "binary":
            return BinaryLiteral(self._value)
        if isinstance(kind, FixedType) and kind.length == len(self._value):
            return FixedLiteral(self._value)
        return UUIDLiteral(self._value) if str(kind) == "uuid" and len(self._value) == UUID_BYTES_LENGTH else None


class UUIDLiteral(_BytesLiteral):
    """A UUID, as its 16 bytes."""

    __slots__ = ()

    def __init__(self, value: uuid.UUID | bytes) -> None:
        super().__init__(value.bytes if isinstance(value, uuid.UUID) else bytes(value))


class FixedLiteral(_BytesLiteral):
    """Bytes of a column of fixed length."""

    __slots__ = ()


class BinaryLiteral(_BytesLiteral):
    """Bytes of any length."""

    __slots__ = ()


def literal(value: Any) -> Literal:
    """Return the literal of a Python value; a literal is returned as it is.

    Args:
        value: A bool, int (also of NumPy), float, str, bytes, Decimal, UUID, date, time or datetime. A datetime with a zone is converted to UTC.

    Raises:
        ValidationError: The value is of another type.

    >>> literal(34), literal("a")
    (LongLiteral(34), literal('a'))
    """
    if isinstance(value, Literal):
        return value
    for kind, literal_of in _CLASSES:
        if isinstance(value, kind):
            return literal_of(value)
    if (whole := integer_of(value)) is not None:
        return LongLiteral(whole)
    known = "bool, int, float, str, bytes, Decimal, UUID, date, time or datetime"
    raise ValidationError(f"literal {value!r}: expected a {known}, got {type(value).__name__}")


# Subclasses before their bases: datetime before date, bool before int.
_CLASSES: tuple[tuple[type | tuple[type, ...], Callable[[Any], Literal]], ...] = (
    (datetime, lambda value: TimestampLiteral(temporal.datetime_to_micros(value), zoned=value.tzinfo is not None)),
    (date, lambda value: DateLiteral(temporal.date_to_days(value))),
    (time, lambda value: TimeLiteral(temporal.time_to_micros(value))),
    (bool, BooleanLiteral),
    (int, LongLiteral),
    (float, DoubleLiteral),
    (str, StringLiteral),
    (uuid.UUID, UUIDLiteral),
    ((bytes, bytearray), BinaryLiteral),
    (Decimal, DecimalLiteral),
)
_LIMITS: dict[str, tuple[type[BelowMin], type[AboveMax]]] = {
    "int": (IntBelowMin, IntAboveMax),
    "long": (LongBelowMin, LongAboveMax),
    "float": (FloatBelowMin, FloatAboveMax),
}
# The literals of whole numbers beside columns of each type, and the type whose limits apply.
_WHOLE_NUMBERS: dict[str, tuple[str, Callable[[int], Literal]]] = {
    "int": ("int", LongLiteral),
    "long": ("long", LongLiteral),
    "date": ("int", DateLiteral),
    "time": ("long", TimeLiteral),
    "timestamp": ("long", TimestampLiteral),
    "timestamptz": ("long", lambda value: TimestampLiteral(value, zoned=True)),
    **dict.fromkeys(_NANO_TIMESTAMPS, ("long", LongLiteral)),
}


def _as_double(value: float | Decimal) -> float:
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if math.isinf(double) and abs(value) != math.inf:
        limit = sys.float_info.max
        raise ValidationError(
            f"Could not convert a number into a double: expected a number from {-limit} to {limit}, got {Decimal(value):.6e}"
        )
    return double


def _out_of_range(name: str, value: float | Decimal) -> Literal | None:
    """Return the literal of a finite number outside the range of a type; None for any other number."""
    below, above = _LIMITS[name]
    if -math.inf < value < below.bound:
        return below()
    return above() if above.bound < value < math.inf else None
