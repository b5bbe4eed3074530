"""The bucket transform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.transforms.source_types import DATES, INTEGERS, TEXTS, TIMESTAMPS
from icefloe.transforms.transform import Transform, checked_parameter
from icefloe.types import DecimalType, FixedType, IcebergType, IntegerType

if TYPE_CHECKING:
    from typing_extensions import Self


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
