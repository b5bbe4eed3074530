"""Both readers and deletes select the rows of Spark's own WHERE for random filters."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.schema import Schema
from icefloe.spark.reader.frame import scan_frame
from icefloe.spark.reader.native import FIELD_ID_READ
from icefloe.spark.reader.scan_choice import plan_scan
from icefloe.spark.session import settings
from icefloe.types import DecimalType, ListType, LongType, NestedField, StructType

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


def test_conditions_of_spark_select_widened_integers(spark, new_table):
    """Spark cuts all literals of a list but the first to the bytes of the file's integers: -2147483649 is 2147483647 in 4 bytes."""
    inside = StructType(NestedField(4, "i", "int"))
    table = new_table(Schema(NestedField(1, "id", "long"), NestedField(2, "i", "int"), NestedField(3, "s", inside)))
    structs = pa.array([{"i": 2**31 - 1}], pa.struct([("i", pa.int32())]))
    table.append(pa.table({"id": [1], "i": pa.array([2**31 - 1], pa.int32()), "s": structs}))
    with table.update_schema() as change:
        change.update_column("i", LongType()).update_column(("s", "i"), LongType())
    assert plan_scan(spark, table.scan()).native is not None
    frame = icefloe.spark.read(table, spark=spark)
    for condition in ("i NOT IN (100, -2147483649)", "s.i NOT IN (100, -2147483649)", "NOT (i = 5 OR i = -2147483649)"):
        assert ids(frame.where(condition)) == [1], condition


@pytest.mark.parametrize(("before", "after"), [(9, 18), (9, 38), (18, 38), (20, 38)])
def test_conditions_of_spark_select_decimals_of_fewer_digits(spark, new_table, before, after):
    """Spark cuts literals to the bytes of the file's decimals: 42949672.96 is zero in 4 bytes."""
    inside = StructType(NestedField(4, "d", DecimalType(before, 2)))
    table = new_table(
        Schema(NestedField(1, "id", "long"), NestedField(2, "d", DecimalType(before, 2)), NestedField(3, "s", inside))
    )
    kind = pa.decimal128(before, 2)
    values = [Decimal("5.00"), Decimal("9999999.99")]
    structs = pa.array([{"d": one} for one in values], pa.struct([("d", kind)]))
    table.append(pa.table({"id": [1, 2], "d": pa.array(values, kind), "s": structs}))
    with table.update_schema() as change:
        change.update_column("d", DecimalType(after, 2)).update_column(("s", "d"), DecimalType(after, 2))
    assert plan_scan(spark, table.scan()).native is not None
    frame = icefloe.spark.read(table, spark=spark)
    for digits in (32, 64, 96):
        largest = f"{Decimal(2**digits).scaleb(-2):.2f}"
        if len(largest) > after:
            continue
        for column in ("d", "s.d"):
            assert ids(frame.where(f"{column} < {largest}")) == [1, 2], (column, digits)
            assert ids(frame.where(f"not {column} >= {largest}")) == [1, 2], (column, digits)
            assert ids(frame.where(f"{column} > -{largest}")) == [1, 2], (column, digits)


def test_conditions_of_spark_are_about_columns_whose_names_others_had(spark, new_table):
    """Spark reads the columns of a file by id, but finds the columns of a condition by name."""
    inside = StructType(NestedField(5, "x", "double"), NestedField(6, "y", "double"))
    numbers = (NestedField(2, "a", "long"), NestedField(3, "b", "long"), NestedField(4, "s", inside))
    table = new_table(Schema(NestedField(1, "id", "long"), *numbers))
    structs = pa.array([{"x": 1.0, "y": 100.0}, {"x": 2.0, "y": None}], pa.struct([("x", "double"), ("y", "double")]))
    table.append(pa.table({"id": [1, 2], "a": [1, 2], "b": [100, None], "s": structs}))
    with table.update_schema() as change:
        for old, new in ((("a",), "c"), (("b",), "a"), (("s", "x"), "z"), (("s", "y"), "x")):
            change.rename_column(old, new)
    with table.update_schema() as change:
        change.add_column("b", "long")
    with settings(spark, {FIELD_ID_READ: "true"}):
        planned = plan_scan(spark, table.scan())
        assert planned.native is not None, planned.choice
        frame = icefloe.spark.read(table, spark=spark)
        for condition, expected in (
            ("a = 100", [1]),
            ("a is null", [2]),
            ("c = 2", [2]),
            ("b is null", [1, 2]),
            ("s.x > 50", [1]),
            ("s.x is null", [2]),
            ("s.z < 2", [1]),
        ):
            assert ids(frame.where(condition)) == expected, condition
        assert ids(icefloe.spark.read(table, spark=spark, filter="a = 100")) == [1]


