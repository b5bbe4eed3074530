"""Partition transforms: how a partition value follows from a column's value. Spec: Partition Transforms.

The rules themselves live in Rust, once: everything here that computes calls ``icefloe._core``.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any, ClassVar

from icefloe.conversions import to_json_value, to_ordinal
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.types import DateType, FixedType, IcebergType, IntegerType, PrimitiveType, StringType
from icefloe.types.arrow import primitive_to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

_PARAMETRISED = re.compile(r"(bucket|truncate)\[\s*(\d{1,10})\s*\]", re.IGNORECASE)
_MISSPELLED = re.compile(r"(bucket|truncate)\[.*\]", re.IGNORECASE)
_MAX_PARAMETER = 2**31 - 1
_DATES = {"date"}
_TIMESTAMPS = {"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"}
_INTEGERS = {"int", "long"}
_TEXTS = {"string", "binary"}


class Transform:
    """A rule from source values to partition values. Immutable; ``str(transform)`` is the specification's spelling."""

    __slots__ = ()
    _text: ClassVar[str] = ""

    def transform(self, source: IcebergType) -> Callable[[Any], Any]:
        """Return a function from one source value to its partition value, None for None.

        Dates are days, times and timestamps microseconds, as numbers or as ``datetime`` objects; ordinals come out as ``int``.

        >>> from icefloe.types import LongType
        >>> BucketTransform(16).transform(LongType())(34)
        3
        """
        import pyarrow as pa

        kind = self._checked(source)
        arrow_type = primitive_to_arrow(kind)

        def apply(value: Any) -> Any:
            if value is None:
                return None
            ordinal = to_ordinal(kind, value)
            result = self._compute(pa.array([getattr(ordinal, "bytes", ordinal)], arrow_type), kind)
            return _number(result)[0].as_py()

        return apply

    def pyarrow_transform(self, source: IcebergType) -> Callable[[pa.Array], pa.Array]:
        """Return a function from an Arrow array of source values to one of partition values, of the same length."""
        kind = self._checked(source)
        return lambda array: self._compute(array, kind)

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether values of a type may be transformed."""
        raise NotImplementedError

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return the type of the partition values of a source type."""
        raise NotImplementedError

    def project(self, name: str, pred: Any) -> Any:
        """Project a predicate inclusively; planning does this in Rust, for all transforms at once."""
        raise FeatureUnsupportedError(f"{self}.project({name!r}, {pred}): projecting a predicate from Python")

    def strict_project(self, name: str, pred: Any) -> Any:
        """Project a predicate strictly; planning does this in Rust, for all transforms at once."""
        raise FeatureUnsupportedError(f"{self}.strict_project({name!r}, {pred}): projecting a predicate from Python")

    @property
    def preserves_order(self) -> bool:
        """Whether partition values are ordered as source values are."""
        return False

    def satisfies_order_of(self, other: Transform) -> bool:
        """Return whether data sorted by this transform is sorted by the other."""
        return self == other

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return the text of a partition value in paths and reports, ``null`` of None."""
        return "null" if value is None else str(value)

    @property
    def dedup_name(self) -> str:
        """The family of which a column may have one field per spec; all time transforms are one family."""
        return str(self)

    def _checked(self, source: IcebergType) -> PrimitiveType:
        if not isinstance(source, PrimitiveType) or not self.can_transform(source):
            raise ValidationError(f"transform {self} does not apply to values of type {source}")
        return source

    def _compute(self, array: pa.Array, source: PrimitiveType) -> pa.Array:
        from icefloe import _core

        return _core.transform(array, str(self), str(source))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            parse_transform, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Transform) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))


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
        return _human(source, value)


class IdentityTransform(_ValueTransform):
    """The value itself."""

    __slots__ = ()
    _text = "identity"

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type is primitive."""
        return source.is_primitive

    def satisfies_order_of(self, other: Transform) -> bool:
        """Return whether the other transform keeps the order of values."""
        return other.preserves_order


class BucketTransform(Transform):
    """The hash of the value modulo a number of buckets.

    >>> str(BucketTransform(16))
    'bucket[16]'
    """

    __slots__ = ("num_buckets",)
    num_buckets: int

    def __init__(self, num_buckets: int) -> None:
        self.num_buckets = _positive("the number of buckets", num_buckets)

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type has a hash. Spec: Appendix B."""
        hashable = _INTEGERS | _DATES | _TIMESTAMPS | _TEXTS | {"time", "uuid"}
        return str(source) in hashable or isinstance(source, FixedType) or str(source).startswith("decimal(")

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return int."""
        return IntegerType()

    def __str__(self) -> str:
        return f"bucket[{self.num_buckets}]"

    def __repr__(self) -> str:
        return f"BucketTransform(num_buckets={self.num_buckets})"


