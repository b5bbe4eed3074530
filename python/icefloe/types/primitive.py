"""Primitive types; equal types are the same object. Spec: Primitive Types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from icefloe.arguments import checked_integer
from icefloe.exceptions import ValidationError
from icefloe.types.interned import Interned

if TYPE_CHECKING:
    from typing_extensions import Self

MAX_DECIMAL_PRECISION = 38
DEFAULT_GEOMETRY_CRS = "OGC:CRS84"
DEFAULT_GEOGRAPHY_CRS = "OGC:CRS84"
DEFAULT_GEOGRAPHY_ALGORITHM = "spherical"


class IcebergType:
    """The base class of all types. Types are immutable; ``str(type)`` is the specification's name."""

    __slots__ = ()

    @property
    def is_primitive(self) -> bool:
        """Whether the type is primitive rather than a struct, a list or a map."""
        return isinstance(self, PrimitiveType)

    @property
    def is_struct(self) -> bool:
        """Whether the type is a struct."""
        return False

    def minimum_format_version(self) -> int:
        """Return the lowest format version with this type: 1, 2 or 3."""
        return 1

    def to_json_value(self) -> Any:
        """Return the JSON value: text of a primitive type, an object of a nested type. Spec: Appendix C."""
        raise NotImplementedError

    def model_dump(self, **options: Any) -> Any:
        """Return the JSON value; options are accepted and ignored."""
        del options
        return self.to_json_value()

    def model_dump_json(self, **options: Any) -> str:
        """Return the JSON text; options are accepted and ignored.

        >>> DecimalType(9, 2).model_dump_json()
        '"decimal(9, 2)"'
        """
        del options
        return json.dumps(self.to_json_value(), separators=(",", ":"), ensure_ascii=False)


class PrimitiveType(Interned, IcebergType):
    """A type without nested fields. Equal types are the same object.

    >>> DecimalType(9, 2) is DecimalType(9, 2)
    True
    """

    __slots__ = ()
    _text: ClassVar[str] = ""
    _version: ClassVar[int] = 1

    @property
    def root(self) -> Any:
        """The parameters, an int, text or a tuple; the name of a type without parameters."""
        return self._text

    def minimum_format_version(self) -> int:
        """Return the lowest format version with this type: 1, 2 or 3."""
        return self._version

    def to_json_value(self) -> str:
        """Return the specification's name."""
        return str(self)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot set {name!r}: type {self} is immutable")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, PrimitiveType) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


class BooleanType(PrimitiveType):
    """True or false."""

    __slots__ = ()
    _text = "boolean"


class IntegerType(PrimitiveType):
    """A 32-bit signed integer; promotes to long."""

    __slots__ = ()
    _text = "int"
    max: ClassVar[int] = 2**31 - 1
    min: ClassVar[int] = -(2**31)


class LongType(PrimitiveType):
    """A 64-bit signed integer."""

    __slots__ = ()
    _text = "long"
    max: ClassVar[int] = 2**63 - 1
    min: ClassVar[int] = -(2**63)


class FloatType(PrimitiveType):
    """A 32-bit IEEE 754 number; promotes to double."""

    __slots__ = ()
    _text = "float"
    max: ClassVar[float] = 3.4028234663852886e38
    min: ClassVar[float] = -3.4028234663852886e38


class DoubleType(PrimitiveType):
    """A 64-bit IEEE 754 number."""

    __slots__ = ()
    _text = "double"


class DateType(PrimitiveType):
    """A calendar date: days from 1970-01-01."""

    __slots__ = ()
    _text = "date"


class TimeType(PrimitiveType):
    """A time of day: microseconds from midnight."""

    __slots__ = ()
    _text = "time"


class TimestampType(PrimitiveType):
    """A date and time without zone: microseconds from 1970-01-01 00:00:00."""

    __slots__ = ()
    _text = "timestamp"


class TimestamptzType(PrimitiveType):
    """An instant: microseconds from 1970-01-01 00:00:00 UTC."""

    __slots__ = ()
    _text = "timestamptz"


class TimestampNanoType(PrimitiveType):
    """A date and time without zone: nanoseconds from 1970-01-01 00:00:00. Format version 3."""

    __slots__ = ()
    _text = "timestamp_ns"
    _version = 3


class TimestamptzNanoType(PrimitiveType):
    """An instant: nanoseconds from 1970-01-01 00:00:00 UTC. Format version 3."""

    __slots__ = ()
    _text = "timestamptz_ns"
    _version = 3


class StringType(PrimitiveType):
    """UTF-8 text of any length."""

    __slots__ = ()
    _text = "string"


class UUIDType(PrimitiveType):
    """A UUID: 16 bytes."""

    __slots__ = ()
    _text = "uuid"


