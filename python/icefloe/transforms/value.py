"""The identity, truncate, bucket and void transforms, and transforms with an unknown name."""

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
    """A transform that preserves the type and the order of values."""

    __slots__ = ()

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return the source type."""
        return source

    @property
    def preserves_order(self) -> bool:
        """Whether partition values have the order of source values: always true."""
        return True

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return the text of a value: ISO 8601 for dates and times, base64 for bytes."""
        return human_text(source, value)


class IdentityTransform(_ValueTransform):
    """The transform that returns the value."""

    __slots__ = ()
    _text = "identity"

    def transform(self, source: IcebergType) -> Callable[[Any], Any]:
        """Return a function from a value to the same value; ``datetime`` objects become ordinals."""
        kind = self._checked(source)
        return lambda value: None if value is None else to_ordinal(kind, value)

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type is primitive."""
        return isinstance(source, IcebergType) and source.is_primitive

    def satisfies_order_of(self, other: Transform) -> bool:
        """Return whether the other transform preserves the order of values."""
        return other.preserves_order


class TruncateTransform(_ValueTransform):
    """The first characters of a string, the first bytes of a binary, or the multiple of the width at or below a number.

    >>> str(TruncateTransform(4))
    'truncate[4]'
    """

    __slots__ = ("_width",)
    _width: int

    def __new__(cls, width: int) -> Self:
        """Return the transform of a width."""
        return cls._instance(_width=checked_parameter("width", width))

    @property
    def width(self) -> int:
        """The width: characters of a string, bytes of a binary, units of the last digit of a number."""
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
    """The Murmur3 hash of the value modulo a number of buckets. Spec: Appendix B.

    >>> str(BucketTransform(16))
    'bucket[16]'
    """

    __slots__ = ("_num_buckets",)
    _num_buckets: int

    def __new__(cls, num_buckets: int) -> Self:
        """Return the transform of a number of buckets."""
        return cls._instance(_num_buckets=checked_parameter("num_buckets", num_buckets))

    @property
    def num_buckets(self) -> int:
        """The number of buckets."""
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
    """The transform that returns null, of a partition field that was removed from a v1 table."""

    __slots__ = ()
    _text = "void"

    def can_transform(self, source: IcebergType) -> bool:  # noqa: D102 - a field of any type may be removed
        return True

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return the source type."""
        return source

    def transform(self, source: IcebergType) -> Callable[[Any], Any]:
        """Return a function from every value to None."""
        return lambda _: None

    def project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: a null partition value has no information on the rows."""

    def strict_project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: a null partition value has no information on the rows."""


class UnknownTransform(Transform):
    """A transform with an unknown name: tables that use it are readable, and not writable."""

    __slots__ = ("_name",)
    _name: str

    def __new__(cls, transform: str) -> Self:
        """Return the transform of a name."""
        return cls._instance(_name=transform)

    def can_transform(self, source: IcebergType) -> bool:
        """Return False: the function is unknown."""
        return False

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return string."""
        return StringType()

    @property
    def supports_pyarrow_transform(self) -> bool:
        """Whether :meth:`pyarrow_transform` is supported: always false."""
        return False

    def project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: every partition might match."""

    def strict_project(self, name: str, pred: ColumnPredicate[Any]) -> None:
        """Return None: no partition must match."""

    def _checked(self, source: IcebergType) -> PrimitiveType:
        raise FeatureUnsupportedError(
            f"transform {self}: unknown name, so values of type {source} cannot be transformed; "
            "expected identity, bucket[N], truncate[W], year, month, day, hour or void"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return UnknownTransform, (self._name,)

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"UnknownTransform(transform={self._name!r})"