def test_columns_that_swapped_names_are_read_by_ids(spark, new_table):
    """Spark takes the type of a file's column from the column of the same name."""
    table = new_table(
        Schema(NestedField(1, "id", "long"), NestedField(2, "a", "boolean"), NestedField(3, "b", "string"))
    )
    table.append(pa.table({"id": [1, 2], "a": [True, None], "b": ["x", "y"]}))
    with table.update_schema() as change:
        change.rename_column("a", "c").rename_column("b", "a")
    with table.update_schema() as change:
        change.rename_column("c", "b")
    with settings(spark, {FIELD_ID_READ: "true"}):
        frame = icefloe.spark.read(table, spark=spark)
        assert sorted(map(tuple, frame.select("id", "a", "b").collect())) == [(1, "x", True), (2, "y", None)]
        assert ids(frame.where("a = 'y' and b is null")) == [2]


def test_fields_of_renamed_structs_are_read_by_ids(spark, new_table):
    """Spark loses the id of a struct or list of structs of which it reads some fields."""
    inside = StructType(NestedField(5, "x", "long"), NestedField(6, "y", "long"))
    other = StructType(NestedField(10, "x", "long"), NestedField(11, "y", "long"))
    elements = ListType(7, StructType(NestedField(8, "x", "long"), NestedField(9, "y", "long")), element_required=False)
    columns = (NestedField(2, "s", inside), NestedField(3, "l", elements), NestedField(4, "a b", other))
    table = new_table(Schema(NestedField(1, "id", "long"), *columns))
    values = [{"x": 1, "y": 2}, None]
    rows = {"id": [1, 2], "s": values, "l": [[{"x": 1, "y": 2}], []], "a b": values}
    table.append(pa.Table.from_pydict(rows, schema=table.schema().as_arrow()))
    with table.update_schema() as change:
        change.rename_column("s", "t").rename_column("l", "m")
    with settings(spark, {FIELD_ID_READ: "true"}):
        frame = icefloe.spark.read(table, spark=spark)
        for condition in ("t.x = 1", "get(m, 0).y = 2", "`a b`.x = 1", "get(m.x, 0) is not null"):
            assert ids(frame.where(condition)) == [1], condition


def test_rows_are_read_by_ids_after_schemas_were_removed(spark, new_table):
    """The metadata does not tell which names the columns of older files have."""
    table = new_table(Schema(NestedField(1, "id", "long"), NestedField(2, "a", "long"), NestedField(3, "b", "long")))
    table.append(pa.table({"id": [1], "a": [2], "b": [3]}))
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        with table.update_schema() as change:
            change.rename_column(old, new)
    table.append(pa.table({"id": [4], "a": [5], "b": [6]}))
    table.maintenance.expire_snapshots().older_than("0s").retain_last(1).clean_expired_metadata().execute()
    assert len(table.refresh().metadata.schemas) == 1
    for field_ids in ("false", "true"):
        with settings(spark, {FIELD_ID_READ: field_ids}):
            frame = icefloe.spark.read(table, spark=spark)
            assert sorted(map(tuple, frame.select("id", "a", "b").collect())) == [(1, 3, 2), (4, 5, 6)]
            assert ids(frame.where("a = 3")) == [1]
