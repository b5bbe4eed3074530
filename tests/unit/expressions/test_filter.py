"""Filters: an expression with its schema and case rule."""

from datetime import datetime

import pytest
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import EqualTo, LessThan
from icefloe.expressions.bound import bind
from icefloe.expressions.filter import Filter, on_columns, to_expression
from icefloe.schema import Schema
from icefloe.types import LongType, NestedField, TimestamptzType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "ts", TimestamptzType()))


def test_filter_json_has_literals_of_the_column_type():
    made = Filter.of(LessThan("ts", datetime(2026, 1, 1)), SCHEMA)
    assert made.json == '{"type":"lt","term":"ts","value":"2026-01-01T00:00:00.000000+00:00"}'


def test_filter_binds_with_its_case_rule():
    assert Filter.of("ID = 1", SCHEMA, case_sensitive=False).bound.term.field.field_id == 1
    with pytest.raises(ResolveError):
        _ = Filter.of("ID = 1", SCHEMA).bound


def test_filter_of_returns_a_filter_unchanged():
    made = Filter.of("id = 1", SCHEMA, case_sensitive=False)
    assert Filter.of(made, Schema()) is made


def test_filter_of_text_equals_the_filter_of_its_expression():
    assert Filter.of("id = 1", SCHEMA) == Filter.of(EqualTo("id", 1), SCHEMA)


@pytest.mark.parametrize("row_filter", ["", "  ", None, 1])
def test_filter_refuses_empty_text_and_other_types(row_filter):
    with pytest.raises(ValidationError):
        Filter.of(row_filter, SCHEMA)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("years(ts) = '2024'", "ts >= '2024-01-01T00:00:00+00:00' and ts < '2025-01-01T00:00:00+00:00'"),
        ("not (ID = 1 or hours(TS) < '1970-01-01-02')", "not (id = 1 or ts < '1970-01-01T02:00:00+00:00')"),
        ("truncate(10, id) = 20", "id >= 20 and id < 30"),
    ],
)
def test_filter_json_has_conditions_on_columns_in_place_of_transforms(text, same):
    of_columns = on_columns(SCHEMA, to_expression(text), case_sensitive=False)
    assert bind(SCHEMA, of_columns, case_sensitive=False) == bind(SCHEMA, to_expression(same))
    assert "transform" not in Filter.of(text, SCHEMA, case_sensitive=False).json


@pytest.mark.parametrize(
    "text", ["bucket(16, id) = 3", "truncate(10, id) < 20", "truncate(10, id) = 7", "years(id) = 1"]
)
def test_filter_json_keeps_transforms_without_a_condition_on_the_column(text):
    assert '"transform"' in Filter.of(text, SCHEMA).json
