"""Functions of texts, and casts to texts, in the SQL of conditions and values."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql.binding import bind
from icefloe.table.row_level.clause_sql.scope import Scope

ROWS = pa.record_batch(
    {
        "target.s": pa.array([" a b ", "äb\t", "", None]),
        "target.x": pa.array([b"ab", b"\xff", b"", None]),
        "target.n": pa.array([1, 2, 3, None]),
        "target.f": pa.array([1.5, 2.0, None, None]),
        "target.c": pa.array([Decimal("0.00000001"), Decimal("-1.5"), Decimal(0), None], pa.decimal128(12, 8)),
        "target.at": pa.array(
            [datetime(2026, 1, 2, 3, 4, 5), datetime(1969, 12, 31, 23, 59, 59, 999_900), datetime(1, 1, 1), None],
            pa.timestamp("us"),
        ),
        "target.z": pa.array(
            [datetime(2026, 1, 2, 3, tzinfo=timezone.utc), None, None, None], pa.timestamp("us", "UTC")
        ),
    }
)
SCOPE = Scope(ROWS.schema, default_side="target")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("trim(s)", ["a b", "äb\t", "", None]),
        ("ltrim(s)", ["a b ", "äb\t", "", None]),
        ("rtrim(s)", [" a b", "äb\t", "", None]),
        ("trim(leading from s)", ["a b ", "äb\t", "", None]),
        ("contains(s, 'b')", [True, True, False, None]),
        ("contains(s, '')", [True, True, True, None]),
        ("endswith(s, ' ')", [True, False, False, None]),
        ("length(s)", [5, 3, 0, None]),
        ("length(x)", [2, 1, 0, None]),
        ("length(null)", [None] * 4),
        ("substring(s, 2)", ["a b ", "b\t", "", None]),
        ("substr(s, 2, 1)", ["a", "b", "", None]),
        ("substring(s from 2 for 2)", ["a ", "b\t", "", None]),
        ("substring(s, 0, 2)", [" a", "äb", "", None]),
        ("substring(s, -2)", ["b ", "b\t", "", None]),
        ("substring(s, -2, 1)", ["b", "b", "", None]),
        ("substring(s, -4, 2)", ["a ", "ä", "", None]),
        ("substring(s, -4, 4)", ["a b ", "äb\t", "", None]),
        ("substring(s, 3, 0)", ["", "", "", None]),
        ("substring(s, 1, -1)", ["", "", "", None]),
        ("substring(',(' || s, 1, 2)", [",("] * 3 + [None]),
        ("replace(s, 'b', 'xy')", [" a xy ", "äxy\t", "", None]),
        ("replace(s, ' ')", ["ab", "äb\t", "", None]),
        ("replace(s, '', 'x')", [" a b ", "äb\t", "", None]),
        ("cast(c as string)", ["0.00000001", "-1.50000000", "0.00000000", None]),
        ("cast(c * 0 + 7.5 as string)", ["7.50000000", "7.50000000", "7.50000000", None]),
        ("cast(cast(n as decimal(5,0)) as string)", ["1", "2", "3", None]),
        ("cast(at as string)", ["2026-01-02 03:04:05", "1969-12-31 23:59:59.9999", "0001-01-01 00:00:00", None]),
        ("cast(z as string)", ["2026-01-02 03:00:00", None, None, None]),
    ],
)
def test_text_function_has_the_result_of_spark(text, expected):
    assert bind(text, SCOPE).evaluate(ROWS).to_pylist() == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("trim(both 'a' from s)", "TRIM.*not part of the SQL of conditions and values"),
        ("trim('a', s)", "TRIM.*not part of the SQL of conditions and values"),
        ("rlike(s, 'a')", r"rlike\(\): not part of the SQL of conditions and values"),
        ("contains(s, s)", "expected a literal string, got an expression"),
        ("length(n)", "expected a string, got bigint; cast it to string"),
        ("length(s, s)", r"length\(\): expected 1 argument, got 2"),
        ("lower(s, 'x')", r"lower\(\): expected 1 argument, got 2"),
        ("replace(s)", r"replace\(\): expected 2 to 3 arguments, got 1"),
        ("replace(s, 'a', 'b', 'c')", r"replace\(\): expected 2 to 3 arguments, got 4"),
        ("nvl(s, 'a', 'b')", r"nvl\(\): expected 2 arguments, got 3"),
        ("greatest(n)", r"greatest\(\): expected at least 2 arguments, got 1"),
        ("concat()", r"concat\(\): expected at least 1 argument, got 0"),
        ("substring(s, 1, 2, 3)", r"substring\(\): expected 1 to 3 arguments, got 4"),
        ("substring(s)", "expected a position"),
        ("substring(s, n)", "expected a literal int, got an expression"),
        ("substring(s, null)", "expected a literal int"),
        ("substring(x, 1)", "expected a string, got binary"),
        ("replace(s, s, 'a')", "expected a literal string, got an expression"),
        ("cast(f as string)", r"a cast of double to string is not part of .* such as pc.field\('target.s'\)"),
        ("cast(at as int)", "a cast of timestamp_ntz to int is not part of"),
    ],
)
def test_text_function_outside_the_grammar_is_refused(text, problem):
    with pytest.raises(ValidationError, match=problem):
        bind(text, SCOPE)
