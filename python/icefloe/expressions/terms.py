"""Terms of predicates: columns and transforms of columns, by name or bound to a schema."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.transforms import IdentityTransform, Transform, UnknownTransform, parse_transform

if TYPE_CHECKING:
    from icefloe.schema import Accessor, Schema
    from icefloe.types import IcebergType, NestedField


class Term:
    """The base class of all terms. Annotations may parametrise subclasses, as in `BoundReference[int]`."""

    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)


class Unbound:
    """A term or predicate on columns by name."""

    __slots__ = ()

    def bind(self, schema: Schema, case_sensitive: bool = True) -> Any:
        """Return the same term or predicate on the columns of a schema."""
        raise NotImplementedError


class Bound:
    """A term or predicate on the columns of a schema."""

    __slots__ = ()


class UnboundTerm(Term, Unbound):
    """A term on a column by name."""

    __slots__ = ()


class BoundTerm(Term, Bound):
    """A term on a column of a schema."""

    __slots__ = ()

    def ref(self) -> BoundReference:
        """Return the column."""
        raise NotImplementedError

    @property
    def value_type(self) -> IcebergType:
        """The type of the compared values, and of the literals."""
        raise NotImplementedError

    def eval(self, struct: Any) -> Any:
        """Return the compared value of a row."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, init=False)
class Reference(UnboundTerm):
    """A column by its full name, such as ``point.x``."""

    name: str

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ValidationError(f"column reference: not a name; expected text such as 'point.x', got {name!r}")
        object.__setattr__(self, "name", name)

    def bind(self, schema: Schema, case_sensitive: bool = True) -> BoundReference:
        """Return the column of a schema.

        Raises:
            ResolveError: The schema has no column of this name, or several that differ by case alone.
        """
        field = schema.find_field(self.name, case_sensitive)
        full_name = schema.find_column_name(field.field_id)
        return BoundReference(field, schema.accessor_for_field(field.field_id), full_name)

    def __repr__(self) -> str:
        return f"Reference(name={self.name!r})"


@dataclass(frozen=True, slots=True)
class BoundReference(BoundTerm):
    """A column of a schema, the accessor of its value in a row, and its full name if known."""

    field: NestedField
    accessor: Accessor
    full_name: str | None = dataclass_field(default=None, compare=False, repr=False)

    def eval(self, struct: Any) -> Any:
        """Return the column's value of a row."""
        return self.accessor.get(struct)

    def ref(self) -> BoundReference:
        """Return this reference."""
        return self

    @property
    def value_type(self) -> IcebergType:
        """The column's type."""
        return self.field.field_type

    def __hash__(self) -> int:
        return hash(self.field)


@dataclass(frozen=True, slots=True, init=False)
class UnboundTransform(UnboundTerm):
    """A partition transform of a column by name. Results of time transforms are ordinals: ``year`` counts from 1970.

    >>> from icefloe.expressions import EqualTo
    >>> EqualTo(UnboundTransform("id", "bucket[16]"), 3)
    EqualTo(term=UnboundTransform(term=Reference(name='id'), transform=BucketTransform(num_buckets=16)), literal=LongLiteral(3))
    """

    term: Reference
    transform: Transform

    def __init__(self, term: str | Reference, transform: str | Transform) -> None:
        object.__setattr__(self, "term", term if isinstance(term, Reference) else Reference(term))
        object.__setattr__(self, "transform", parse_transform(transform))

    def bind(self, schema: Schema, case_sensitive: bool = True) -> BoundTerm:
        """Return the transform of a schema's column; for identity, the column.

        Raises:
            ResolveError: The schema has no such column.
            ValidationError: The transform does not apply to the column's type.
            FeatureUnsupportedError: The transform is not one of the specification's.
        """
        column = self.term.bind(schema, case_sensitive)
        if isinstance(self.transform, IdentityTransform):
            return column
        if isinstance(self.transform, UnknownTransform):
            raise FeatureUnsupportedError(
                f"filter on {self.transform}({self.term.name}): unknown transform; expected identity, bucket[N], truncate[W], year, month, day, hour or void"
            )
        if not self.transform.can_transform(column.value_type):
            raise ValidationError(
                f"filter on {self.transform}({self.term.name}): {self.transform} does not apply to type {column.value_type}; filter by the column itself"
            )
        return BoundTransform(column, self.transform)


@dataclass(frozen=True, slots=True)
class BoundTransform(BoundTerm):
    """A partition transform of a column of a schema."""

    term: BoundReference
    transform: Transform

    def eval(self, struct: Any) -> Any:
        """Return the transform of the column's value of a row."""
        return self.transform.transform(self.term.value_type)(self.term.eval(struct))

    def ref(self) -> BoundReference:
        """Return the column."""
        return self.term

    @property
    def value_type(self) -> IcebergType:
        """The type of the transform's results."""
        return self.transform.result_type(self.term.value_type)


def to_term(term: str | UnboundTerm) -> UnboundTerm:
    """Return a term; a name becomes a :class:`Reference`."""
    if isinstance(term, UnboundTerm):
        return term
    return Reference(term)
