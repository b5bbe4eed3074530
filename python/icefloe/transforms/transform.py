"""The base class of transforms: source and result types, functions, projections and texts."""

from __future__ import annotations

import base64
import json
import re
from functools import singledispatch
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol

from typing_extensions import TypeVar

from icefloe.conversions import to_json_value, to_ordinal, unscaled_value
from icefloe.exceptions import ValidationError
from icefloe.types import DecimalType, IcebergType, PrimitiveType
from icefloe.types.arrow import primitive_to_arrow
from icefloe.types.interned import Interned

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


# Names of source types, in groups that the transforms share.
DATES = frozenset({"date"})
TIMESTAMPS = frozenset({"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
INTEGERS = frozenset({"int", "long"})
TEXTS = frozenset({"string", "binary"})

S = TypeVar("S", default=Any)
T = TypeVar("T", default=Any)
E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)


class ColumnPredicate(Protocol[E_co]):
    """A predicate on a column of a schema; :class:`icefloe.expressions.BoundPredicate` is its one class."""

    @property
    def as_unbound(self) -> type[E_co]:
        """The class of the same predicate on a column by name."""


class Transform(Interned, Generic[S, T]):
    """A function from source values to partition values. Immutable; ``str(transform)`` is the specification's name.

    Equal transforms are the same object.

    >>> from icefloe.transforms import BucketTransform
    >>> BucketTransform(16) is BucketTransform(16)
    True
    """

    __slots__ = ()
    _text: ClassVar[str] = ""

    @property
    def root(self) -> str:
        """The specification's name, such as ``bucket[16]``."""
        return str(self)

    def model_dump(self, **options: Any) -> str:
        """Return the specification's name; options are accepted and ignored."""
        del options
        return str(self)

    def model_dump_json(self, **options: Any) -> str:
        """Return the specification's name as JSON text."""
        del options
        return json.dumps(str(self))

    def transform(self, source: IcebergType) -> Callable[[Any], Any]:
        """Return a function from one source value to its partition value, and from None to None.

        The function accepts dates, times and timestamps as ordinals (days or microseconds) or as ``datetime`` objects, and returns
        ordinals as ``int``. It raises ValidationError for a value that is not of the source type.

        Raises:
            ValidationError: The transform does not apply to the type.

        >>> from icefloe.transforms import BucketTransform
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
            try:
                array = _array_of(kind, ordinal, arrow_type)
            except (pa.ArrowException, OverflowError, TypeError) as error:
                raise ValidationError(
                    f"transform {self}: {value!r} is not a value of type {kind}; expected a {kind}, got {type(value).__name__}"
                ) from error
            return _number(self._compute(array, kind))[0].as_py()

        return apply

    def pyarrow_transform(self, source: IcebergType) -> Callable[[Any], pa.Array]:
        """Return a function from an Arrow array of source values to an array of partition values of the same length.

        The function accepts the arrays and streams that :func:`icefloe.transforms.bucket` accepts; a null stays null.

        Raises:
            ValidationError: The transform does not apply to the type.
        """
        from icefloe.transforms.array_functions import each_chunk

        kind = self._checked(source)
        return lambda array: each_chunk(array, lambda chunk: self._compute(chunk, kind))

    @property
    def supports_pyarrow_transform(self) -> bool:
        """Whether :meth:`pyarrow_transform` is supported: true for every transform but an unknown one."""
        return True

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the transform applies to a type."""
        raise NotImplementedError

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return the type of the partition values of a source type."""
        raise NotImplementedError

    def project(self, name: str, pred: ColumnPredicate[E]) -> E | None:
        """Return a predicate on partition field ``name`` that is true wherever some row satisfies ``pred``; None if there is none.

        Raises:
            ValidationError: The transform does not apply to the type of the predicate's column.

        >>> from icefloe.expressions import GreaterThan
        >>> from icefloe.schema import Schema
        >>> from icefloe.transforms import TruncateTransform
        >>> from icefloe.types import NestedField
        >>> column = GreaterThan("x", 99).bind(Schema(NestedField(1, "x", "int")))
        >>> TruncateTransform(10).project("x_trunc", column)
        GreaterThanOrEqual(term=Reference(name='x_trunc'), literal=LongLiteral(100))
        """
        projection: E | None = projected(pred, self, name, strict=False)
        return projection

    def strict_project(self, name: str, pred: ColumnPredicate[E]) -> E | None:
        """Return a predicate on partition field ``name`` that is true only where every row satisfies ``pred``; None if there is none.

        Raises:
            ValidationError: The transform does not apply to the type of the predicate's column.
        """
        projection: E | None = projected(pred, self, name, strict=True)
        return projection

    @property
    def preserves_order(self) -> bool:
        """Whether partition values have the order of source values."""
        return False

    def satisfies_order_of(self, other: Transform) -> bool:
        """Return whether data that is sorted by this transform is also sorted by the other."""
        return self == other

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return the text of a partition value in paths and reports; ``null`` for None."""
        return "null" if value is None else str(value)

    @property
    def dedup_name(self) -> str:
        """The name under which a spec has at most one field per column; all time transforms share ``time``."""
        return str(self)

    def _checked(self, source: IcebergType) -> PrimitiveType:
        if not isinstance(source, PrimitiveType) or not self.can_transform(source):
            raise ValidationError(
                f"transform {self} does not apply to values of type {source}; choose another transform"
            )
        return source

    def _compute(self, array: Any, source: PrimitiveType) -> pa.Array:
        from icefloe import _core

        return _core.transform(array, str(self), str(source))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Transform) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: transform {self} is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