class BinaryType(PrimitiveType):
    """Bytes of any length."""

    __slots__ = ()
    _text = "binary"


class UnknownType(PrimitiveType):
    """A column that holds only nulls. Format version 3."""

    __slots__ = ()
    _text = "unknown"
    _version = 3


class DecimalType(PrimitiveType):
    """A decimal number of ``precision`` digits, with ``scale`` digits after the point.

    The precision is 1 to 38, the scale -128 to 127. Parquet files cannot hold decimals with a negative scale or a scale above the
    precision.

    Raises:
        ValidationError: The precision or the scale is out of range.

    >>> str(DecimalType(9, 2))
    'decimal(9, 2)'
    """

    __slots__ = ("precision", "scale")
    precision: int
    scale: int

    def __new__(cls, precision: int, scale: int) -> Self:
        """Return the decimal type of a precision and a scale."""
        if type(precision) is not int or type(scale) is not int:
            precision = checked_integer("Decimal precision", precision)
            scale = checked_integer("Decimal scale", scale)
        if not 1 <= precision <= MAX_DECIMAL_PRECISION:
            raise ValidationError(
                f"Decimal precision must be between 1 and {MAX_DECIMAL_PRECISION} (inclusive), got: {precision}"
            )
        if not -128 <= scale <= 127:
            raise ValidationError(f"Decimal scale must be between -128 and 127 (inclusive), got: {scale}")
        return cls._instance(precision=precision, scale=scale)

    @property
    def root(self) -> tuple[int, int]:
        """Precision and scale."""
        return self.precision, self.scale

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})"

    def __repr__(self) -> str:
        return f"DecimalType(precision={self.precision}, scale={self.scale})"

    def __reduce__(self) -> tuple[Any, ...]:
        return DecimalType, (self.precision, self.scale)


class FixedType(PrimitiveType):
    """Exactly ``length`` bytes.

    >>> str(FixedType(16))
    'fixed[16]'
    """

    __slots__ = ("length",)
    length: int

    def __new__(cls, length: int) -> Self:
        """Return the fixed type of a length in bytes."""
        if type(length) is not int:
            length = checked_integer("type fixed", length)
        if not 1 <= length < 2**31:
            raise ValidationError(f"type fixed: expected a length of 1 to 2147483647 bytes, got {length}")
        return cls._instance(length=length)

    @property
    def root(self) -> int:
        """The length in bytes."""
        return self.length

    def __len__(self) -> int:
        return self.length

    def __str__(self) -> str:
        return f"fixed[{self.length}]"

    def __repr__(self) -> str:
        return f"FixedType(length={self.length})"

    def __reduce__(self) -> tuple[Any, ...]:
        return FixedType, (self.length,)


class GeometryType(PrimitiveType):
    """A geometry in a coordinate reference system. Format version 3."""

    __slots__ = ("crs",)
    _version = 3
    crs: str

    def __new__(cls, crs: str = DEFAULT_GEOMETRY_CRS) -> Self:
        """Return the geometry type of a coordinate reference system."""
        return cls._instance(crs=crs)

    @property
    def root(self) -> str:
        """The coordinate reference system."""
        return self.crs

    def __str__(self) -> str:
        return "geometry" if self.crs == DEFAULT_GEOMETRY_CRS else f"geometry({self.crs})"

    def __repr__(self) -> str:
        return "GeometryType()" if self.crs == DEFAULT_GEOMETRY_CRS else f"GeometryType(crs={self.crs!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return GeometryType, (self.crs,)


class GeographyType(PrimitiveType):
    """A geography in a coordinate reference system, edges interpolated by ``algorithm``. Format version 3."""

    __slots__ = ("algorithm", "crs")
    _version = 3
    crs: str
    algorithm: str

    def __new__(cls, crs: str = DEFAULT_GEOGRAPHY_CRS, algorithm: str = DEFAULT_GEOGRAPHY_ALGORITHM) -> Self:
        """Return the geography type of a coordinate reference system and an edge algorithm."""
        return cls._instance(crs=crs, algorithm=algorithm)

    @property
    def root(self) -> tuple[str, str]:
        """The coordinate reference system and the edge algorithm."""
        return self.crs, self.algorithm

    def _is_default(self) -> bool:
        return self.root == (DEFAULT_GEOGRAPHY_CRS, DEFAULT_GEOGRAPHY_ALGORITHM)

    def __str__(self) -> str:
        return "geography" if self._is_default() else f"geography({self.crs}, {self.algorithm})"

    def __repr__(self) -> str:
        if self._is_default():
            return "GeographyType()"
        return f"GeographyType(crs={self.crs!r}, algorithm={self.algorithm!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return GeographyType, (self.crs, self.algorithm)
