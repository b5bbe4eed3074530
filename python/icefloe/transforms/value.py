"""Transforms of values of any type: identity, truncate, bucket, void, and transforms of which only the name is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.conversions import to_ordinal
from icefloe.exceptions import FeatureUnsupportedError
from icefloe.transforms.transform import (
    DATES,
    INTEGERS,
    TEXTS,
    TIMESTAMPS,
    ColumnPredicate,
    Transform,
    checked_parameter,
    human_text,
)
from icefloe.types import DecimalType, FixedType, IcebergType, IntegerType, PrimitiveType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self


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


class BucketTransform(Transform):
    """The hash of the value modulo a number of buckets. Spec: Appendix B.

    >>> str(BucketTransform(16))
    'bucket[16]'
    """

    __slots__ = ("_num_buckets",)
    _num_buckets: int

    def __new__(cls, num_buckets: int) -> Self:
        """Return the one transform of a number of buckets."""
        return cls._one(num_buckets=checked_parameter("num_buckets", num_buckets))

    @property
    def num_buckets(self) -> int:
        """How many buckets there are."""
        return self._num_buckets

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type has a hash: every primitive type but boolean, float and double."""
        hashable = INTEGERS | DATES | TIMESTAMPS | TEXTS | {"time", "uuid"}
        return str(source) in hashable or isinstance(source, (FixedType, DecimalType))

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return int."""
        return IntegerType()

    def __reduce__(self) -> tuple[Any, ...]:
        return BucketTransform, (self._num_buckets,)

    def __str__(self) -> str:
        return f"bucket[{self._num_buckets}]"

    def __repr__(self) -> str:
        return f"BucketTransform(num_buckets={self._num_buckets})"


class VoidTransform(Transform):
    """Always null: what is left of a partition field that was removed from a v1 table."""

    __slots__ = ()
    _text = "void"

    def can_transform(self, source: IcebergType) -> bool:  # noqa: D102 - every type may be dropped
        return True

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return the source type."""
        return source

    def transform(self, source: IcebergType) -> Callable[[Any], Any]:
        """Return a function from every value to None."""
        return lambda _: None

    def project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: null says nothing of the rows."""

    def strict_project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: null says nothing of the rows."""


class UnknownTransform(Transform):
    """A transform of which only the text is known; files it made are read, none are written."""

    __slots__ = ("_spelled",)
    _spelled: str

    def __new__(cls, transform: str) -> Self:
        """Return the one transform of a text."""
        return cls._one(spelled=transform)

    def can_transform(self, source: IcebergType) -> bool:
        """Return false: its values cannot be computed."""
        return False

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return string."""
        return StringType()

    @property
    def supports_pyarrow_transform(self) -> bool:
        """Whether :meth:`pyarrow_transform` works: it does not."""
        return False

    def project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: any of its partitions might match."""

    def strict_project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: none of its partitions must match."""

    def _checked(self, source: IcebergType) -> PrimitiveType:
        raise FeatureUnsupportedError(f"applying the transform {self}, which is not known, to values of type {source}")

    def __reduce__(self) -> tuple[Any, ...]:
        return UnknownTransform, (self._spelled,)

    def __str__(self) -> str:
        return self._spelled

    def __repr__(self) -> str:
        return f"UnknownTransform(transform={self._spelled!r})"
