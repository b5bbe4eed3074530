"""Null-safe comparisons in conditions, `<=>` and `IS [NOT] DISTINCT FROM`, as comparisons that the grammar of filters has."""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp

from icefloe.spark.lexer import words_of


def without_null_safe_comparisons(condition: str) -> str:
    """Return a condition in which tests for null stand beside plain comparisons, so that NOT before them keeps its meaning.

    A condition without such a comparison is returned as it is, and so is one that sqlglot cannot parse.

    Examples:
        >>> without_null_safe_comparisons("p IS DISTINCT FROM 'b'")
        "(p <> 'b' OR p IS NULL)"
        >>> without_null_safe_comparisons("NOT p <=> NULL")
        'NOT p IS NULL'
    """
    if not any(word.text == "<=>" or word.is_keyword("DISTINCT") for word in words_of(condition)):
        return condition
    try:
        tree: Any = sqlglot.parse_one(condition, dialect="spark")
    except sqlglot.errors.SqlglotError:
        return condition
    holder = exp.Paren(this=tree)
    for comparison in list(holder.find_all(exp.NullSafeEQ, exp.NullSafeNEQ)):
        column, constant = comparison.this, comparison.expression
        if next(column.find_all(exp.Column), None) is None:
            column, constant = constant, column
        if next(constant.find_all(exp.Column), None) is None:
            comparison.replace(_plain(comparison, column, constant))
    return str(holder.this.sql(dialect="spark"))


def _plain(comparison: Any, column: Any, constant: Any) -> Any:
    """Return the comparison of a column with a constant, true or false for every row."""
    equal = isinstance(comparison, exp.NullSafeEQ)
    null = exp.Is(this=column.copy(), expression=exp.Null())
    if isinstance(constant, exp.Null):
        return null if equal else exp.Not(this=null)
    if equal:
        both = exp.And(this=exp.EQ(this=column.copy(), expression=constant.copy()), expression=exp.Not(this=null))
        return exp.Paren(this=both)
    return exp.Paren(this=exp.Or(this=exp.NEQ(this=column.copy(), expression=constant.copy()), expression=null))
