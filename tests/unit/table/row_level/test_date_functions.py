"""Functions of dates in the SQL of conditions and values."""

from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql.binding import bind
from icefloe.table.row_level.clause_sql.scope import Scope

ROWS = pa.record_batch(
    {
        "target.d": pa.array([date(2024, 2, 29), date(1969, 12, 31), date(1, 1, 1), None]),
        "target.at": pa.array(
            [datetime(2026, 1, 2, 3), datetime(1969, 12, 31, 23, 59), None, None], pa.timestamp("us")
        ),
        "target.n": pa.array([1, -1, 366, 7], pa.int32()),
        "target.l": pa.array([1, 2, 3, 4], pa.int64()),
        "target.s": pa.array(["2026-01-02"] * 4),
    }
)
SCOPE = Scope(ROWS.schema, default_side="target")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year(d)", [2024, 1969, 1, None]),
        ("month(d)", [2, 12, 1, None]),
        ("day(d)", [29, 31, 1, None]),
        ("dayofmonth(at)", [2, 31, None, None]),
        ("year(null)", [None] * 4),
        ("date_add(d, n)", [date(2024, 3, 1), date(1969, 12, 30), date(2, 1, 2), None]),
        ("date_sub(d, -n)", [date(2024, 3, 1), date(1969, 12, 30), date(2, 1, 2), None]),
        ("date_add(at, cast(1 as smallint))", [date(2026, 1, 3), date(1970, 1, 1), None, None]),
        ("datediff(at, d)", [673, 0, None, None]),
        ("datediff(date '2024-03-01', d)", [1, 19784, 738945, None]),
    ],
)
def test_date_function_has_the_result_of_spark(text, expected):
    assert bind(text, SCOPE).evaluate(ROWS).to_pylist() == expected


def test_date_function_fails_beyond_the_range_of_dates():
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        bind("date_add(d, 2147483647)", SCOPE).evaluate(ROWS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("year(s)", "expected a date, got string; cast it to date"),
        ("year()", r"year\(\): expected 1 argument, got 0"),
        ("date_add(d, l)", "expected int, got bigint; cast it to int"),
        ("date_add(n, 1)", "expected a date, got int; cast it to date"),
        ("datediff(day, d, at)", r"datediff\(\): expected 2 arguments, got 3"),
        ("date_add(day, 1, d)", r"date_add\(\): expected 2 arguments, got 3"),
        ("hour(at)", r"hour\(\): not part of the SQL of conditions and values"),
    ],
)
def test_date_function_outside_the_grammar_is_refused(text, problem):
    with pytest.raises(ValidationError, match=problem):
        bind(text, SCOPE)
