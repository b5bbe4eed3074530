"""Filters on promoted columns, in tables partitioned by them, find all rows of before and after the promotion."""

from __future__ import annotations

import operator
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.expressions import (
    BooleanExpression,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    NotEqualTo,
    NotIn,
)
from icefloe.schema import Schema
from icefloe.types import DecimalType, DoubleType, FloatType, IntegerType, LongType, NestedField
from icefloe.types.arrow import storage_schema

OPERATORS = {
    LessThan: operator.lt,
    LessThanOrEqual: operator.le,
    GreaterThan: operator.gt,
    GreaterThanOrEqual: operator.ge,
    EqualTo: operator.eq,
    NotEqualTo: operator.ne,
}
INTS = [-(2**31), -(2**31) + 1, -(2**31) + 7, -11, -10, -1, 0, 1, 9, 10, 2**31 - 8, 2**31 - 2, 2**31 - 1]
LONGS = [*INTS, -(2**63), -(2**63) + 3, -(2**31) - 1, -(2**31) - 2, 2**31, 2**63 - 1]
CENTS = [Decimal("-999990.00"), Decimal("-0.11"), Decimal("0.00"), Decimal("0.07"), Decimal("999999.99")]
WIDER = [*CENTS, Decimal("-9999999990.00"), Decimal("10000000.00"), Decimal("42949672.96")]
NUMBERS = [float("-inf"), -1.5, -0.0, 0.0, 0.5, 16777216.0, float("inf")]
PROMOTIONS = {
    "int": (IntegerType(), LongType(), INTS, LONGS),
    "decimal": (DecimalType(8, 2), DecimalType(12, 2), CENTS, WIDER),
    "wide decimal": (DecimalType(8, 2), DecimalType(38, 2), CENTS, WIDER),
    "float": (FloatType(), DoubleType(), NUMBERS, [*NUMBERS, 0.1, 1e300]),
}
CASES = [
    (name, transform)
    for name in PROMOTIONS
    for transform in ("identity", "bucket[3]", "truncate[1]", "truncate[7]", "truncate[10]", "truncate[1000]")
    if name != "float" or transform == "identity"
]


@pytest.mark.parametrize(("promotion", "transform"), CASES)
@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_filters_find_rows_of_before_and_after_the_promotion(promotion, transform, mode):
    before, after, old, new = PROMOTIONS[promotion]
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        schema = Schema(NestedField(1, "x", before), NestedField(2, "number", LongType()))
        table = catalog.create_table("db.t", schema, properties={"write.delete.mode": mode})
        with table.update_spec() as change:
            change.add_field("x", transform)
        table.append(rows(table, old, 0))
        with table.update_schema() as change:
            change.update_column("x", after)
        table.append(rows(table, new, len(old)))
        values = [*old, *new]
        conditions = [
            (kind("x", literal), answer)
            for kind in OPERATORS
            for literal in new
            for answer in [answers(kind, literal, values)]
        ]
        for literal in new:
            chosen = {new[0], literal}
            conditions.append((In("x", chosen), [value in chosen for value in values]))
            conditions.append((NotIn("x", chosen), [value not in chosen for value in values]))
        for condition, expected in conditions:
            assert numbers(table, condition) == [n for n, is_match in enumerate(expected) if is_match], condition
        for condition, expected in conditions[::9]:
            branch = f"b{len(table.refs())}"
            table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, branch).commit()
            table.delete(condition, branch=branch)
            assert numbers(table, branch=branch) == [n for n, is_match in enumerate(expected) if not is_match], (
                condition
            )


def rows(table, values, first):
    schema = storage_schema(table.schema().as_arrow())
    return pa.table({"x": values, "number": range(first, first + len(values))}, schema=schema)


def answers(kind: type[BooleanExpression], literal, values):
    return [OPERATORS[kind](value, literal) for value in values]


def numbers(table, condition=None, branch=None):
    scan = table.scan() if condition is None else table.scan(condition)
    return sorted((scan if branch is None else scan.use_ref(branch)).to_arrow().column("number").to_pylist())
