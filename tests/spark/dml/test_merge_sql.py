"""Conditions and values of Python's merge have the results of Spark for random SQL texts."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql.binding import bind
from icefloe.table.row_level.clause_sql.scope import Scope
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

from tests.spark.dml.random_sql import RandomSql

FAILED = "failed"
ROWS = 12
TEXTS = 120
SEEDS = 3


@pytest.fixture
def utc(spark):
    """A session in UTC, the zone of merges in Python, whose optimizer removes no expression that would fail."""
    rules = [
        "BooleanSimplification",
        "ConstantFolding",
        "NullPropagation",
        "OptimizeIn",
        "PushFoldableIntoBranches",
        "ReplaceNullWithFalseInPredicate",
        "SimplifyBinaryComparison",
        "SimplifyCaseConversionExpressions",
        "SimplifyConditionals",
    ]
    wanted = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.optimizer.excludedRules": ",".join(
            f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in rules
        ),
    }
    before = {key: spark.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    yield spark
    for key, value in before.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)


def joined(batch):
    """Return the rows with the column names of a merge's join."""
    columns = {f"{side}.{field.name}": batch.column(side).field(index) for side, index, field in fields_of(batch)}
    return pa.record_batch(columns)


def fields_of(batch):
    for side in batch.schema.names:
        kind = batch.schema.field(side).type
        yield from ((side, index, kind.field(index)) for index in range(kind.num_fields))


def of_python(text, rows):
    try:
        return [comparable(value) for value in bind(text, Scope(rows.schema)).evaluate(rows).to_pylist()]
    except (ValidationError, pa.ArrowException):
        return FAILED


def of_spark(texts, frame):
    """Return the values of each text in Spark, in one query, or in one query for each text if that fails."""
    try:
        found = frame.select(*[F.expr(text).alias(f"c{index}") for index, text in enumerate(texts)]).toArrow()
    except PySparkException:
        if len(texts) == 1:
            return [FAILED]
        middle = len(texts) // 2
        return of_spark(texts[:middle], frame) + of_spark(texts[middle:], frame)
    return [[comparable(value) for value in column.to_pylist()] for column in found.columns]


def comparable(value):
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def frame_of(spark, batch):
    return spark.createDataFrame(pa.Table.from_batches([batch])).coalesce(1)


def check(spark, made, texts):
    """Assert that every text has the same values in Python and Spark, or fails in both."""
    batch = pa.record_batch({"source": made.side(ROWS), "target": made.side(ROWS)})
    rows, frame = joined(batch), frame_of(spark, batch)
    found = {text: of_python(text, rows) for text in texts}
    # A query with a failing text fails as a whole, so failing texts have queries of their own.
    good = [text for text, values in found.items() if values != FAILED]
    assert len(good) > len(found) // 2
    expected = dict(zip(good, of_spark(good, frame), strict=True))
    expected |= {text: of_spark([text], frame)[0] for text in found if text not in expected}
    assert found == expected


@pytest.mark.parametrize("seed", range(SEEDS))
def test_merge_condition_is_true_for_the_same_rows_in_python_and_spark(utc, seed):
    made = RandomSql(seed)
    check(utc, made, [made.condition() for _ in range(TEXTS)])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_merge_value_is_the_same_in_python_and_spark(utc, seed):
    made = RandomSql(1000 + seed)
    check(utc, made, [made.random.choice([made.number, made.text])(2) for _ in range(TEXTS)])


def test_text_functions_have_the_same_results_in_python_and_spark(utc):
    made = RandomSql(0)
    check(utc, made, [made.text_function() for _ in range(2 * TEXTS)])


@pytest.mark.parametrize("function", [RandomSql.date_function, RandomSql.rounding_function])
def test_functions_of_dates_and_numbers_have_the_same_results_in_python_and_spark(utc, function):
    made = RandomSql(0)
    check(utc, made, [function(made) for _ in range(2 * TEXTS)])


MOMENTS = [
    0,
    -1,
    1_500_000,
    -62_135_596_800_000_000,
    -62_167_219_200_000_001,
    253_402_300_799_999_990,
    253_402_300_800_000_000,
]
"""Microseconds of the epoch, of the first and last years of four digits, and of a year beyond each."""
DIGITS = ["0", "0.00000001", "-0.00000001", "1.50000000", "-123456789.00000001", "99999999999999.99999999", None]


def test_decimals_and_timestamps_are_the_same_texts_in_python_and_spark(utc):
    numbers = pa.array([None if one is None else Decimal(one) for one in DIGITS], pa.decimal128(22, 8))
    moments = pa.array(MOMENTS, pa.int64())
    columns = {
        "c": numbers,
        "whole": numbers.cast(pa.decimal128(22, 8)).view(pa.decimal128(22, 0)),
        "all": numbers.view(pa.decimal128(38, 38)),
        "at": moments.cast(pa.timestamp("us", "UTC")),
        "local": moments.cast(pa.timestamp("us")),
    }
    side = pa.StructArray.from_arrays(list(columns.values()), list(columns))
    batch = pa.record_batch({"source": side})
    texts = [f"cast(source.{name} as string)" for name in columns]
    assert [of_python(text, joined(batch)) for text in texts] == of_spark(texts, frame_of(utc, batch))
