"""The filter of a merge's key ranges."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
from icefloe.expressions import (
    AlwaysFalse,
    AlwaysTrue,
    And,
    EqualTo,
    GreaterThanOrEqual,
    In,
    IsNull,
    LessThanOrEqual,
    Or,
)
from icefloe.expressions.literals import DateLiteral
from icefloe.table.row_level.key_ranges import MAX_VALUES, key_ranges


def test_key_ranges_of_many_keys_are_the_least_and_greatest_keys():
    source = pa.table({"id": [5, None, *range(2, 2 + MAX_VALUES)]})
    greatest = MAX_VALUES + 1
    assert key_ranges(source, ["id"]) == And(GreaterThanOrEqual("id", 2), LessThanOrEqual("id", greatest))


def test_key_ranges_of_few_keys_are_their_values():
    assert key_ranges(pa.table({"id": [5, None, 2, 9, 5]}), ["id"]) == In("id", [2, 5, 9])


def test_key_ranges_of_null_safe_keys_include_null():
    source = pa.table({"id": [5, None, 2]})
    assert key_ranges(source, ["id"], ["id"]) == Or(In("id", [2, 5]), IsNull("id"))
    nulls = pa.table({"id": pa.array([None], pa.int64())})
    assert key_ranges(nulls, ["id"], ["id"]) == IsNull("id")
    assert key_ranges(source.slice(0, 1), ["id"], ["id"]) == EqualTo("id", 5)


def test_key_ranges_of_dates_are_day_numbers():
    source = pa.table({"day": [date(1970, 1, 3), date(1970, 1, 2)]})
    assert key_ranges(source, ["day"]) == In("day", [DateLiteral(1), DateLiteral(2)])


def test_key_ranges_of_null_keys_are_false():
    source = pa.table({"id": pa.array([None, None], pa.int64()), "n": [1, 2]})
    assert key_ranges(source, ["n", "id"]) == AlwaysFalse()


def test_key_ranges_of_floats_booleans_and_bytes_are_true():
    source = pa.table({"x": [1.5], "flag": [True], "raw": [b"a"], "fixed": pa.array([b"ab"], pa.binary(2))})
    assert key_ranges(source, source.column_names) == AlwaysTrue()
