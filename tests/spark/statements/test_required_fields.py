"""Statements over columns with required fields, elements and values inside, whose nulls the writer refuses by their column."""

from __future__ import annotations

import itertools

import icefloe.spark
import pytest
from icefloe.exceptions import SchemaMismatchError
from icefloe.schema import Schema
from icefloe.types import IntegerType, ListType, LongType, MapType, NestedField, StringType, StructType
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

NUMBERS = itertools.count()


def pair(number):
    return StructType(
        NestedField(number, "x", IntegerType(), required=True), NestedField(number + 1, "y", StringType())
    )


SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "name", StringType()),
    NestedField(3, "s", pair(10)),
    NestedField(4, "a", ListType(20, pair(21), element_required=True)),
    NestedField(5, "m", MapType(30, StringType(), 31, pair(32), value_required=True)),
)
VALUES = {
    "s": "named_struct('x', {x}, 'y', 'p')",
    "a": "array(named_struct('x', {x}, 'y', 'q'))",
    "m": "map('k', named_struct('x', {x}, 'y', 'r'))",
}
# A value that Spark takes for one that may be null.
OPTIONAL = "if(rand() < 2, {number}, NULL)"
WITH_NULLS = {
    "s": (VALUES["s"].format(x="CAST(NULL AS int)"), "s.x"),
    "a": (VALUES["a"].format(x="CAST(NULL AS int)"), "a.element.x"),
    "m": (VALUES["m"].format(x="CAST(NULL AS int)"), "m.value.x"),
    "an element": ("array(CAST(NULL AS struct<x: int, y: string>))", "a.element"),
    "a value": ("map('k', CAST(NULL AS struct<x: int, y: string>))", "m.value"),
}


def row(number, x, text=None):
    values = [value.format(x=x) for value in VALUES.values()]
    return ", ".join([f"{number}L", "NULL" if text is None else f"'{text}'", *values])


def source(number, x):
    """Return a query of one row, whose required values may be null as far as Spark knows."""
    values = [f"{value.format(x=OPTIONAL.format(number=x))} AS {name}" for name, value in VALUES.items()]
    return f"(SELECT {number}L AS id, 'n' AS name, {', '.join(values)})"


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def table(catalog, sql, request):
    """The name of a table with the rows 1 and 2, whose values x are 1 and 2."""
    properties = {f"write.{verb}.mode": request.param for verb in ("update", "merge", "delete")}
    made = f"db.required{next(NUMBERS)}"
    catalog.create_table(made, SCHEMA, properties={"format-version": "2", **properties})
    sql(f"INSERT INTO lake.{made} VALUES ({row(1, 1)}), ({row(2, 2)})")
    return f"lake.{made}"


def rows(sql, table):
    return sql(f"SELECT id, name, s.x, s.y, a[0].x, m['k'].x FROM {table} ORDER BY id")


FIRST, SECOND = (1, None, 1, "p", 1, 1), (2, None, 2, "p", 2, 2)


def test_inserts_store_rows_that_may_have_nulls_as_far_as_spark_knows(sql, table):
    sql(f"INSERT INTO {table} SELECT * FROM {source(3, 3)}")
    sql(f"INSERT INTO {table} SELECT id + 3, name, s, a, m FROM {table} WHERE id = 1")
    added = [(3, "n", 3, "p", 3, 3), (4, None, 1, "p", 1, 1)]
    assert rows(sql, table) == [FIRST, SECOND, *added]
    sql(f"INSERT OVERWRITE {table} SELECT * FROM {table} WHERE id < 3")
    assert rows(sql, table) == [FIRST, SECOND]


def test_update_of_another_column_keeps_required_fields(sql, table):
    assert sql(f"UPDATE {table} SET name = 'z' WHERE id = 1") == [(1, 0, 0)]
    assert rows(sql, table) == [(1, "z", 1, "p", 1, 1), SECOND]


