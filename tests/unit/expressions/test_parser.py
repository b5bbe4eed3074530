"""The parser of filters."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from icefloe.exceptions import ValidationError
from icefloe.expressions import (
    AlwaysFalse,
    AlwaysTrue,
    And,
    BooleanExpression,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNaN,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    NotEqualTo,
    NotIn,
    NotNaN,
    NotNull,
    NotStartsWith,
    Or,
    StartsWith,
    to_expression,
)
from icefloe.expressions.literals import BinaryLiteral, DateLiteral, TimeLiteral, TimestampLiteral
from icefloe.expressions.parser import parse
from pyiceberg.expressions import parser as theirs

X1 = EqualTo("x", 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", X1),
        ("x == 1", X1),
        ("1 = x", X1),
        ("X != 1", NotEqualTo("X", 1)),
        ("x <> 1", NotEqualTo("x", 1)),
        ("x < -1", LessThan("x", -1)),
        ("5 < x", GreaterThan("x", 5)),
        ("5 >= x", LessThanOrEqual("x", 5)),
        ("x >= 1e3", GreaterThanOrEqual("x", 1000.0)),
        ("a.b.c is null", IsNull("a.b.c")),
        ('"we ird".`x``y` IS NOT NULL', NotNull("we ird.x`y")),
        ("x is nan", IsNaN("x")),
        ("x is not nan", NotNaN("x")),
        ("x in (1, 2)", In("x", [1, 2])),
        ("x in (1)", X1),
        ("x not in ('a', 'b')", NotIn("x", ["a", "b"])),
        ("x between 1 and 2 and y = 1", And(And(GreaterThanOrEqual("x", 1), LessThanOrEqual("x", 2)), EqualTo("y", 1))),
        ("x not between 1 and 2", Or(LessThan("x", 1), GreaterThan("x", 2))),
        ("x like 'ab%'", StartsWith("x", "ab")),
        ("x like 'ab'", EqualTo("x", "ab")),
        (r"x like 'a\%b%'", StartsWith("x", "a%b")),
        ("x not like 'ab%'", NotStartsWith("x", "ab")),
        ("x = 'it''s'", EqualTo("x", "it's")),
        ("flag = true", EqualTo("flag", True)),
        ("false = flag", EqualTo("flag", False)),
        ("true", AlwaysTrue()),
        ("x = 1 or false", X1),
        ("x = 1 and false", AlwaysFalse()),
        ("not not x = 1", X1),
        ("x = 1 or y = 1 and z = 1", Or(X1, And(EqualTo("y", 1), EqualTo("z", 1)))),
        ("(x = 1 or y = 1) and z = 1", And(Or(X1, EqualTo("y", 1)), EqualTo("z", 1))),
        ("not x = 1 and y = 1", And(Not(X1), EqualTo("y", 1))),
        ("d = date '2017-11-16'", EqualTo("d", DateLiteral(17486))),
        ("date = '2017-11-16'", EqualTo("date", "2017-11-16")),
        ("t < time '00:00:01'", LessThan("t", TimeLiteral(1_000_000))),
        ("t < timestamp '1970-01-01 00:00:01'", LessThan("t", TimestampLiteral(1_000_000))),
        ("t < timestamp '1970-01-01T01:00:01+01:00'", LessThan("t", TimestampLiteral(1_000_000, zoned=True))),
        ("b = X'00ff'", EqualTo("b", BinaryLiteral(b"\x00\xff"))),
    ],
)
def test_parse_returns_the_expression_of_text(text: str, expected: BooleanExpression) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "position", "why"),
    [
        ("", 0, "expected a column name, got the end"),
        ("x =", 3, "expected a literal, got the end"),
        ("x = 'a", 4, "never closed"),
        ("x = null", 4, "use `is null`"),
        ("x in ()", 6, "expected a literal"),
        ("(x = 1", 6, "expected `)`"),
        ("x like '%a'", 7, "a single % at its end"),
        ("x like 'a_'", 7, "no _"),
        ("x ; 1", 2, "unexpected character ';'"),
        ("x = 1 y", 6, "expected the end"),
        ("x = y", 4, "expected a literal, got `y`"),
        ("true = false", 7, "expected a column name, got `false`"),
        ("null = 1", 0, "expected a column name, got `null`"),
        ("x not = 1", 6, "`in`, `between` or `like`"),
        ("d = date '2026-13-01'", 9, "not a date"),
        ("(" * 500 + "x = 1" + ")" * 500, 101, "levels"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_parse_error_shows_position_and_expectation(text: str, position: int, why: str) -> None:
    with pytest.raises(ValidationError) as caught:
        parse(text)
    assert f"position {position}" in str(caught.value)
    assert why in str(caught.value)


def test_parse_of_a_long_filter_needs_no_deep_stack() -> None:
    text = " or ".join(f"x = {number}" for number in range(20_000))
    found = parse(text)
    assert isinstance(found, Or)
    assert hash(found) == hash(parse(text))


@pytest.mark.parametrize(
    "text", ["x = 1 and y > 'a'", "x in (1, 2)", "not (x = 1 or y is null)", "s like 'a%'", "x != 1.5"]
)
def test_parse_agrees_with_pyiceberg(text: str) -> None:
    kinds = re.compile(r"\b(And|Or|Not|EqualTo|NotEqualTo|GreaterThan|In|IsNull|StartsWith)\b")
    assert kinds.findall(repr(parse(text))) == kinds.findall(repr(theirs.parse(text)))


def test_parse_keeps_all_digits_of_a_decimal() -> None:
    digits = "12345678901234567890123456789012345.678"
    assert str(parse(f"x = -{digits}").literal) == f"-{digits}"  # type: ignore[attr-defined]
    assert parse("x = 1.50") == EqualTo("x", Decimal("1.50"))


def test_to_expression_parses_text_and_returns_expressions() -> None:
    assert to_expression("x = 1") == X1
    assert to_expression(X1) is X1
    assert to_expression("") == to_expression(None) == AlwaysTrue()
    with pytest.raises(ValidationError, match="expected text or an expression"):
        to_expression(5)  # type: ignore[arg-type]
