"""Transforms that keep a value's type and order: identity and truncate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.conversions import to_ordinal
from icefloe.transforms.human_text import human_text
from icefloe.transforms.source_types import INTEGERS, TEXTS
from icefloe.transforms.transform import Transform, checked_parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from icefloe.types import IcebergType


class _ValueTransform(Transform):
    """What keeps a value's type and order."""

    __slots__ = ()

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return the source type."""
        return source

    @property
    def preserves_order(self) -> bool:
        """Whether partition values are ordered as source values are: they are."""
        return True

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ISO 8601 texts of dates and times, base64 of bytes."""
        return human_text(source, value)


class IdentityTransform(_ValueTransform):
    """The value itself."""

    __slots__ = ()
    _text = "identity"

    def transform(self, source: IcebergType) -> Callable[[Any], Any]:
        """Return a function from a value to itself; ``datetime`` objects become the numbers that they stand for."""
        kind = self._checked(source)
        return lambda value: None if value is None else to_ordinal(kind, value)

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type is primitive."""
        return source.is_primitive

    def satisfies_order_of(self, other: Transform) -> bool:
        """Return whether the other transform keeps the order of values."""
        return other.preserves_order


class TruncateTransform(_ValueTransform):
    """The value cut to a width: text to its first characters, a number down to a multiple.

    >>> str(TruncateTransform(4))
    'truncate[4]'
    """

    __slots__ = ("_width",)
    _width: int

    def __new__(cls, width: int) -> Self:
        """Return the one transform of a width."""
        return cls._one(width=checked_parameter("width", width))

    @property
    def width(self) -> int:
        """The width: characters of text, bytes of binaries, units of the last digit of numbers."""
        return self._width

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type is int, long, decimal, string or binary."""
        return str(source) in INTEGERS | TEXTS or str(source).startswith("decimal(")

    def __reduce__(self) -> tuple[Any, ...]:
        return TruncateTransform, (self._width,)

    def __str__(self) -> str:
        return f"truncate[{self._width}]"

    def __repr__(self) -> str:
        return f"TruncateTransform(width={self._width})"
