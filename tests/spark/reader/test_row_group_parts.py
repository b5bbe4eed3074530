"""Large row groups that Spark's own reader reads in parts: the rows of the whole, and the files that are not divided."""

from __future__ import annotations

import itertools

import icefloe.spark
import numpy as np
import pyarrow as pa
import pytest
from icefloe.spark.reader import row_group_parts
from icefloe.spark.reader.row_group_parts import _literals, divided_files, largest_row_groups
from icefloe.spark.session import settings
from icefloe.types import LongType

ROWS = 400_000
NUMBERS = itertools.count()
MERGE_ON_READ = {"write.delete.mode": "merge-on-read"}


@pytest.fixture(autouse=True)
def small_row_groups_are_large(monkeypatch):
    monkeypatch.setattr(row_group_parts, "_LEAST_EXCESS_BYTES", 1)


@pytest.fixture
def make(catalog):
    """Return a function that creates a table with one row group of an ascending and a shuffled column."""

    def create(**columns):
        data = {"shuffled": np.random.default_rng(3).permutation(ROWS), **columns}
        table = catalog.create_table(f"db.parts_{next(NUMBERS)}", pa.table(data).schema, properties=MERGE_ON_READ)
        table.append(pa.table(data))
        return table

    return create


def ascending(kind):
    """Return ascending values of a type, the first of them null."""
    numbers = pa.array(np.arange(ROWS) // (400 if kind == pa.date32() else 1))
    numbers = numbers.cast(pa.int32()) if kind == pa.date32() else numbers
    return pa.concat_arrays([pa.nulls(1, kind), numbers.cast(kind).slice(1)])


def divided(spark, table):
    plan = table.scan().plan_whole_files()
    return divided_files(plan, table.schema(), 2)


def sums(frame):
    return frame.selectExpr("count(*)", "count(at)", "sum(shuffled)", "sum(hash(at))").collect()


@pytest.mark.parametrize("kind", [pa.int64(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")], ids=str)
def test_parts_of_a_row_group_have_all_rows_once(spark, make, kind):
    table = make(at=ascending(kind))
    assert [file.column.name for file in divided(spark, table)] == ["at"]
    read = icefloe.spark.read(table, spark=spark)
    with settings(spark, {"spark.sql.parquet.filterPushdown": "false"}):
        whole = icefloe.spark.read(table, spark=spark)
    assert "Union" in read._jdf.queryExecution().optimizedPlan().toString()
    assert "Union" not in whole._jdf.queryExecution().optimizedPlan().toString()
    assert sums(read) == sums(whole)


def test_parts_of_descending_values_have_all_rows_once(spark, make):
    table = make(at=np.arange(ROWS)[::-1].copy())
    assert [file.column.name for file in divided(spark, table)] == ["at"]
    assert sums(icefloe.spark.read(table, spark=spark))[0][:3] == (ROWS, ROWS, ROWS * (ROWS - 1) // 2)


def test_parts_of_a_row_group_have_no_deleted_rows(spark, make):
    table = make(at=np.arange(ROWS))
    table.delete(f"shuffled < 1000 or at in (0, {ROWS // 2 - 1}, {ROWS // 2}, {ROWS - 1})")
    choice = icefloe.spark.explain_read(table, spark=spark)
    assert choice.native
    assert "in parts, by ranges of at" in choice.reason
    rows = icefloe.spark.read(table, spark=spark, filter="at >= 10").orderBy("at").toArrow()
    assert rows == table.scan("at >= 10").to_arrow().cast(rows.schema).sort_by("at")


def test_parts_are_ranges_of_a_column_that_the_query_does_not_read(spark, make):
    table = make(at=np.arange(ROWS))
    table.delete("shuffled < 1000")
    choice = icefloe.spark.explain_read(table, spark=spark, columns=["shuffled"])
    assert "in parts, by ranges of at" in choice.reason
    frame = icefloe.spark.read(table, spark=spark, columns=["shuffled"])
    assert frame.columns == ["shuffled"]
    assert "Union" in frame._jdf.queryExecution().optimizedPlan().toString()
    assert frame.orderBy("shuffled").toArrow()["shuffled"].to_pylist() == list(range(1000, ROWS))


def test_column_whose_conditions_spark_misreads_divides_no_file(spark, make):
    table = make(at=np.arange(ROWS, dtype=np.int32))
    with table.update_schema() as update:
        update.update_column("at", LongType())
    choice = icefloe.spark.explain_read(table, spark=spark, columns=["shuffled"])
    assert choice.native
    assert "parts" not in choice.reason


def test_parts_by_a_required_column_have_rows_whose_value_is_null(spark, make):
    table = make(at=pa.concat_arrays([pa.nulls(100, pa.int64()), pa.array(np.arange(100, ROWS))]))
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.update_column("at", required=True)
    assert "by ranges of at" in icefloe.spark.explain_read(table, spark=spark, columns=["shuffled"]).reason
    assert icefloe.spark.read(table, spark=spark, columns=["shuffled"]).agg({"shuffled": "count"}).head()[0] == ROWS


def test_column_that_a_file_lacks_and_the_query_does_not_read_divides_nothing(spark, make):
    table = make(at=np.random.default_rng(5).permutation(ROWS))
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.add_column("later", LongType(), required=True)
    rows = icefloe.spark.read(table, spark=spark, columns=["shuffled"])
    assert rows.agg({"shuffled": "count"}).head()[0] == ROWS


def test_dates_of_years_without_a_literal_divide_nothing(spark, make):
    table = make(at=pa.array(np.arange(ROWS, dtype=np.int32) // 400 + 100_000_000).cast(pa.date32()))
    assert "parts" not in icefloe.spark.explain_read(table, spark=spark, columns=["shuffled"]).reason


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("year", [10_000, 32_768, 290_000])
def test_timestamps_of_years_without_a_literal_divide_nothing(spark, make, zone, year):
    start = int((year - 1970) * 365.2425 + 2) * 86_400_000_000
    table = make(at=pa.array(np.arange(ROWS) + start).cast(pa.timestamp("us", zone)))
    choice = icefloe.spark.explain_read(table, spark=spark, columns=["shuffled"])
    assert "parts" not in choice.reason


def test_literals_have_years_of_four_digits():
    ends = [-62_135_596_800_000_001, -62_135_596_800_000_000, 253_402_300_799_999_999, 253_402_300_800_000_000, None]
    texts = [None, "0001-01-01T00:00:00.000000", "9999-12-31T23:59:59.999999", None, None]
    assert _literals(pa.array(ends, pa.timestamp("us"))) == texts
    with_zone = [None if text is None else f"{text}+00:00" for text in texts]
    assert _literals(pa.array(ends, pa.timestamp("us", "UTC"))) == with_zone
    days = pa.array([-719_163, -719_162, 2_932_896, 2_932_897, None], pa.date32())
    assert _literals(days) == [None, "0001-01-01", "9999-12-31", None, None]


def test_row_group_without_sorted_pages_stays_whole(spark, make):
    table = make(at=np.random.default_rng(5).permutation(ROWS))
    assert divided(spark, table) == ()
    assert "parts" not in icefloe.spark.explain_read(table, spark=spark).reason


def test_row_group_of_one_value_stays_whole(spark, make):
    assert divided(spark, make(at=np.zeros(ROWS, dtype=np.int64))) == ()


def test_small_row_group_stays_whole(spark, make, monkeypatch):
    table = make(at=np.arange(ROWS))
    monkeypatch.undo()
    assert divided(spark, table) == ()


def test_row_group_that_a_filter_prunes_stays_whole(spark, make, monkeypatch):
    table = make(at=np.arange(ROWS))
    monkeypatch.setattr(row_group_parts, "_LEAST_EXCESS_BYTES", 100_000)
    assert len(divided(spark, table)) == 1
    plan = table.scan("at < 100").update(options={"split-size": str(2**62)}).plan()
    assert divided_files(plan, table.schema(), 2) == ()


def test_many_values_of_few_bytes_are_divided(spark, make, monkeypatch):
    table = make(at=np.arange(ROWS))
    monkeypatch.setattr(row_group_parts, "_LEAST_EXCESS_BYTES", 100_000)
    plan = table.scan("at < 100").update(options={"split-size": str(2**62)}).plan()
    assert divided_files(plan, table.schema().select("at"), 2) == ()
    monkeypatch.setattr(row_group_parts, "_LEAST_VALUES", 10_000)
    assert len(divided_files(plan, table.schema().select("at"), 2)) == 1


def test_largest_row_group_of_each_file():
    offsets = pa.array([[4, 104], None, [4], [4, 10, 400]], pa.list_(pa.int64()))
    sizes = pa.array([150, 70, 80, 500], pa.int64())
    files = pa.record_batch({"split_offsets": offsets, "file_size_in_bytes": sizes})
    assert largest_row_groups(files).tolist() == [100, 0, 76, 390]
