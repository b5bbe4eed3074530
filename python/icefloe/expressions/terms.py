"""What predicates are about: columns, by name or resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from icefloe.schema import Accessor, Schema
    from icefloe.types import NestedField


class Term:
    """Root of all terms."""

    __slots__ = ()


class Unbound:
    """What names columns."""

    __slots__ = ()


class Bound:
    """What knows its columns."""

    __slots__ = ()


class UnboundTerm(Term, Unbound):
    """A term that names a column."""

    __slots__ = ()


class BoundTerm(Term, Bound):
    """A term that knows its column."""

    __slots__ = ()


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
        return BoundReference(field, schema.accessor_for_field(field.field_id))

    def __repr__(self) -> str:
        return f"Reference(name={self.name!r})"


@dataclass(frozen=True, slots=True)
class BoundReference(BoundTerm):
    """A column of a schema and how to reach its value in a row."""

    field: NestedField
    accessor: Accessor

    def eval(self, struct: Any) -> Any:
        """Return the value in a row."""
        return self.accessor.get(struct)

    def ref(self) -> BoundReference:
        """Return the reference: itself."""
        return self

    def __hash__(self) -> int:
        return hash(self.field)


def to_term(term: str | UnboundTerm) -> UnboundTerm:
    """Return a name as a reference, a term as it is."""
    return Reference(term) if isinstance(term, str) else term