class TruncateTransform(_ValueTransform):
    """The value cut to a width: text to its first characters, a number down to a multiple.

    >>> str(TruncateTransform(4))
    'truncate[4]'
    """

    __slots__ = ("width",)
    width: int

    def __init__(self, width: int) -> None:
        self.width = _positive("the width", width)

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type is int, long, decimal, string or binary."""
        return str(source) in _INTEGERS | _TEXTS or str(source).startswith("decimal(")

    def __str__(self) -> str:
        return f"truncate[{self.width}]"

    def __repr__(self) -> str:
        return f"TruncateTransform(width={self.width})"


class TimeTransform(Transform):
    """Whole years, months, days or hours from 1970-01-01."""

    __slots__ = ()
    _sources: ClassVar[set[str]] = _DATES | _TIMESTAMPS
    _granularity: ClassVar[int] = 0

    @property
    def granularity(self) -> int:
        """1 years, 2 months, 3 days, 4 hours."""
        return self._granularity

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type is a date or a timestamp (hours: a timestamp)."""
        return str(source) in self._sources

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return int; date for days."""
        return IntegerType()

    @property
    def preserves_order(self) -> bool:
        """Whether partition values are ordered as source values are: they are."""
        return True

    def satisfies_order_of(self, other: Transform) -> bool:
        """Return whether the other transform counts the same or a longer span of time."""
        return isinstance(other, TimeTransform) and self.granularity >= other.granularity

    @property
    def dedup_name(self) -> str:
        """``time``, for all of this family."""
        return "time"


class YearTransform(TimeTransform):
    """Years from 1970."""

    __slots__ = ()
    _text = "year"
    _granularity = 1

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017`` for 47."""
        return "null" if value is None else f"{1970 + value:04d}"


class MonthTransform(TimeTransform):
    """Months from 1970-01."""

    __slots__ = ()
    _text = "month"
    _granularity = 2

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017-12`` for 575."""
        return "null" if value is None else f"{1970 + value // 12:04d}-{value % 12 + 1:02d}"


class DayTransform(TimeTransform):
    """Days from 1970-01-01."""

    __slots__ = ()
    _text = "day"
    _granularity = 3

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return date."""
        return DateType()

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017-12-01`` for 17501."""
        return _human(DateType(), value)


class HourTransform(TimeTransform):
    """Hours from 1970-01-01 00:00."""

    __slots__ = ()
    _text = "hour"
    _granularity = 4
    _sources = _TIMESTAMPS

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017-12-01-10`` for 420034."""
        return "null" if value is None else f"{_human(DateType(), value // 24)}-{value % 24:02d}"


class VoidTransform(Transform):
    """Always null: what is left of a partition field that was removed from a v1 table."""

    __slots__ = ()
    _text = "void"

    def can_transform(self, source: IcebergType) -> bool:  # noqa: D102 - every type may be dropped
        return True

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return the source type."""
        return source


class UnknownTransform(Transform):
    """A transform of which only the text is known; files it made are read, none are written."""

    __slots__ = ("_spelled",)
    _spelled: str

    def __init__(self, transform: str) -> None:
        self._spelled = transform

    def can_transform(self, source: IcebergType) -> bool:
        """Return false: its values cannot be computed."""
        return False

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return string."""
        return StringType()

    def __str__(self) -> str:
        return self._spelled

    def __repr__(self) -> str:
        return f"UnknownTransform(transform={self._spelled!r})"


_PLAIN: dict[str, Transform] = {
    str(transform): transform
    for transform in (
        IdentityTransform(),
        YearTransform(),
        MonthTransform(),
        DayTransform(),
        HourTransform(),
        VoidTransform(),
    )
}


def parse_transform(v: Any) -> Transform:
    """Return the transform that a text spells; an :class:`UnknownTransform` if none does.

    >>> parse_transform("bucket[16]")
    BucketTransform(num_buckets=16)
    """
    if isinstance(v, Transform):
        return v
    if not isinstance(v, str):
        raise ValidationError(f"a transform is text, found {v!r}")
    if (plain := _PLAIN.get(v.lower())) is not None:
        return plain
    if match := _PARAMETRISED.fullmatch(v):
        kind = BucketTransform if match[1].lower() == "bucket" else TruncateTransform
        return kind(int(match[2]))
    if _MISSPELLED.fullmatch(v):
        raise ValidationError(f"not a transform: {v!r}; the number must be in 1..={_MAX_PARAMETER}")
    return UnknownTransform(v)


def _positive(what: str, value: int) -> int:
    if not 1 <= value <= _MAX_PARAMETER:
        raise ValidationError(f"{what} must be in 1..={_MAX_PARAMETER}, got {value}")
    return value


def _human(source: IcebergType, value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool):
        return str(value).lower()
    text = str(to_json_value(source, value)) if isinstance(source, PrimitiveType) else str(value)
    # Paths spell UTC with one letter, JSON with its offset.
    return text.replace("+00:00", "Z") if str(source).startswith("timestamptz") else text


def _number(array: pa.Array) -> pa.Array:
    """Return dates and times as the numbers that they are."""
    import pyarrow as pa

    if pa.types.is_date32(array.type):
        return array.cast(pa.int32())
    return array.cast(pa.int64()) if pa.types.is_temporal(array.type) else array
