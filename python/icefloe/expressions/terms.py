"""What predicates are about: columns, by name or resolved."""

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
    """Root of all terms. Classes below take a type in brackets in annotations, as `BoundReference[int]`."""

    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)


class Unbound:
    """What names columns."""

    __slots__ = ()

    def bind(self, schema: Schema, case_sensitive: bool = True) -> Any:
        """Return this on the columns of a schema."""
        raise NotImplementedError


class Bound:
    """What knows its columns."""

    __slots__ = ()


class UnboundTerm(Term, Unbound):
    """A term that names a column."""

    __slots__ = ()


class BoundTerm(Term, Bound):
    """A term that knows its column."""

    __slots__ = ()

    def ref(self) -> BoundReference:
        """Return the column."""
        raise NotImplementedError

    @property
    def value_type(self) -> IcebergType:
        """The type of what is compared, and so of the literals."""
        raise NotImplementedError

    def eval(self, struct: Any) -> Any:
        """Return what is compared, in a row."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, init=False)
class Reference(UnboundTerm):
    """A column by its full name, such as ``point.x``."""

    name: str

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ValidationError(f"a column is named by text, found {name!r}")
        object.__setattr__(self, "name", name)

    def bind(self, schema: Schema, case_sensitive: bool = True) -> BoundReference:
        """Return the column of a schema; ResolveError if it has none of this name, or more than one."""
        field = schema.find_field(self.name, case_sensitive)
        full_name = schema.find_column_name(field.field_id)
        return BoundReference(field, schema.accessor_for_field(field.field_id), full_name)

    def __repr__(self) -> str:
        return f"Reference(name={self.name!r})"


@dataclass(frozen=True, slots=True)
class BoundReference(BoundTerm):
    """A column of a schema, how to reach its value in a row, and its full name where that is known."""

    field: NestedField
    accessor: Accessor
    full_name: str | None = dataclass_field(default=None, compare=False, repr=False)

    def eval(self, struct: Any) -> Any:
        """Return the value in a row."""
        return self.accessor.get(struct)

    def ref(self) -> BoundReference:
        """Return the reference: itself."""
        return self

    @property
    def value_type(self) -> IcebergType:
        """The column's type."""
        return self.field.field_type

    def __hash__(self) -> int:
        return hash(self.field)


@dataclass(frozen=True, slots=True, init=False)
class UnboundTransform(UnboundTerm):
    """A transform of a column by its name. Ordinals are numbers: ``year`` counts from 1970.

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
        """Return the transform of a schema's column; of identity, the column.

        Raises:
            ResolveError: The schema has no such column.
            ValidationError: The transform does not apply to the column's type.
            FeatureUnsupportedError: Nothing is known of the transform but its name.
        """
        column = self.term.bind(schema, case_sensitive)
        if isinstance(self.transform, IdentityTransform):
            return column
        if isinstance(self.transform, UnknownTransform):
            raise FeatureUnsupportedError(f"a filter on {self.transform} of {self.term.name}")
        if not self.transform.can_transform(column.value_type):
            raise ValidationError(
                f"filter on {self.transform}({self.term.name}): it does not apply to values of type {column.value_type}"
            )
        return BoundTransform(column, self.transform)


@dataclass(frozen=True, slots=True)
class BoundTransform(BoundTerm):
    """A transform of a column of a schema."""

    term: BoundReference
    transform: Transform

    def eval(self, struct: Any) -> Any:
        """Return the transform of the value in a row; one value at a time, for single rows."""
        return self.transform.transform(self.term.value_type)(self.term.eval(struct))

    def ref(self) -> BoundReference:
        """Return the column."""
        return self.term

    @property
    def value_type(self) -> IcebergType:
        """The type of the transform's results."""
        return self.transform.result_type(self.term.value_type)


def to_term(term: str | UnboundTerm) -> UnboundTerm:
    """Return a name as a reference, a term as it is."""
    if isinstance(term, UnboundTerm):
        return term
    return Reference(term)
