"""A filter together with what gives its names and literals their meaning: a schema and the case rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.expressions.binding import bind
from icefloe.expressions.fitting import fit_literals
from icefloe.expressions.parser import parse
from icefloe.expressions.predicates import LiteralPredicate, SetPredicate, UnboundPredicate
from icefloe.expressions.rest_json import expression_to_json
from icefloe.expressions.rewriting import column_names
from icefloe.expressions.terms import Reference, UnboundTransform
from icefloe.expressions.tree import AlwaysTrue, And, BooleanExpression, Not, Or

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.expressions.terms import UnboundTerm
    from icefloe.schema import Schema


@dataclass(frozen=True)
class Filter:
    """The rows of a table that a scan, a delete, an overwrite or a validation is about.

    Text such as `ts < '2026-01-01'` selects rows only together with a schema, which says what `ts` is, and with the rule
    whether `TS` is the same column. A filter is made once, where the user passes it, and keeps all three.

    Attributes:
        expression: The filter as an unbound expression.
        schema: The schema that resolves names and types of literals.
        case_sensitive: Whether names must match exactly.

    Example:
        >>> from icefloe.schema import Schema
        >>> from icefloe.types import NestedField
        >>> schema = Schema(NestedField(1, "id", "long"))
        >>> Filter.of("ID > 5", schema, case_sensitive=False).bound.term.field.name
        'id'
    """

    expression: BooleanExpression
    schema: Schema
    case_sensitive: bool = True

    @classmethod
    def of(cls, row_filter: str | BooleanExpression | Filter, schema: Schema, *, case_sensitive: bool = True) -> Filter:
        """Return a filter of a text or an expression; a `Filter` is returned as it is, with its own schema and case rule.

        Args:
            row_filter: The rows.
            schema: The schema that resolves names and types of literals.
            case_sensitive: Whether names must match exactly.

        Raises:
            ValidationError: The text is no filter. An empty text is none: it would select every row.
        """
        if isinstance(row_filter, Filter):
            return row_filter
        return cls(parsed(row_filter), schema, case_sensitive)

    @classmethod
    def everything(cls, schema: Schema) -> Filter:
        """Return the filter that every row passes."""
        return cls(AlwaysTrue(), schema)

    @cached_property
    def json(self) -> str:
        """The filter as the REST specification's expression JSON, its literals fitted to their columns' types.

        Raises:
            ValidationError: A literal has no meaning in its column's type.
        """
        return expression_to_json(fit_literals(self.schema, self.expression, self.case_sensitive))

    @cached_property
    def bound(self) -> BooleanExpression:
        """The filter on the schema's columns.

        Raises:
            ResolveError: A name is unknown, or ambiguous when case does not count.
            ValidationError: A literal has no meaning in its column's type.
        """
        return bind(self.schema, self.expression, self.case_sensitive)

    def under(self, schema: Schema) -> Filter:
        """Return the filter of the same rows in terms of a later schema of the table, whatever its columns are called there.

        Where the later schema lacks a column of the filter, the filter itself is returned.

        Args:
            schema: A schema with the field ids of the filter's own.
        """
        if schema == self.schema:
            return self
        ids = {
            name: self.schema.find_field(name, self.case_sensitive).field_id for name in column_names(self.expression)
        }
        names = {name: schema.find_column_name(field_id) for name, field_id in ids.items()}
        if None in names.values():
            return self
        return Filter(_renamed(self.expression, names), schema)

    def __str__(self) -> str:
        return str(self.expression)


def _renamed(expr: BooleanExpression, names: Mapping[str, str | None]) -> BooleanExpression:
    if isinstance(expr, (And, Or)):
        sides = _renamed(expr.left, names), _renamed(expr.right, names)
        return And(*sides) if isinstance(expr, And) else Or(*sides)
    if isinstance(expr, Not):
        return Not(_renamed(expr.child, names))
    if not isinstance(expr, UnboundPredicate):
        return expr
    name = names[next(column_names(expr))]
    assert name is not None, "the caller has found every column"
    own = expr.term
    term: UnboundTerm = UnboundTransform(name, own.transform) if isinstance(own, UnboundTransform) else Reference(name)
    kind: Any = type(expr)
    if isinstance(expr, SetPredicate):
        made: BooleanExpression = kind(term, expr.values)
    elif isinstance(expr, LiteralPredicate):
        made = kind(term, expr.literal)
    else:
        made = kind(term)
    return made


def parsed(row_filter: str | BooleanExpression) -> BooleanExpression:
    """Return a filter as an expression, parsing it when it is text.

    Raises:
        ValidationError: It is neither text nor an expression, or the text is no filter.
    """
    if isinstance(row_filter, BooleanExpression):
        return row_filter
    if isinstance(row_filter, str):
        return parse(row_filter)
    raise ValidationError(
        f"row filter: not an expression: {row_filter!r}; expected text or an expression, AlwaysTrue() for every row"
    )
