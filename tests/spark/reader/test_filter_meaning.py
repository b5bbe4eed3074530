"""Both readers and deletes select the rows of Spark's own WHERE for random filters."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.schema import Schema
from icefloe.spark.reader.frame import scan_frame
from icefloe.spark.reader.scan_choice import plan_scan
from icefloe.types import NestedField, StructType

from tests.property.filter_sql import SCHEMA, arrow, random_rows, sql
from tests.property.random_filter import random_filter

FILTERS, DELETES, FILES = 40, 4, 6


@pytest.fixture(scope="module")
def random_table(catalog):
    """Return a table of random rows in files with small row groups and pages."""
    rng = Random("filters in Spark")
    properties = {"write.parquet.row-group-size-bytes": "400", "write.parquet.page-row-limit": "3"}
    table = catalog.create_table("db.filtered", SCHEMA, properties=properties)
    rows = []
    for _ in range(FILES):
        new = random_rows(rng, len(rows), 20)
        table.append(arrow(new))
        rows += new
    return table, rows


def ids(frame) -> list[int]:
    return sorted(row["id"] for row in frame.select("id").collect())


def test_filter_selects_the_rows_of_sparks_where_in_both_readers(spark, random_table):
    table, rows = random_table
    rng = Random("filters in Spark")
    filters = [random_filter(rng, StructType(*SCHEMA.fields), depth=3) for _ in range(FILTERS)]
    answers = [f"coalesce({sql(each, 'spark')}, false) AS f{number}" for number, each in enumerate(filters)]
    # Rows in Spark's memory: no file is skipped.
    values = [tuple(row.values()) for row in arrow(rows).to_pylist()]
    answered = spark.createDataFrame(values, icefloe.spark.to_spark_schema(SCHEMA))
    answered = sorted(answered.selectExpr("id", *answers).collect())
    for number, chosen in enumerate(filters):
        expected = [row["id"] for row in answered if row[f"f{number}"]]
        assert expected == [row[1] for row in rows if chosen.holds(row)], sql(chosen, "spark")
        planned = plan_scan(spark, table.scan(chosen.expression()))
        assert planned.native is not None, planned.choice
        for one in (planned, replace(planned, native=None)):
            assert ids(scan_frame(spark, one)) == expected, sql(chosen, "spark")


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_delete_keeps_rows_for_which_the_filter_is_not_true(spark, random_table, mode):
    table, rows = random_table
    with table.transaction() as change:
        change.set_properties({"write.delete.mode": mode})
    rng = Random(f"deletes in Spark {mode}")
    for number in range(DELETES):
        chosen = random_filter(rng, StructType(*SCHEMA.fields), depth=3)
        branch = f"{mode}-{number}"
        table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, branch).commit()
        icefloe.spark.delete_from(table, chosen.expression(), spark=spark, branch=branch)
        expected = [row[1] for row in rows if not chosen.holds(row)]
        assert ids(icefloe.spark.read(table, spark=spark, branch=branch)) == expected, sql(chosen, "spark")


def test_not_equal_selects_nan(spark, new_table):
    """Spark's Parquet reader skips a row group whose statistics have 5.0 alone, although it has NaN as well."""
    table = new_table(Schema(NestedField(1, "id", "long"), NestedField(2, "x", "double")))
    table.append(pa.table({"id": [1, 2, 3], "x": [5.0, float("nan"), 5.0]}))
    for row_filter in ("x != 5.0", "not x = 5.0", "x not in (5.0, 6.0)"):
        planned = plan_scan(spark, table.scan(row_filter))
        assert planned.native is not None, planned.choice
        for one in (planned, replace(planned, native=None)):
            assert ids(scan_frame(spark, one)) == [2], row_filter


def test_conditions_of_spark_select_nan_and_zeros(spark, new_table):
    """NaN is above all numbers in Spark, and bounds of row groups leave it out."""
    table = new_table(Schema(NestedField(1, "id", "long"), NestedField(2, "x", "double"), NestedField(3, "y", "float")))
    numbers = [5.0, float("nan"), -0.0, None]
    table.append(pa.table({"id": [1, 2, 3, 4], "x": numbers, "y": pa.array(numbers, pa.float32())}))
    frame = icefloe.spark.read(table, spark=spark)
    plain = spark.createDataFrame(frame.collect(), frame.schema)
    assert [str(row.x) for row in frame.orderBy("id").collect()] == ["5.0", "nan", "-0.0", "None"]
    for column in ("x", "y"):
        for condition in (
            "{} > 6",
            "{} >= 6",
            "{} = double('NaN')",
            "{} <> 5",
            "{} = 0",
            "{} < 0 or {} > 0",
            "isnan({})",
        ):
            text = condition.replace("{}", column)
            assert ids(frame.where(text)) == ids(plain.where(text)), text


def test_conditions_of_spark_select_nan_and_zeros_in_structs(spark, new_table):
    """Spark prunes row groups by fields of structs as well."""
    numbers = StructType(NestedField(3, "x", "double"), NestedField(4, "in", StructType(NestedField(5, "y", "float"))))
    table = new_table(Schema(NestedField(1, "id", "long"), NestedField(2, "s", numbers)))
    kind = pa.struct([("x", pa.float64()), ("in", pa.struct([("y", pa.float32())]))])
    values = [{"x": one, "in": {"y": one}} for one in (5.0, float("nan"), -0.0, None)]
    table.append(pa.table({"id": [1, 2, 3, 4, 5, 6], "s": pa.array([*values, {"x": 5.0, "in": None}, None], kind)}))
    planned = plan_scan(spark, table.scan())
    assert planned.native is not None, planned.choice
    frame = icefloe.spark.read(table, spark=spark)
    for column in ("s.x", "s.in.y"):
        for condition, expected in ((f"{column} > 6", [2]), (f"{column} = 0", [3]), (f"isnan({column})", [2])):
            assert ids(frame.where(condition)) == expected, condition
    assert (ids(frame.where("s is null")), ids(frame.where("s.in is null"))) == ([6], [5, 6])
