"""What users write as a filter, as an expression."""

from __future__ import annotations

from icefloe.exceptions import ValidationError
from icefloe.expressions.parser import parse
from icefloe.expressions.tree import AlwaysTrue, BooleanExpression


def to_expression(row_filter: str | BooleanExpression | None) -> BooleanExpression:
    """Return a filter as an expression: a text is parsed, None and an empty text select every row.

    >>> to_expression("x = 1")
    EqualTo(term=Reference(name='x'), literal=literal(1))
    """
    if isinstance(row_filter, BooleanExpression):
        return row_filter
    if row_filter is None:
        return AlwaysTrue()
    if isinstance(row_filter, str):
        return parse(row_filter) if row_filter.strip() else AlwaysTrue()
    raise ValidationError(f"a filter is a text or an expression, found {row_filter!r}")
