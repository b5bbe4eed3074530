"""Filters: an expression with the schema and the case rule that resolve its names and literals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_flag
from icefloe.exceptions import IcebergError, ResolveError, ValidationError
from icefloe.expressions.bound import bind, convert
from icefloe.expressions.literals import (
    BinaryLiteral,
    DateLiteral,
    DecimalLiteral,
    DoubleLiteral,
    FixedLiteral,
    FloatLiteral,
    Literal,
    LongLiteral,
    StringLiteral,
    TimeLiteral,
    TimestampLiteral,
    UUIDLiteral,
)
from icefloe.expressions.parser import parse
from icefloe.expressions.predicates import (
    LiteralPredicate,
    SetPredicate,
    UnboundPredicate,
    column_names,
    with_column,
)
from icefloe.expressions.rest_json import expression_to_json, literal_to_json_value
from icefloe.expressions.terms import Reference, UnboundTransform
from icefloe.expressions.transform_ranges import column_condition
from icefloe.expressions.tree import AlwaysTrue, And, BooleanExpression, Not, Or
from icefloe.types import DateType, DecimalType, DoubleType, FloatType, IntegerType, LongType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from icefloe.expressions.terms import BoundTerm
    from icefloe.schema import Schema


@dataclass(frozen=True)
class Filter:
    """The filter of a scan, a delete, an overwrite, a merge or a validation.

    Text such as `ts < '2026-01-01'` selects rows only together with a schema, which resolves `ts` and its type, and with the case
    rule, which decides whether `TS` is the same column. A filter is created once, where the user passes it, and holds all three.

    Attributes:
        expression: The filter as an unbound expression.
        schema: The schema that resolves names and types of literals.
        case_sensitive: Whether names must match exactly.

    Examples:
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
        """Return the filter of a text or an expression; a `Filter` is returned with its own schema and case rule.

        Args:
            row_filter: Text in the syntax of :func:`icefloe.expressions.parser.parse`, an expression or a `Filter`.
            schema: The schema that resolves names and types of literals.
            case_sensitive: Whether names must match exactly.

        Raises:
            ValidationError: The text is not a filter; an empty text is refused, since it would select every row.
        """
        if isinstance(row_filter, Filter):
            return row_filter
        return cls(to_expression(row_filter, allow_empty=False), schema, checked_flag("case_sensitive", case_sensitive))

    @classmethod
    def everything(cls, schema: Schema) -> Filter:
        """Return the filter that selects every row."""
        return cls(AlwaysTrue(), schema)

    @cached_property
    def json(self) -> str:
        """The filter as the REST specification's expression JSON, with literals of their columns' types.

        A predicate on a transform, such as `years(ts) = '2024'`, is a condition on the column where one selects the same rows: partitions
        by other transforms of the column, and by the column itself, are pruned with it.

        Raises:
            ValidationError: A literal cannot be compared with values of its column's type.
        """
        of_columns = on_columns(self.schema, self.expression, self.case_sensitive)
        return expression_to_json(fit_literals(self.schema, of_columns, self.case_sensitive), for_core=True)

    @cached_property
    def bound(self) -> BooleanExpression:
        """The expression bound to the schema's columns.

        Raises:
            ResolveError: The schema has no column of a name, or several that differ by case alone.
            ValidationError: A literal cannot be compared with values of its column's type.
        """
        return bind(self.schema, self.expression, self.case_sensitive)

    def under(self, schema: Schema) -> Filter:
        """Return the filter of the same rows with the column names of another schema of the table.

        If the other schema lacks a column of the filter, this filter is returned.

        Args:
            schema: A schema of the same table; columns are matched by field id.
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
    assert name is not None, "the caller has resolved every column"
    return with_column(expr, name)


def to_expression(row_filter: str | BooleanExpression | None, *, allow_empty: bool = True) -> BooleanExpression:
    """Return a filter as an unbound expression, parsing it when it is text.

    Args:
        row_filter: Text in the syntax of :func:`icefloe.expressions.parser.parse`, or an expression, which is returned.
        allow_empty: Whether None and an empty text select every row; if not, they are refused.

    Raises:
        ValidationError: The filter is neither text nor an expression, or the text is not a filter.

    >>> to_expression("x = 1")
    EqualTo(term=Reference(name='x'), literal=literal(1))
    """
    if isinstance(row_filter, BooleanExpression):
        return row_filter
    if allow_empty and (row_filter is None or (isinstance(row_filter, str) and not row_filter.strip())):
        return AlwaysTrue()
    if isinstance(row_filter, str):
        return parse(row_filter)
    raise ValidationError(
        f"row filter: not an expression: {row_filter!r}; expected text or an expression, such as AlwaysTrue() for every row"
    )


def on_columns(schema: Schema, expr: BooleanExpression, case_sensitive: bool = True) -> BooleanExpression:
    """Return an unbound expression that selects the same rows, with conditions on columns in place of predicates on transforms.

    Predicates are returned unchanged where the column has no such condition, as for `bucket`, and where binding refuses the predicate.

    Args:
        schema: The schema that resolves names and types of literals.
        expr: An unbound expression.
        case_sensitive: Whether names must match exactly.

    >>> from icefloe.schema import Schema
    >>> from icefloe.types import NestedField
    >>> str(on_columns(Schema(NestedField(1, "d", "date")), to_expression("years(d) < '2024'")))
    "d < '2024-01-01'"
    """
    return _with_predicates(expr, lambda predicate: _on_column(schema, predicate, case_sensitive))


def _with_predicates(
    expr: BooleanExpression, change: Callable[[BooleanExpression], BooleanExpression]
) -> BooleanExpression:
    """Return an expression with each predicate changed; the same object if no predicate is another one."""
    if isinstance(expr, (And, Or)):
        sides = [_with_predicates(side, change) for side in (expr.left, expr.right)]
        if sides[0] is expr.left and sides[1] is expr.right:
            return expr
        return And(*sides) if isinstance(expr, And) else Or(*sides)
    if isinstance(expr, Not):
        child = _with_predicates(expr.child, change)
        return expr if child is expr.child else Not(child)
    return change(expr)


def _on_column(schema: Schema, expr: BooleanExpression, case_sensitive: bool) -> BooleanExpression:
    if not isinstance(expr, UnboundPredicate) or not isinstance(expr.term, UnboundTransform):
        return expr
    term = expr.term
    typed: Any = expr
    kind: Any = type(expr)
    try:
        bound = term.bind(schema, case_sensitive)
        if isinstance(expr, LiteralPredicate):
            typed = kind(term, convert(expr.literal, bound))
        elif isinstance(expr, SetPredicate):
            typed = kind(term, [convert(value, bound) for value in expr.values])
    except IcebergError:  # binding raises it, with the message of the caller's schema
        return expr
    condition = column_condition(typed, bound.ref().value_type)
    return expr if condition is None else condition


_TYPED = (DateLiteral, TimeLiteral, TimestampLiteral, UUIDLiteral, FixedLiteral, BinaryLiteral)
_NUMBERS = (LongLiteral, FloatLiteral, DoubleLiteral, DecimalLiteral)
_NUMBER_TYPES = (IntegerType, LongType, FloatType, DoubleType, DecimalType)


def fit_literals(schema: Schema, expr: BooleanExpression, case_sensitive: bool = True) -> BooleanExpression:
    """Return an unbound expression whose dates, times, bytes and UUIDs are literals of their columns' types.

    JSON has one text for dates, bytes and timestamps with and without zone, so the Python types are converted before the
    expression becomes JSON. A date beside a timestamp column becomes its midnight, a timestamp beside a date column its day, as
    in the Java reference and PyIceberg; a zone is added or dropped as the column requires. Predicates on unknown names are
    returned unchanged: binding refuses them.

    Raises:
        ValidationError: A literal cannot be compared with values of its column's type, such as bytes with an int.
    """
    return _with_predicates(expr, lambda predicate: _with_fitted_literals(schema, predicate, case_sensitive))


def _with_fitted_literals(schema: Schema, expr: BooleanExpression, case_sensitive: bool) -> BooleanExpression:
    literals: tuple[Literal, ...] = ()
    if isinstance(expr, LiteralPredicate):
        literals = (expr.literal,)
    elif isinstance(expr, SetPredicate):
        literals = expr.values
    if not any(_needs_type(literal) for literal in literals):
        return expr
    assert isinstance(expr, UnboundPredicate)
    return _with_typed_literals(schema, expr, literals, case_sensitive)


def _needs_type(literal: Literal, term: BoundTerm | None = None) -> bool:
    """Return whether the JSON of a literal depends on the type of its column; without a term, whether it may."""
    if isinstance(literal, _TYPED):
        return True
    if isinstance(literal, _NUMBERS):
        # The text of a number is a value of a string, and hexadecimal of bytes; dates and times are compared with JSON numbers.
        is_text = isinstance(literal_to_json_value(literal, for_core=True), str)
        return is_text and (term is None or not isinstance(term.value_type, _NUMBER_TYPES))
    # The text of a timestamp beside a date column is converted to its day.
    has_time = isinstance(literal, StringLiteral) and ":" in literal.value
    return has_time and (term is None or isinstance(term.value_type, DateType))


def _with_typed_literals(
    schema: Schema, expr: UnboundPredicate, literals: tuple[Literal, ...], case_sensitive: bool
) -> BooleanExpression:
    if not isinstance(expr.term, (Reference, UnboundTransform)):
        return expr
    try:
        term: BoundTerm = expr.term.bind(schema, case_sensitive)
    except ResolveError:
        return expr
    typed = [convert(literal, term) if _needs_type(literal, term) else literal for literal in literals]
    if all(new is old for new, old in zip(typed, literals, strict=True)):
        return expr
    kind: Any = type(expr)
    typed_predicate: BooleanExpression = kind(expr.term, typed if isinstance(expr, SetPredicate) else typed[0])
    return typed_predicate