def test_update_sets_columns_and_fields_with_required_fields(sql, table):
    sql(f"UPDATE {table} SET s.y = name, s.x = s.x + 4 WHERE id = 1")
    values = (f"{name} = {value.format(x=OPTIONAL.format(number='8L'))}" for name, value in VALUES.items())
    sql(f"UPDATE {table} SET {', '.join(values)} WHERE id = 2")
    assert rows(sql, table) == [(1, None, 5, None, 1, 1), (2, None, 8, "p", 8, 8)]


def test_merge_sets_columns_and_fields_with_required_fields(sql, table):
    sql(
        f"MERGE INTO {table} t USING {source(1, 7)} u ON t.id = u.id "
        "WHEN MATCHED THEN UPDATE SET s.y = u.name, a = u.a, m = u.m "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s = named_struct('x', t.s.x + 1L, 'y', t.name)"
    )
    assert rows(sql, table) == [(1, None, 1, "n", 7, 7), (2, None, 3, None, 2, 2)]
    sql(f"MERGE INTO {table} t USING {source(1, 9)} u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = u.s")
    sql(f"MERGE INTO {table} t USING {source(2, 6)} u ON t.id = u.id WHEN MATCHED THEN UPDATE SET *")
    sql(f"MERGE INTO {table} t USING {source(3, 5)} u ON t.id = u.id WHEN NOT MATCHED THEN INSERT *")
    sql(
        f"MERGE INTO {table} t USING {source(4, 4)} u ON t.id = u.id "
        "WHEN NOT MATCHED THEN INSERT (id, s, a, m) VALUES (u.id, u.s, u.a, u.m)"
    )
    assert rows(sql, table) == [
        (1, None, 9, "p", 7, 7),
        (2, "n", 6, "p", 6, 6),
        (3, "n", 5, "p", 5, 5),
        (4, None, 4, "p", 4, 4),
    ]


def test_verbs_of_python_set_columns_and_fields_with_required_fields(spark, catalog, sql, table):
    handle = catalog.load_table(table.removeprefix("lake."))
    icefloe.spark.update(handle, {"s.y": "name", "m": VALUES["m"].format(x=OPTIONAL.format(number=3))}, "id = 1")
    frame = spark.sql(source(2, 4))
    values = {"s": F.col("source.s"), "a": "source.a", "m": "source.m"}
    merge = icefloe.spark.merge_into(handle, frame, ["id"])
    merge.when_matched_update(values).when_not_matched_insert({"id": "source.id", **values}).execute()
    assert rows(sql, table) == [(1, None, 1, None, 1, 3), (2, None, 4, "p", 4, 4)]


@pytest.mark.parametrize(("value", "column"), WITH_NULLS.values(), ids=WITH_NULLS)
def test_a_null_of_a_required_field_is_refused_by_its_name(sql, table, value, column):
    name = column.split(".", maxsplit=1)[0]
    statements = [
        f"INSERT INTO {table} (id, {name}) SELECT 5, {value}",
        f"UPDATE {table} SET {name} = {value} WHERE id = 1",
    ]
    if name == "s":
        statements += [
            f"INSERT INTO {table} (id, s) VALUES (5, {value})",
            f"MERGE INTO {table} t USING (SELECT 1L AS id) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = {value}",
        ]
    for statement in statements:
        with pytest.raises(SchemaMismatchError, match=rf"column {column}: .*expected values without nulls, got nulls"):
            sql(statement)
    assert rows(sql, table) == [FIRST, SECOND]


def test_a_null_assigned_to_a_required_field_is_refused_by_its_name(sql, table):
    for statement in (
        f"UPDATE {table} SET s.x = NULL WHERE id = 1",
        f"MERGE INTO {table} t USING (SELECT 1L AS id) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s.x = NULL",
    ):
        with pytest.raises(SchemaMismatchError, match=r"column s\.x: .*expected values without nulls, got nulls"):
            sql(statement)
