"""`floor`, `ceil`, `round` and `mod` in the SQL of conditions and values."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql.binding import bind
from icefloe.table.row_level.clause_sql.scope import Scope

ROWS = pa.record_batch(
    {
        "target.f": pa.array([1.5, -1.5, -0.0, 1e15, -2.0, None]),
        "target.c": pa.array([Decimal("9.95"), Decimal("-9.95"), Decimal("0.05"), Decimal(0), Decimal(7), None]),
        "target.n": pa.array([7, -7, 2**31 - 1, 0, 1, None], pa.int32()),
    }
)
SCOPE = Scope(ROWS.schema, default_side="target")


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("floor(f)", pa.int64(), [1, -2, 0, 10**15, -2, None]),
        ("ceil(f)", pa.int64(), [2, -1, 0, 10**15, -2, None]),
        ("floor(n)", pa.int64(), [7, -7, 2**31 - 1, 0, 1, None]),
        ("ceiling(c)", pa.decimal128(2, 0), [10, -9, 1, 0, 7, None]),
        ("floor(c)", pa.decimal128(2, 0), [9, -10, 0, 0, 7, None]),
        ("round(c)", pa.decimal128(2, 0), [10, -10, 0, 0, 7, None]),
        ("round(c, 1)", pa.decimal128(3, 1), [Decimal("10.0"), Decimal("-10.0"), Decimal("0.1"), 0, 7, None]),
        ("round(n, 2)", pa.int32(), [7, -7, 2**31 - 1, 0, 1, None]),
        ("mod(n, 4)", pa.int32(), [3, -3, 3, 0, 1, None]),
    ],
)
def test_rounding_function_has_the_result_and_type_of_spark(text, kind, expected):
    found = bind(text, SCOPE)
    assert (found.kind, found.evaluate(ROWS).to_pylist()) == (kind, expected)


@pytest.mark.parametrize("function", ["floor", "ceil"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -1e300, 2.0**63])
def test_rounding_function_fails_for_a_number_that_is_no_bigint(function, number):
    rows = pa.record_batch({"target.f": pa.array([number])})
    with pytest.raises(pa.ArrowInvalid, match="Float value"):
        bind(f"{function}(f)", SCOPE).evaluate(rows)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("round(f, 1)", "round a float or double as a decimal"),
        ("round(c, -1)", "a scale of at least 0"),
        ("round(c, n)", "expected a literal int"),
        ("floor(c, 1)", "not part of the SQL of conditions and values"),
        ("floor('a')", "expected a number, got string; cast it to a number"),
        ("sqrt(f)", r"sqrt\(\): not part of the SQL of conditions and values"),
    ],
)
def test_rounding_function_outside_the_grammar_is_refused(text, problem):
    with pytest.raises(ValidationError, match=problem):
        bind(text, SCOPE)
