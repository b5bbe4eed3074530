"""Literals whose JSON depends on the type of their column are converted before they cross to the core."""

from __future__ import annotations

import json
import operator
import uuid
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.expressions import EqualTo, GreaterThan, In, LessThan, Not, NotEqualTo, UnboundTransform, literal
from icefloe.expressions.filter import fit_literals
from icefloe.expressions.parser import parse
from icefloe.expressions.rest_json import expression_to_json
from icefloe.schema import Schema
from icefloe.types import NestedField, type_from_text

KINDS = [
    "int",
    "string",
    "date",
    "timestamp",
    "timestamptz",
    "timestamp_ns",
    "timestamptz_ns",
    "binary",
    "fixed[2]",
    "uuid",
]
SCHEMA = Schema(*(NestedField(place, kind.split("[")[0], kind) for place, kind in enumerate(KINDS, 1)))
KEY = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
NAIVE = datetime(2026, 1, 31, 10)
ZONED = datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))


def bound(expression):
    """The literals as the core parses them."""
    text = expression_to_json(fit_literals(SCHEMA, expression))
    return json.loads(_core.validate_filter(f'{{"schema":{SCHEMA.model_dump_json()}}}', text))


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("date", NAIVE, "2026-01-31"),
        ("date", "2026-01-31 10:00:00", "2026-01-31"),
        ("date", "2026-01-31T10:00:00", "2026-01-31"),
        ("date", "1969-12-31 23:59:59.999999", "1969-12-31"),
        ("string", "2026-01-31 10:00:00", "2026-01-31 10:00:00"),
        ("date", date(2026, 1, 31), "2026-01-31"),
        ("timestamp", ZONED, "2026-01-31T10:00:00"),
        ("timestamp", date(2026, 1, 31), "2026-01-31T00:00:00"),
        ("timestamptz", NAIVE, "2026-01-31T10:00:00+00:00"),
        ("timestamptz", ZONED, "2026-01-31T10:00:00+00:00"),
        ("timestamptz", date(2026, 1, 31), "2026-01-31T00:00:00+00:00"),
        ("timestamp_ns", ZONED, "2026-01-31T10:00:00"),
        ("timestamptz_ns", NAIVE, "2026-01-31T10:00:00+00:00"),
        ("binary", KEY, KEY.hex),
        ("uuid", KEY.bytes, str(KEY)),
        ("fixed", b"ab", "6162"),
    ],
)
def test_fit_literals_selects_by_the_python_type_of_a_value(column, value, expected):
    found = bound(LessThan(column, value))
    assert (found["type"], found["value"].replace(".000000000", "").replace(".000000", "")) == ("lt", expected)


@pytest.mark.parametrize(
    ("column", "value"),
    [("int", b"ab"), ("string", b"ab"), ("string", date(2026, 1, 31)), ("int", KEY), ("fixed", b"abc")],
)
def test_fit_literals_refuses_values_of_another_type(column, value):
    with pytest.raises(ValidationError, match=f"filter on {column}"):
        fit_literals(SCHEMA, EqualTo(column, value) & EqualTo("int", 1))


def test_fit_literals_returns_an_unchanged_expression():
    expression = parse("int = 1 and (string = 'a' or not timestamptz > '2026-01-31T00:00:00+00:00')")
    assert fit_literals(SCHEMA, expression) is expression


def test_fit_literals_converts_sets_transforms_and_negations():
    expression = Not(In("timestamptz", [NAIVE, ZONED + timedelta(days=1)]))
    values = bound(expression)["values"]
    assert [value[:19] for value in values] == ["2026-01-31T10:00:00", "2026-02-01T10:00:00"]
    day = bound(EqualTo(UnboundTransform("timestamp", "day"), NAIVE))
    assert day["value"] == "2026-01-31"


def test_fit_literals_leaves_unknown_names_unchanged():
    expression = EqualTo("nowhere", NAIVE)
    assert fit_literals(SCHEMA, expression) is expression


def test_whole_numbers_of_numpy_are_literals():
    assert EqualTo("id", np.int64(5)) == EqualTo("id", 5)
    assert In("id", np.array([1, 2], np.uint8)) == In("id", [1, 2])
    with pytest.raises(ValidationError, match="expected a bool, int"):
        EqualTo("id", np.datetime64("2026-01-31"))


@pytest.mark.parametrize("expression", [EqualTo("s", "\ud800"), In("s", ["a", "b\udfff"]), EqualTo("\ud800", 1)])
def test_half_of_a_surrogate_pair_is_refused(expression):
    with pytest.raises(ValidationError, match="expected text of whole characters, got half of a surrogate pair"):
        expression_to_json(expression)


