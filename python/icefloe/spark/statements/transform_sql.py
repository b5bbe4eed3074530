"""The transforms as Spark SQL: an expression with Iceberg's values for the type of the source, or a UDF where Spark has none.

Each takes the types and returns the values of the Java runtime's function; :mod:`icefloe.spark.functions` has the same transforms as columns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.dml.determinism import calls_function
from icefloe.spark.sql_functions import registered

if TYPE_CHECKING:
    from collections.abc import Callable

# Spark's murmur3 chains seeds: the hash of this int under Spark's fixed seed 42 is 0, the seed that Iceberg uses.
_INT_THAT_HASHES_TO_ZERO = -1693959553
_WIDTHS_OF_INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32}
_INTEGERS = (*_WIDTHS_OF_INTEGERS, "bigint")
_TIMESTAMPS = ("timestamp", "timestamp_ntz")
_MICROS_PER_DAY = 86_400_000_000
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEXT = re.compile(r"(string|char|varchar)\b.*")
_NUMBER = re.compile(r"\d+[sSyY]?")
_ELEMENT = "icefloe_value"
_SOURCES = {
    "bucket": "tinyint, smallint, int, bigint, decimal, date, timestamp, string or binary",
    "truncate": "tinyint, smallint, int, bigint, decimal, string or binary",
    "hours": "timestamp",
    **dict.fromkeys(("years", "months", "days"), "date or timestamp"),
}


def transform_sql(spark: Any, function: str, arguments: list[str], kinds: list[str], label: str) -> str:
    """Return the SQL of a transform.

    Args:
        spark: Session, for which a UDF is registered.
        function: ``bucket``, ``truncate``, ``years``, ``months``, ``days`` or ``hours``.
        arguments: SQL of the arguments.
        kinds: Spark's names of their types, in lower case.
        label: The function as the statement names it, for errors.

    Raises:
        ValidationError: The types are none that the function takes, or the number of buckets or the width is 0.
    """
    if function in ("bucket", "truncate") and kinds[0] not in _WIDTHS_OF_INTEGERS:
        raise ValidationError(f"{label}: expected a number of type tinyint, smallint or int first, got {kinds[0]}")
    if len(arguments) > 1 and _NUMBER.fullmatch(arguments[0].strip()) and int(arguments[0].strip().rstrip("sSyY")) == 0:
        raise ValidationError(f"{label}: expected a number from 1 to 2147483647 first, got 0")
    kind = "string" if _TEXT.fullmatch(kinds[-1]) else kinds[-1]
    expression = _EXPRESSIONS[function](spark, kind, *arguments)
    if expression is None:
        raise ValidationError(f"{label}: expected a value of type {_SOURCES[function]}, got {kinds[-1]}")
    return expression


def _once(value: str, expression: Callable[[str], str]) -> str:
    """Return an expression of a value that evaluates the value once if it calls functions, which may be random."""
    if not calls_function(value):
        return expression(f"({value})")
    return f"transform(array({value}), {_ELEMENT} -> {expression(_ELEMENT)})[0]"


def _bucket(spark: Any, kind: str, count: str, value: str) -> str | None:
    if kind in ("string", "binary") or _DECIMAL.fullmatch(kind):
        return f"{registered(spark, 'bucket')}(({count}), ({value}))"
    hashed = {"date": "CAST(unix_date({}) AS BIGINT)", **dict.fromkeys(_TIMESTAMPS, "{}")}
    source = hashed.get(kind, "CAST({} AS BIGINT)" if kind in _INTEGERS else "")

    def ordinal(one: str) -> str:
        positive = f"(hash({_INT_THAT_HASHES_TO_ZERO}, {source.format(one)}) & 2147483647)"
        return f"CASE WHEN {one} IS NOT NULL THEN CAST({positive} % CAST(({count}) AS INT) AS INT) END"

    return _once(value, ordinal) if source else None


def _truncate(spark: Any, kind: str, width: str, value: str) -> str | None:
    if kind in ("string", "binary"):
        return f"substring(({value}), 1, ({width}))"
    if kind in _WIDTHS_OF_INTEGERS:
        size = 2 ** _WIDTHS_OF_INTEGERS[kind]
        return _once(value, lambda one: _wrapped(one, width, size, kind))
    if kind == "bigint":
        return _once(value, lambda one: _long(one, f"pmod({one}, CAST(({width}) AS BIGINT))"))
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is None:
        return None
    precision, scale = int(decimal[1]), int(decimal[2])
    number = width.strip().rstrip("sSyY")
    if not _NUMBER.fullmatch(number) or precision == 38 or len(number) >= precision:
        return f"{registered(spark, 'truncate', kind)}(({width}), ({value}))"
    digits = number.rjust(scale + 1, "0")
    step = f"{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}BD" if scale else f"{number}BD"
    return _once(value, lambda one: f"CAST({one} - pmod({one}, CAST({step} AS {kind})) AS {kind})")


def _wrapped(one: str, width: str, size: int, kind: str) -> str:
    """Return the truncation of an integer, which wraps around below the smallest value of its type as in Java."""
    whole = f"CAST({one} AS BIGINT)"
    rounded = f"({whole} - pmod({whole}, CAST(({width}) AS BIGINT)))"
    return f"CAST(pmod({rounded} + {size // 2}L, {size}L) - {size // 2}L AS {kind})"


def _long(one: str, rest: str) -> str:
    least, most = f"({-(2**63)}L)", f"{2**63 - 1}L"
    wrapped = f"({one} - {least}) + ({most} - ({rest} - 1))"
    return f"CASE WHEN {one} >= {least} + {rest} THEN {one} - {rest} WHEN {one} IS NOT NULL THEN {wrapped} END"


def _temporal(kind: str, value: str, of_date: str) -> str | None:
    """Return an expression of the date in UTC of a date or timestamp."""
    dates = {
        "date": "{}",
        "timestamp_ntz": "CAST({} AS DATE)",
        "timestamp": f"date_from_unix_date({_quotient('unix_micros({0})', _MICROS_PER_DAY)})",
    }
    return _once(value, lambda one: of_date.format(dates[kind].format(one))) if kind in dates else None


def _hours(_: Any, kind: str, value: str) -> str | None:
    if kind == "timestamp_ntz":
        return _once(value, lambda one: f"(unix_date(CAST({one} AS DATE)) * 24 + hour({one}))")
    if kind == "timestamp":
        return _once(value, lambda one: _quotient(f"unix_micros({one})", _MICROS_PER_DAY // 24))
    return None


def _quotient(value: str, divisor: int) -> str:
    """Return the floor of a quotient as an int; Spark's `div` rounds towards zero."""
    return f"CAST(({value} - pmod({value}, {divisor}L)) div {divisor}L AS INT)"


_EXPRESSIONS: dict[str, Callable[..., str | None]] = {
    "bucket": _bucket,
    "truncate": _truncate,
    "years": lambda _, kind, value: _temporal(kind, value, "(year({0}) - 1970)"),
    "months": lambda _, kind, value: _temporal(kind, value, "((year({0}) - 1970) * 12 + month({0}) - 1)"),
    "days": lambda _, kind, value: _temporal(kind, value, "{0}"),
    "hours": _hours,
}
