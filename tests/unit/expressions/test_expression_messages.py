"""Messages of errors in filters, literals and expressions."""

from __future__ import annotations

from decimal import Decimal

import pytest
from icefloe.expressions import (
    And,
    EqualTo,
    LessThan,
    Reference,
    StartsWith,
    UnboundTransform,
    expression_from_json,
    literal,
    to_expression,
)
from icefloe.expressions.filter import Filter
from icefloe.expressions.parser import parse
from icefloe.expressions.visitors import bind, expression_to_plain_format, rewrite_to_dnf
from icefloe.io.pyarrow import expression_to_pyarrow
from icefloe.schema import Schema
from icefloe.types import (
    DoubleType,
    LongType,
    NestedField,
)

from tests.unit.messages import SCHEMA, Case, check_message

BOUND_TO_POINT = bind(SCHEMA, EqualTo("point.x", 1.0))

CASES: dict[str, Case] = {
    "filter without a literal": (
        lambda: parse("id >"),
        ["filter, position 4: ", "expected a literal", "got the end", "id >"],
    ),
    "filter with an unknown function": (
        lambda: parse("upper(name) = 'A'"),
        ["filter, position 0: ", "expected a column or one of bucket, truncate", "got `upper`"],
    ),
    "filter with an open quote": (lambda: parse("name = 'a"), ["filter, position 7: ", "a quote that is never closed"]),
    "filter with an unknown character": (lambda: parse("id ; 1"), ["filter, position 3: ", "unexpected character ';'"]),
    "filter that compares with null": (
        lambda: parse("id = null"),
        ["filter, position 5: ", "use `is null`", "got `null`"],
    ),
    "filter with a bad date": (
        lambda: parse("at < date '2026-13-01'"),
        ["filter, position 10: ", "expected YYYY-MM-DD", "got '2026-13-01'"],
    ),
    "filter with a bad width": (
        lambda: parse("truncate(0, name) = 'a'"),
        ["filter, position 0: ", "width must be from 1 to 2147483647", "got 0"],
    ),
    "filter that is a number": (
        lambda: to_expression(5),  # type: ignore[arg-type]
        ["row filter: ", "not an expression: 5", "expected text or an expression"],
    ),
    "filter of empty text": (
        lambda: Filter.of("", SCHEMA),
        ["filter, position 0: ", "expected a column name", "got the end"],
    ),
    "filter on an unknown column": (
        lambda: Filter.of("nmae = 'a'", SCHEMA).bound,
        ["Could not find field with name nmae", "did you mean name?"],
    ),
    "filter on text that is no number": (
        lambda: Filter.of("id = 'abc'", SCHEMA).bound,
        ["filter on id: ", "Could not convert abc into a long", "expected a number", "got 'abc'"],
    ),
    "filter on text that is no boolean": (
        lambda: bind(Schema(NestedField(1, "ok", "boolean")), EqualTo("ok", "yes")),
        ["filter on ok: ", "Could not convert yes into a boolean", "expected 'true' or 'false'", "got 'yes'"],
    ),
    "filter with a zone on a timestamp": (
        lambda: Filter.of("at = '2026-01-01T00:00:00Z'", SCHEMA).bound,
        ["filter on at: ", "'2026-01-01T00:00:00Z' must have no zone to be a timestamp"],
    ),
    "filter with bytes on a long": (
        lambda: Filter.of(EqualTo("id", b"a"), SCHEMA).json,
        ["filter on id: ", "into a long", "cannot be compared with values of that type"],
    ),
    "prefix of a long": (
        lambda: bind(SCHEMA, StartsWith("id", "a")),
        ["filter on id: ", "starts-with needs a string column", "expected type string", "got long"],
    ),
    "transform of a wrong type": (
        lambda: bind(SCHEMA, EqualTo(UnboundTransform("name", "day"), 1)),
        ["filter on day(name): ", "day does not apply to type string", "filter by the column itself"],
    ),
    "transform of an unknown name": (
        lambda: bind(SCHEMA, EqualTo(UnboundTransform("name", "zorder"), 1)),
        ["filter on zorder(name): ", "unknown transform", "expected identity, bucket[N]"],
    ),
    "number beyond every double": (
        lambda: literal(-(10**400)).to(DoubleType()),
        ["into a double: ", "expected a number from -1.79", "to 1.79", "got -1.000000e+400"],
    ),
    "decimal beyond every double": (
        lambda: Filter.of(LessThan("point.x", Decimal("1e400")), SCHEMA).bound(),
        ["into a double: ", "expected a number from -1.79", "got 1.000000e+400"],
    ),
    "decimal that is no number beside a long": (
        lambda: literal(Decimal("NaN")).to(LongType()),
        ["Could not convert NaN into a long", "expected a literal of type long"],
    ),
    "literal of a dict": (lambda: literal({}), ["literal {}: ", "expected a bool, int, float", "got dict"]),
    "literal None": (lambda: EqualTo("id", None), ["literal None: ", "use IsNull or NotNull"]),
    "reference to a number": (
        lambda: Reference(5),  # type: ignore[arg-type]
        ["column reference: ", "expected text such as 'point.x'", "got 5"],
    ),
    "operand that is text": (
        lambda: And(EqualTo("id", 1), "name = 'a'"),  # type: ignore[arg-type]
        ["not an expression: \"name = 'a'\"", "expected an operand such as EqualTo('x', 1)"],
    ),
    "predicate with an unknown argument": (
        lambda: EqualTo("id", 1, literals=[1]),
        ["EqualTo: ", "unknown arguments literals", "expected term and literal"],
    ),
    "disjunctive form of too many conjunctions": (
        lambda: rewrite_to_dnf(parse(" and ".join(f"(a = {n} or b = {n})" for n in range(16)))),
        ["expression: ", "disjunctive normal form", "expected at most 10000"],
    ),
    "plain format of an unbound predicate": (
        lambda: expression_to_plain_format((EqualTo("id", 1),)),
        ["no plain form of EqualTo", "expected a bound comparison"],
    ),
    "expression JSON that is text": (
        lambda: expression_from_json("{"),
        ["expression JSON: ", "not valid JSON"],
    ),
    "expression JSON of an unknown type": (
        lambda: expression_from_json({"type": "like", "term": "a"}),
        ["expression JSON: ", "unknown type 'like'", "expected and, or, not, true, false or one of"],
    ),
    "expression JSON without a value": (
        lambda: expression_from_json({"type": "eq", "term": "a"}),
        ["expression JSON: ", "`value` of eq is missing", "expected a literal"],
    ),
    "expression JSON with a list as term": (
        lambda: expression_from_json({"type": "eq", "term": [], "value": 1}),
        ["expression JSON: ", "`term` of eq must be text, a reference or a transform", "got []"],
    ),
    "bound filter on a struct without the schema": (
        lambda: expression_to_pyarrow(BOUND_TO_POINT),
        ["filter on point.x: ", "a field of a struct", "pass the schema"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message_names_subject_expectation_and_what_was_got(case: str) -> None:
    check_message(*CASES[case])