@pytest.mark.parametrize(
    ("kind", "most", "above"),
    [("int", 2**31 - 1, 2**31), ("long", 2**63 - 1, 2**63), ("float", 3.4028234663852886e38, 1e39)],
)
def test_literal_above_the_range_of_its_column_is_above_the_largest_value(kind, most, above):
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        schema = Schema(NestedField(1, "x", kind))
        table = catalog.create_table("db.t", schema)
        table.append(pa.table({"x": pa.array([most, -most, None])}, schema=schema.as_arrow()))
        outside = literal(above).to(type_from_text(kind))
        for selected, expressions in (
            (2, [LessThan("x", outside), NotEqualTo("x", outside), Not(EqualTo("x", outside))]),
            (0, [GreaterThan("x", outside), EqualTo("x", outside), Not(LessThan("x", outside))]),
        ):
            assert [table.scan(one).count() for one in expressions] == [selected] * 3


@contextmanager
def one_column(kind, values):
    """A table whose column `x` of a type has the values."""
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        schema = Schema(NestedField(1, "x", kind))
        table = catalog.create_table("db.t", schema)
        table.append(pa.table({"x": pa.array(values, schema.as_arrow().field("x").type)}, schema=schema.as_arrow()))
        yield table


COMPARISONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LARGE = [2**63 - 1, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 12345678901234567890123, 12345678901234568000000, 10**40]
EPOCH = datetime(1970, 1, 1)


@pytest.mark.parametrize(
    ("kind", "values", "number"),
    [
        ("decimal(38,0)", [Decimal(one) for one in [*LARGE[:-1], 5]], int),
        (
            "decimal(38,2)",
            [Decimal("12345678901234567890123.01"), Decimal(12345678901234567890123), Decimal("0.5")],
            Decimal,
        ),
        ("long", [2**63 - 1, -(2**63), 5], int),
        ("int", [2**31 - 1, -(2**31), 5], int),
        ("double", [1e300, -1e300, 5.0], Decimal),
        ("float", [2.0**100, -(2.0**100), 5.0], Decimal),
        ("date", [date(9999, 12, 31), date(1, 1, 1)], lambda day: (day - EPOCH.date()).days),
        (
            "timestamp",
            [datetime(9999, 12, 31), datetime(1, 1, 1)],
            lambda at: (at - EPOCH) // timedelta(microseconds=1),
        ),
        ("time", [time(0), time(23, 59)], lambda at: (at.hour * 60 + at.minute) * 60 * 1_000_000),
    ],
)
def test_integer_of_any_size_is_compared_exactly(kind, values, number):
    with one_column(kind, values) as table:
        for limit in LARGE:
            for sign, compares in COMPARISONS.items():
                expected = sorted(one for one in values if compares(number(one), limit))
                assert sorted(table.scan(f"x {sign} {limit}").to_arrow()["x"].to_pylist()) == expected, (sign, limit)
        expected = [one for one in values if number(one) in LARGE]
        assert sorted(table.scan(In("x", LARGE)).to_arrow()["x"].to_pylist()) == sorted(expected)


def test_delete_by_an_integer_beyond_64_bits_keeps_other_rows():
    kept = [Decimal(5), Decimal(12345678901234568000000)]
    with one_column("decimal(38,0)", [Decimal(12345678901234567890123), *kept]) as table:
        table.delete("x = 12345678901234567890123")
        assert sorted(table.scan().to_arrow()["x"].to_pylist()) == kept


@pytest.mark.parametrize(
    ("kind", "value"),
    [("string", "1"), ("binary", b"1"), ("fixed[12]", b"1" * 12), ("uuid", uuid.UUID(int=1).bytes), ("boolean", True)],
)
@pytest.mark.parametrize("number", [5, 1.5, Decimal(12), Decimal("1.50"), 10**23, 10**31, float("inf")])
def test_number_is_refused_beside_a_column_that_holds_none(kind, value, number):
    with one_column(kind, [value]) as table:
        for row_filter in (EqualTo("x", number), NotEqualTo("x", number), In("x", [number, 7])):
            with pytest.raises(ValidationError, match="filter on x"):
                table.scan(row_filter).count()
            with pytest.raises(ValidationError, match="filter on x"):
                table.delete(row_filter)
        assert table.scan().count() == 1


@pytest.mark.parametrize("digits", [641, 5000])
def test_numbers_of_thousands_of_digits_are_above_every_value(digits):
    number = "9" * digits
    with one_column("decimal(38,0)", [Decimal(1), Decimal(-1)]) as table:
        for row_filter in (f"x < {number}", f"x > -{number}", f"x != {number}", LessThan("x", 10**digits)):
            assert table.scan(row_filter).count() == 2
        assert table.scan(f"x > {number}").count() == 0
    with one_column("string", ["1"]) as table, pytest.raises(ValidationError, match="filter on x"):
        table.scan(EqualTo("x", 10**digits)).count()


def test_a_filter_refuses_a_time_that_is_outside_the_years_of_utc():
    for text in ("9999-12-31 23:59:59-18:00", "0001-01-01 00:00:00+18:00"):
        with pytest.raises(ValidationError, match="not a timestamp: expected the years 1 to 9999 in UTC, got"):
            literal(text).to(type_from_text("timestamptz"))
