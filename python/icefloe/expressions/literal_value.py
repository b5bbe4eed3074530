"""The literal as such, and the literals that lie beyond all values of a type."""

from __future__ import annotations

from typing import Any, ClassVar, Generic

from typing_extensions import Self, TypeVar

from icefloe.exceptions import ValidationError
from icefloe.types import FloatType, IcebergType, IntegerType, LongType, PrimitiveType

L_co = TypeVar("L_co", covariant=True, default=Any)


class Literal(Generic[L_co]):
    """A value in an expression. Literals are equal if their kinds and values are."""

    __slots__ = ("_value",)
    _value: Any

    def __init__(self, value: Any) -> None:
        self._value = value

    @property
    def value(self) -> Any:
        """The value: dates as days, times and timestamps as microseconds."""
        return self._value

    def to(self, type_var: IcebergType) -> Literal:
        """Return this literal as one of a type; an above-max or below-min literal if it lies beyond all values of the type.

        Raises:
            ValidationError: It has no exact meaning in the type.
        """
        converted = self._to(type_var) if isinstance(type_var, PrimitiveType) else None
        if converted is None:
            raise ValidationError(
                f"Could not convert {self} into a {type_var}: it cannot be compared with values of that type"
            )
        return converted

    def _to(self, kind: PrimitiveType) -> Literal | None:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other) and self._value == other._value if isinstance(other, Literal) else NotImplemented
        )

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
        return str(self._value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._value!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._value,)


class _Beyond(Literal):
    """A literal beyond every value of its type."""

    __slots__ = ()
    bound: ClassVar[Any] = None

    _only: ClassVar[dict[type, Any]] = {}

    def __new__(cls) -> Self:
        """Return the one literal of its kind."""
        only: Self = _Beyond._only.setdefault(cls, super().__new__(cls))
        return only

    def __init__(self) -> None:
        super().__init__(self.bound)

    def to(self, type_var: IcebergType) -> Literal:
        """Return itself: it lies beyond the values of its own type alone."""
        del type_var
        return self

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


class AboveMax(_Beyond):
    """Above every value."""

    __slots__ = ()


class BelowMin(_Beyond):
    """Below every value."""

    __slots__ = ()


class IntAboveMax(AboveMax):
    """Above every int."""

    __slots__ = ()
    bound = IntegerType.max


class IntBelowMin(BelowMin):
    """Below every int."""

    __slots__ = ()
    bound = IntegerType.min


class LongAboveMax(AboveMax):
    """Above every long."""

    __slots__ = ()
    bound = LongType.max


class LongBelowMin(BelowMin):
    """Below every long."""

    __slots__ = ()
    bound = LongType.min


class FloatAboveMax(AboveMax):
    """Above every finite float."""

    __slots__ = ()
    bound = FloatType.max


class FloatBelowMin(BelowMin):
    """Below every finite float."""

    __slots__ = ()
    bound = FloatType.min
