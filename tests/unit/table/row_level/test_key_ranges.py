"""The filter of a merge's key ranges."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
from icefloe.expressions import AlwaysFalse, AlwaysTrue, And, GreaterThanOrEqual, LessThanOrEqual
from icefloe.expressions.literals import DateLiteral
from icefloe.table.row_level.key_ranges import key_ranges


def test_key_ranges_are_the_least_and_greatest_keys():
    source = pa.table({"id": [5, None, 2, 9]})
    assert key_ranges(source, ["id"]) == And(AlwaysTrue(), And(GreaterThanOrEqual("id", 2), LessThanOrEqual("id", 9)))


def test_key_ranges_of_dates_are_day_numbers():
    source = pa.table({"day": [date(1970, 1, 3), date(1970, 1, 2)]})
    least, greatest = DateLiteral(1), DateLiteral(2)
    assert key_ranges(source, ["day"]) == And(
        AlwaysTrue(), And(GreaterThanOrEqual("day", least), LessThanOrEqual("day", greatest))
    )


def test_key_ranges_of_null_keys_are_false():
    source = pa.table({"id": pa.array([None, None], pa.int64()), "n": [1, 2]})
    assert key_ranges(source, ["n", "id"]) == AlwaysFalse()


def test_key_ranges_of_floats_booleans_and_bytes_are_true():
    source = pa.table({"x": [1.5], "flag": [True], "raw": [b"a"], "fixed": pa.array([b"ab"], pa.binary(2))})
    assert key_ranges(source, source.column_names) == AlwaysTrue()
