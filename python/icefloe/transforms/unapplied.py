"""Transforms that give no values: void, and those that are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.transforms.transform import Transform
from icefloe.types import IcebergType, PrimitiveType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from icefloe.expressions.bound import BoundPredicate


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

    def project(self, name: str, pred: BoundPredicate) -> None:
        """Return None: null says nothing of the rows."""

    def strict_project(self, name: str, pred: BoundPredicate) -> None:
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

    def project(self, name: str, pred: BoundPredicate) -> None:
        """Return None: any of its partitions might match."""

    def strict_project(self, name: str, pred: BoundPredicate) -> None:
        """Return None: none of its partitions must match."""

    def _checked(self, source: IcebergType) -> PrimitiveType:
        raise FeatureUnsupportedError(f"applying the transform {self}, which is not known, to values of type {source}")

    def __reduce__(self) -> tuple[Any, ...]:
        return UnknownTransform, (self._spelled,)

    def __str__(self) -> str:
        return self._spelled

    def __repr__(self) -> str:
        return f"UnknownTransform(transform={self._spelled!r})"
