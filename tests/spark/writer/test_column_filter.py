"""`write_to(...).overwrite` with conditions of Spark columns."""

from __future__ import annotations

import datetime as dt
import functools
import operator

import icefloe.spark
import pytest
from icefloe.exceptions import ValidationError
from icefloe.expressions import EqualTo, IsNull, NotNull
from icefloe.expressions.tree import MAX_DEPTH
from icefloe.schema import Schema
from icefloe.spark.session import settings
from icefloe.spark.writer.column_filter import MAX_CONDITIONS, filter_of_column
from icefloe.types import LongType, NestedField, StructType
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

DAY = dt.date(2026, 1, 2)
ROWS = "(1L, 'a', DATE '2026-01-01', true, 1.5D), (2L, NULL, DATE '2026-01-02', false, 2.5D), (3L, 'b''c', NULL, NULL, 3.5D)"
CONDITIONS = {
    "id > 1": lambda: F.col("id") > 1,
    "2 > id": lambda: F.lit(2) > F.col("id"),
    "id >= 2 and id <= 2": lambda: F.col("id").between(2, 2),
    "name": lambda: F.col("name") == "b'c",
    "not the name": lambda: F.col("name") != "a",
    "not less": lambda: ~(F.col("id") < 2),
    "not the null": lambda: ~F.col("name").isNull(),
    "prefix": lambda: F.col("name").startswith("b"),
    "null": lambda: F.col("name").isNull() | F.col("day").isNull(),
    "not null": lambda: F.col("day").isNotNull() & (F.col("id") < 3),
    "in": lambda: F.col("id").isin(1, 3),
    "date": lambda: F.col("day") == DAY,
    "text of a date": lambda: F.col("day") < "2026-01-02",
    "name in another case": lambda: F.col("ID") > 1,
    "in no value, or another": lambda: F.col("id").isin([]) | (F.col("id") == 3),
    "boolean": lambda: F.col("yes") == F.lit(True),
    "all": lambda: F.lit(True),
    "null of a column that literals are not compared with": lambda: F.col("x").isNull() | (F.col("id") == 3),
    "not null of one": lambda: F.col("x").isNotNull() & ~F.col("x").isNull(),
}


@pytest.fixture
def table(spark, new_table):
    """A table with a data file for each row, so that each condition matches all rows of a file or none."""
    frame = spark.sql(f"SELECT * FROM VALUES {ROWS} AS t(id, name, day, yes, x)")
    made = new_table(frame.schema)
    for number in (1, 2, 3):
        icefloe.spark.write(frame.where(f"id = {number}"), made)
    return made


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_overwrite_replaces_the_rows_that_spark_selects(spark, table, condition):
    frame = icefloe.spark.read(table, spark=spark)
    matching = {row["id"] for row in frame.where(condition()).collect()}
    assert matching
    new = spark.sql("SELECT 9L AS id, 'new' AS name, DATE '2026-02-01' AS day, true AS yes, 0D AS x")
    icefloe.spark.write_to(new, table).overwrite(condition())
    assert set(table.refresh().scan().to_arrow()["id"].to_pylist()) == {1, 2, 3} - matching | {9}


@pytest.mark.parametrize(
    "condition",
    [
        lambda: F.col("x") > 1,
        lambda: F.col("id") == "1",
        lambda: F.col("name") == 1,
        lambda: F.col("day") == "2026-1-2",
        lambda: F.upper("name") == "A",
        lambda: (F.col("id") > 1) & (F.rand() < 2),
        lambda: F.expr("id > 1"),
        F.current_date,
        lambda: ~F.col("id").isin(1),
        lambda: F.col("nope") == 1,
        lambda: F.col("day") == 1,
        lambda: F.col("day").isin(1, 2),
        lambda: F.col("day") == F.lit(True),
        lambda: F.col("day") == dt.datetime(2026, 1, 2),
        lambda: F.col("day") == "2026-02-30",
        lambda: F.col("day") > "0000-01-01",
    ],
)
def test_overwrite_refuses_a_condition_whose_meaning_spark_decides(spark, table, condition):
    write = icefloe.spark.write_to(icefloe.spark.read(table, spark=spark), table)
    with pytest.raises(ValidationError, match=r"overwrite: expected a filter as text, or comparisons .* got Column"):
        write.overwrite(condition())
    assert table.refresh().scan().count() == 3