@singledispatch
def projected(  # the signature is that of the cases
    pred: object,
    transform: Transform,  # noqa: ARG001
    name: str,  # noqa: ARG001
    *,
    strict: bool,  # noqa: ARG001
) -> Any:
    """Return the projection of a predicate onto one partition field; see :meth:`Transform.project`.

    Expressions import transforms, so :mod:`icefloe.expressions.projection` registers the case of bound predicates.
    """
    raise ValidationError(
        f"pred: expected a predicate that is bound to a column, got {pred!r}; bind it to a schema first"
    )


MAX_PARAMETER = 2**31 - 1


def checked_parameter(name: str, value: int) -> int:
    """Return the parameter of a transform.

    Raises:
        ValidationError: The value is not an int from 1 to 2**31 - 1.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValidationError(f"{name} must be a whole number from 1 to {MAX_PARAMETER}, got {value!r}")
    if not 1 <= value <= MAX_PARAMETER:
        raise ValidationError(f"{name} must be from 1 to {MAX_PARAMETER}, got {value}")
    return value


def _number(array: pa.Array) -> pa.Array:
    """Return an array with dates, times and timestamps cast to their ordinals."""
    import pyarrow as pa

    if pa.types.is_date32(array.type):
        return array.cast(pa.int32())
    return array.cast(pa.int64()) if pa.types.is_temporal(array.type) else array


def _array_of(kind: PrimitiveType, value: Any, arrow_type: pa.DataType) -> pa.Array:
    """Return an Arrow array of one value."""
    import pyarrow as pa

    if isinstance(kind, DecimalType):
        # pyarrow.array() makes no decimal whose scale exceeds its precision.
        wide = pa.array([unscaled_value(value, kind)], pa.decimal128(38, 0))
        return pa.Array.from_buffers(arrow_type, 1, wide.buffers())
    return pa.array([getattr(value, "bytes", value)], arrow_type)


_FRACTION = re.compile(r"\.\d+")
_WHOLE_MINUTE = re.compile(r":00$")


def human_text(source: IcebergType, value: Any) -> str:
    """Return the text of a value in paths: ISO 8601 for dates and times, base64 for bytes, ``null`` for None."""
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, bool):
        return str(value).lower()
    text = str(to_json_value(source, value)) if isinstance(source, PrimitiveType) else str(value)
    kind = str(source)
    if kind == "time":
        return _WHOLE_MINUTE.sub("", _FRACTION.sub(_thousands, text))
    return _FRACTION.sub(_trimmed, text) if kind.startswith("timestamp") else text


def _trimmed(fraction: re.Match[str]) -> str:
    return fraction[0].rstrip("0").rstrip(".")


def _thousands(fraction: re.Match[str]) -> str:
    """Return a fraction of a second with 0, 3, 6 or 9 digits, without trailing groups of zeros."""
    digits = fraction[0]
    while digits.endswith("000"):
        digits = digits[:-3]
    return digits.rstrip(".")
