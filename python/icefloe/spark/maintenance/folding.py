"""Conditions of procedures whose constants Spark computes: `day > current_date() - INTERVAL 7 DAYS` as a filter."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOGICAL = (exp.And, exp.Or, exp.Not, exp.Paren)
# Filters have these with a column on one side and constants on the other.
_PREDICATES = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.In, exp.Between, exp.Like, exp.Is)
_COLUMNS = (exp.Column, exp.Dot)
_RANDOM = {"rand", "random", "randn", "uuid", "shuffle", "randstr", "uniform", "monotonically_increasing_id"}
_PLAIN = (exp.Literal, exp.Boolean, exp.Null, exp.HexString)
_KIND = exp.DataType.Type
_TYPED = {_KIND.DATE, _KIND.TIMESTAMP, _KIND.TIMESTAMPTZ, _KIND.TIMESTAMPNTZ, _KIND.TIMESTAMPLTZ}
_FORMS = {"timestamp": "unix_micros({})", "binary": "hex({})"}
_NUMBERS = re.compile(r"tinyint|smallint|int|bigint|float|double|decimal")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def fold(condition: str, spark: Any) -> str:
    """Return a condition with its constant parts as literals and its Boolean columns as comparisons.

    A condition that has neither is returned as it is, and so is one that sqlglot cannot parse. Transforms lose the name of their
    catalog: `lake.system.bucket(16, id)` is `bucket(16, id)`.

    Args:
        condition: A condition of Spark SQL.
        spark: Session that computes the constants, in its time zone.

    Raises:
        ValidationError: A constant is NULL or differs from call to call.
    """
    try:
        tree: Any = sqlglot.parse_one(condition, dialect="spark")
    except sqlglot.errors.SqlglotError:
        return condition
    holder = exp.Paren(this=tree)
    constants = list(_constants(tree))
    transforms = [dot for dot in holder.find_all(exp.Dot) if _is_transform(dot)]
    booleans = list(_booleans(tree))
    if not transforms and not booleans and all(_is_literal(constant) for constant in constants):
        return condition
    for dot in transforms:
        dot.replace(dot.expression)
    for column in booleans:
        column.replace(exp.EQ(this=column.copy(), expression=exp.true()))
    _replace([constant for constant in constants if not isinstance(constant, _PLAIN)], spark)
    for equal in list(holder.find_all(exp.NullSafeEQ)):  # constants are not NULL
        equal.replace(exp.EQ(this=equal.this, expression=equal.expression))
    return str(holder.this.sql(dialect="spark"))


def _constants(tree: Any) -> Iterator[Any]:
    """Yield the largest parts of a condition that name no column."""
    if not any(tree.find_all(*_COLUMNS)):
        yield tree
    elif isinstance(tree, (*_LOGICAL, *_PREDICATES)):
        for child in tree.iter_expressions():
            yield from _constants(child)


def _booleans(tree: Any) -> Iterator[exp.Column]:
    """Yield the columns that are conditions by themselves."""
    if isinstance(tree, exp.Column):
        yield tree
    elif isinstance(tree, _LOGICAL):
        for child in tree.iter_expressions():
            yield from _booleans(child)


def _is_transform(dot: exp.Dot) -> bool:
    """Return whether a tree is a function of the schema `system`, such as `lake.system.bucket(16, id)`."""
    schema = dot.this.expression if isinstance(dot.this, exp.Dot) else dot.this
    return isinstance(dot.expression, exp.Func) and schema.name.lower() == "system"


def _is_literal(tree: Any) -> bool:
    """Return whether the grammar of filters has the constant."""
    if isinstance(tree, exp.Neg):
        return isinstance(tree.this, exp.Literal) and not tree.this.is_string
    if isinstance(tree, exp.Cast):
        return isinstance(tree.this, exp.Literal) and (not tree.this.is_string or tree.to.this in _TYPED)
    return isinstance(tree, _PLAIN)


def _replace(constants: list[Any], spark: Any) -> None:
    """Put literals in the place of constants; Spark computes all of them in one statement."""
    if not constants:
        return
    texts = [_checked(constant).sql(dialect="spark") for constant in constants]
    kinds = list(spark.sql("SELECT " + ", ".join(f"typeof({text})" for text in texts)).first())
    columns = [_FORMS.get(kind, "CAST({} AS STRING)").format(text) for kind, text in zip(kinds, texts, strict=True)]
    values = spark.sql("SELECT " + ", ".join(columns)).first()
    for constant, text, kind, value in zip(constants, texts, kinds, values, strict=True):
        if value is None:
            raise ValidationError(f"where: {text} is NULL, which equals nothing; expected a constant, or IS NULL")
        constant.replace(exp.var(_literal(kind, value)))


def _checked(constant: Any) -> Any:
    for function in constant.find_all(exp.Func):
        if _RANDOM & {function.name.lower(), function.sql_name().lower()}:
            raise ValidationError(f"where: {function.sql('spark')} differs from call to call; expected a constant")
    return constant


def _literal(kind: str, value: Any) -> str:
    if kind == "timestamp":
        return f"timestamp '{(_EPOCH + timedelta(microseconds=value)).isoformat(sep=' ')}'"
    if kind in ("date", "timestamp_ntz"):
        return f"{kind.removesuffix('_ntz')} '{value}'"
    if kind == "binary":
        return f"X'{value}'"
    if kind == "boolean" or _NUMBERS.match(kind):
        return str(value)
    return str(exp.Literal.string(value).sql(dialect="spark"))
