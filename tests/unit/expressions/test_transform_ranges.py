"""Conditions on columns in the place of conditions on transforms select the same values."""

import datetime as dt
import random
from decimal import Decimal

import pytest
from icefloe.expressions import (
    And,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNull,
    LessThan,
    LessThanOrEqual,
    NotEqualTo,
    NotIn,
    NotNull,
    StartsWith,
    literal,
)
from icefloe.expressions.evaluation import expression_evaluator
from icefloe.expressions.terms import UnboundTransform
from icefloe.expressions.transform_ranges import column_condition
from icefloe.schema import Schema
from icefloe.typedef import Record
from icefloe.types import (
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)

DAYS = [-719162, -366, -365, -32, -1, 0, 1, 58, 59, 365, 19723, 2932896]
MICROS = [day * 86_400_000_000 + offset for day in DAYS[:-1] for offset in (-1, 0, 1, 3_600_000_000)][1:]
INTS = [-(2**31), -(2**31) + 9, -11, -10, -9, -1, 0, 1, 9, 10, 49, 50, 2**31 - 1]
TEXTS = ["", "a", "ab", "abc", "b", "\U0001f600x", "\uffff", "\U0001f600"]
CASES = [
    *[(DateType(), one, DAYS) for one in ("year", "month", "day")],
    *[(kind, one, MICROS) for kind in (TimestampType(), TimestamptzType()) for one in ("year", "month", "day", "hour")],
    *[(kind, f"truncate[{width}]", INTS) for kind in (IntegerType(), LongType()) for width in (1, 7, 10, 50)],
    (DecimalType(9, 2), "truncate[10]", [Decimal(one) / 100 for one in (-999999, -15, -10, -1, 0, 9, 10, 500)]),
    *[(StringType(), f"truncate[{width}]", TEXTS) for width in (1, 2)],
    (BinaryType(), "truncate[2]", [one.encode() for one in TEXTS]),
]


@pytest.mark.parametrize(("kind", "name", "values"), CASES, ids=lambda one: str(one)[:20])
def test_condition_on_the_column_selects_the_values_of_the_condition_on_the_transform(kind, name, values):
    draw = random.Random(name)
    schema = Schema(NestedField(1, "c", kind, required=False))
    term = UnboundTransform("c", name)
    apply = term.transform.transform(kind)
    results = [*dict.fromkeys(map(apply, values)), *([1, -1] if name[0] in "ymh" else [])]
    typed = [literal(one).to(term.transform.result_type(kind)) for one in results if not isinstance(one, dt.date)]
    converted = 0
    for _ in range(200):
        operator = draw.choice(
            [EqualTo, NotEqualTo, LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual, In, NotIn]
        )
        chosen = draw.sample(typed, 2) if operator in (In, NotIn) else draw.choice(typed)
        predicate = operator(term, chosen)
        found = column_condition(predicate, kind)
        if found is None:
            continue
        converted += 1
        before, after = (expression_evaluator(schema, one, True) for one in (predicate, found))
        for value in [*values, None]:
            assert after(Record(value)) == before(Record(value)), (predicate, value)
    assert converted > 10


def test_null_tests_are_of_the_column():
    term = UnboundTransform("c", "bucket[4]")
    assert column_condition(IsNull(term), LongType()) == IsNull("c")
    assert column_condition(NotNull(term), LongType()) == NotNull("c")


def test_prefix_is_the_condition_of_a_text_of_the_width():
    term = UnboundTransform("c", "truncate[2]")
    assert column_condition(EqualTo(term, "ab"), StringType()) == StartsWith("c", "ab")
    assert column_condition(EqualTo(term, "a"), StringType()) == EqualTo("c", "a")
    assert column_condition(EqualTo(term, "abc"), StringType()) is None


@pytest.mark.parametrize(
    ("predicate", "kind"),
    [
        (EqualTo(UnboundTransform("c", "bucket[4]"), 1), LongType()),
        (LessThan(UnboundTransform("c", "truncate[10]"), 5), LongType()),
        (EqualTo(UnboundTransform("c", "truncate[10]"), 5), LongType()),
        (EqualTo(UnboundTransform("c", "year"), 9000), DateType()),
        (EqualTo(UnboundTransform("c", "year"), literal(2**40).to(IntegerType())), DateType()),
        (EqualTo("c", 1), LongType()),
        (And(EqualTo("c", 1), EqualTo("c", 2)), LongType()),
        (In(UnboundTransform("c", "year"), range(200)), DateType()),
    ],
)
def test_other_conditions_have_none_on_the_column(predicate, kind):
    assert column_condition(predicate, kind) is None
