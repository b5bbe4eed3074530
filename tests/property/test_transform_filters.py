"""Filters on transforms prune partitions by other transforms of the column, and select the same rows as without partitions."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.expressions import (
    And,
    BooleanExpression,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    Not,
    NotEqualTo,
    NotIn,
    Or,
)
from icefloe.expressions.terms import UnboundTransform
from icefloe.table import Table
from icefloe.transforms import parse_transform
from icefloe.types import DateType, DecimalType, IntegerType, StringType, TimestampType

KINDS = {"d": DateType(), "ts": TimestampType(), "n": IntegerType(), "s": StringType(), "m": DecimalType(9, 2)}
TRANSFORMS = {
    "d": ("year", "month", "day"),
    "ts": ("year", "month", "day", "hour"),
    "n": ("truncate[10]", "truncate[7]", "bucket[3]"),
    "s": ("truncate[1]", "truncate[2]", "bucket[4]"),
    "m": ("truncate[50]", "bucket[2]"),
}
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("d", pa.date32()),
        ("ts", pa.timestamp("us")),
        ("n", pa.int32()),
        ("s", pa.string()),
        ("m", pa.decimal128(9, 2)),
    ]
)
SPECS = (
    (("d", "day"), ("n", "bucket[3]")),
    (("ts", "day"),),
    (("ts", "hour"), ("s", "truncate[2]")),
    (("d", "month"), ("m", "truncate[50]")),
    (("ts", "month"), ("n", "identity")),
    (("ts", "year"), ("n", "truncate[10]")),
    (("d", "identity"), ("s", "identity")),
)
# Without bounds in manifests, partitions alone decide which files are read.
PROPERTIES = {"write.metadata.metrics.default": "none"}
COMPARISONS: dict[type[BooleanExpression], Any] = {
    EqualTo: lambda value, other: value == other,
    NotEqualTo: lambda value, other: value != other,
    LessThan: lambda value, other: value < other,
    LessThanOrEqual: lambda value, other: value <= other,
    GreaterThan: lambda value, other: value > other,
    GreaterThanOrEqual: lambda value, other: value >= other,
    In: lambda value, others: value in others,
    NotIn: lambda value, others: value not in others,
}


def rows_of(draw: Random, count: int) -> pa.Table:
    def value(column: str) -> Any:
        moment = dt.datetime(draw.choice([1968, 1969, 1970, 2023, 2024]), draw.choice([1, 2, 12]), draw.choice([1, 28]))
        moment += dt.timedelta(seconds=draw.choice([0, 1, 3599, 3600, 86399]))
        values = {
            "d": moment.date(),
            "ts": moment,
            "n": draw.choice([-(2**31), -11, -10, -1, 0, 6, 7, 10, 2**31 - 1]),
            "s": draw.choice(["", "a", "ab", "abc", "b", "\U0001f600x", "\uffff"]),
            "m": Decimal(draw.randint(-300, 300)) / 100,
        }
        return None if draw.random() < 0.1 else values[column]

    rows = [{"id": number, **{column: value(column) for column in KINDS}} for number in range(count)]
    return pa.Table.from_pylist(rows, SCHEMA)


def results(rows: pa.Table, column: str, transform: str) -> list[Any]:
    """Return the results of a transform for the values of a column, in the representation of literals."""
    apply = parse_transform(transform).transform(KINDS[column])
    return [apply(_internal(value)) for value in rows.column(column).to_pylist()]


def _internal(value: Any) -> Any:
    """Return a date as its day and a timestamp as its microsecond, both from 1970-01-01."""
    if isinstance(value, dt.datetime):
        return (value - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    return (value - dt.date(1970, 1, 1)).days if isinstance(value, dt.date) else value


def predicate(draw: Random, rows: pa.Table) -> tuple[BooleanExpression, list[bool | None]]:
    """Return a random predicate on a transform, and its answer for each row."""
    column = draw.choice([*KINDS])
    transform = draw.choice(TRANSFORMS[column])
    values = results(rows, column, transform)
    known = [value for value in dict.fromkeys(values) if value is not None]
    operator = draw.choice([*COMPARISONS])
    chosen = draw.sample(known, min(3, len(known))) if operator in (In, NotIn) else draw.choice(known)
    made = operator(UnboundTransform(column, transform), chosen)
    return made, [None if value is None else COMPARISONS[operator](value, chosen) for value in values]


def random_condition(draw: Random, rows: pa.Table) -> tuple[BooleanExpression, list[bool | None]]:
    (left, first), (right, second) = predicate(draw, rows), predicate(draw, rows)
    shape = draw.randrange(4)
    if shape == 0:
        return And(left, right), [_and(one, other) for one, other in zip(first, second, strict=True)]
    if shape == 1:
        either = [_and(_not(one), _not(other)) for one, other in zip(first, second, strict=True)]
        return Or(left, right), [_not(one) for one in either]
    return (Not(left), [_not(one) for one in first]) if shape == 2 else (left, first)


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _and(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def new_table(name: str, spec: tuple[tuple[str, str], ...], rows: pa.Table) -> Table:
    catalog = load_catalog("transforms", type="memory")
    catalog.create_namespace_if_not_exists("db")
    table = catalog.create_table(f"db.{name}", SCHEMA, properties=PROPERTIES)
    with table.update_spec() as change:
        for column, transform in spec:
            change.add_field(column, transform)
    half = rows.num_rows // 2
    table.append(rows.slice(0, half))
    table.append(rows.slice(half))
    return table


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_filters_on_transforms_select_their_rows_in_any_partitioning(spec):
    draw = Random(str(spec))
    rows = rows_of(draw, 120)
    table = new_table("t", spec, rows)
    files = [*table.scan().plan_files()]
    skipped = 0
    for _ in range(40):
        condition, answers = random_condition(draw, rows)
        expected = [number for number, answer in enumerate(answers) if answer is True]
        scan = table.scan(condition, selected_fields=("id",))
        assert sorted(scan.to_arrow().column("id").to_pylist()) == expected, condition
        skipped += len(files) - len([*scan.plan_files()])
    assert skipped > len(files)
    condition, answers = random_condition(draw, rows)
    table.delete(condition)
    left = [number for number, answer in enumerate(answers) if answer is not True]
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == left, condition


@pytest.mark.parametrize(
    ("text", "column", "transforms"),
    [
        ("years(ts) = '2024'", "ts", ("month", "day", "hour", "identity")),
        ("months(ts) in ('1969-02', '2024-01')", "ts", ("day", "hour", "identity")),
        ("not years(d) >= '2023'", "d", ("month", "day", "identity")),
        ("truncate(2, s) = 'ab'", "s", ("truncate[1]", "truncate[3]", "identity")),
        ("truncate(10, n) = 0", "n", ("truncate[5]", "truncate[20]", "identity")),
    ],
)
def test_filter_on_a_transform_prunes_partitions_by_another_transform(text, column, transforms):
    rows = rows_of(Random(text), 120)
    for number, transform in enumerate(transforms):
        table = new_table(f"t{number}", ((column, transform),), rows)
        kept = {task.file.file_path for task in table.scan(text).plan_files()}
        found = {*table.scan(text, selected_fields=("_file",)).to_arrow().column("_file").to_pylist()}
        assert found, text
        assert found == kept or transform.startswith("truncate"), transform
        assert len(kept) < len([*table.scan().plan_files()]), transform