def test_overwrite_names_the_cause_of_a_refusal(spark, table):
    frame = icefloe.spark.read(table, spark=spark)
    write = icefloe.spark.write_to(frame, table)
    for condition in (frame["id"] > 0, frame.id.isin(1), F.lit(0) < frame.id):
        with pytest.raises(ValidationError, match=r"id is a column of a DataFrame: use F\.col\('id'\)$"):
            write.overwrite(condition)
    with pytest.raises(
        ValidationError, match=r"no column 'nope' outside of structs, use one of id, name, day, yes, x$"
    ):
        write.overwrite(F.col("nope") == 1)
    with pytest.raises(ValidationError, match=r"column 'x' has type double, write the condition as text, such as"):
        write.overwrite(F.lit(1.5) == F.col("X"))
    pytest.importorskip("grpc", reason="columns of Spark Connect need grpc")
    from pyspark.sql.connect import functions

    with pytest.raises(
        ValidationError, match="a column of Spark Connect is not readable here, so write the condition as text"
    ):
        write.overwrite(functions.col("id") > 1)
    assert table.refresh().scan().count() == 3


def test_filter_of_a_name_with_dots_and_of_nulls_of_structs():
    fields = [NestedField(1, "a.b", LongType()), NestedField(2, "s", StructType(NestedField(3, "x", LongType())))]
    schema = Schema(*fields)
    for name in ("a.b", "A.b"):
        with pytest.raises(
            ValidationError, match=r"'.\.b' for a field of a struct, use F\.col\('`a\.b`'\) for the column"
        ):
            filter_of_column(F.col(name) == 1, schema)
    assert filter_of_column(F.col("`a.b`") == 1, schema) == EqualTo("a.b", 1)
    assert filter_of_column(F.col("s").isNull(), schema) == IsNull("s")
    assert filter_of_column(~F.col("s").isNull(), schema) == NotNull("s")


def test_option_of_case_precedes_the_setting_of_the_session(spark, table):
    frame = icefloe.spark.read(table, spark=spark).where("false")

    def overwrite(option):
        icefloe.spark.write_to(frame, table).option("case-sensitive", option).overwrite(F.col("ID") > 1)

    with pytest.raises(ValidationError, match="no column 'ID'"):
        overwrite("true")
    assert table.refresh().scan().count() == 3
    with settings(spark, {"spark.sql.caseSensitive": "true"}):
        overwrite("false")
    assert table.refresh().scan().count() == 1


def test_overwrite_matches_names_by_the_setting_of_the_session(spark, table):
    write = icefloe.spark.write_to(icefloe.spark.read(table, spark=spark), table)
    with (
        settings(spark, {"spark.sql.caseSensitive": "true"}),
        pytest.raises(ValidationError, match="no column 'ID'"),
    ):
        write.overwrite(F.col("ID") > 1)
    both = Schema(NestedField(1, "ID", LongType()), NestedField(2, "id", LongType()))
    with pytest.raises(ValidationError, match=r"the columns 'ID' and 'id', set spark\.sql\.caseSensitive"):
        filter_of_column(F.col("Id") > 1, both)
    assert str(filter_of_column(F.col("ID") > 1, both, case_sensitive=True)).startswith(
        "GreaterThan(term=Reference(name='ID')"
    )


def test_overwrite_reads_a_chain_longer_than_the_stack_of_python(table):
    def chain(length):
        return functools.reduce(operator.or_, [F.col("id") == number for number in range(length)])

    read = filter_of_column(chain(1200), table.schema())
    assert str(read).count("EqualTo(") == 1200
    with pytest.raises(
        ValidationError, match=f"at most {MAX_CONDITIONS} conditions joined by & or [|], got more: .* isin"
    ):
        filter_of_column(chain(MAX_CONDITIONS + 1), table.schema())
    nested = F.col("id") == 1
    for _ in range(MAX_DEPTH):
        nested = (nested | (F.col("id") == 2)) & (F.col("id") > 0)
    with pytest.raises(ValidationError, match=f"nested at most {MAX_DEPTH} deep, got a deeper condition"):
        filter_of_column(nested, table.schema())
