"""Columns that another writer makes optional after Spark has read their schema: their nulls are rows of later reads."""

from __future__ import annotations

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.spark.types.nullability import nullable
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as T  # noqa: N812  likewise

ITEM = T.StructType([T.StructField("y", T.LongType(), False)])
SCHEMA = T.StructType(
    [
        T.StructField("id", T.LongType(), False),
        T.StructField("s", T.StructType([T.StructField("x", T.LongType(), False)]), False),
        T.StructField("l", T.ArrayType(ITEM, False), False),
        T.StructField("m", T.MapType(T.StringType(), T.LongType(), False), False),
    ]
)
ROW = {"id": 1, "s": {"x": 1}, "l": [{"y": 1}], "m": [("k", 1)]}
NULLS = [
    {"id": None, "s": {"x": None}, "l": [None], "m": [("k", None)]},
    {"id": 2, "s": None, "l": [{"y": None}], "m": None},
]
QUESTIONS = {
    "count(*)": 3,
    "count(id)": 2,
    "count_if(id IS NULL)": 1,
    "sum(coalesce(id, 10))": 13,
    "count_if(s IS NULL)": 1,
    "count_if(s.x IS NULL)": 2,
    "count_if(s IS NOT NULL AND s.x IS NULL)": 1,
    "count_if(exists(l, e -> e IS NULL))": 1,
    "count_if(exists(l, e -> e.y IS NULL))": 2,
    "count_if(m IS NULL)": 1,
    "count_if(m['k'] IS NULL)": 2,
    "count_if(exists(map_values(m), v -> v IS NULL))": 1,
}


def rows(values, schema):
    """Return rows whose columns, fields, elements and values may be null as Arrow data."""
    nested = {"s": pa.struct([("x", pa.int64())]), "l": pa.list_(pa.struct([("y", pa.int64())]))}
    types = {"id": pa.int64(), **nested, "m": pa.map_(pa.string(), pa.int64())}
    return pa.Table.from_pylist(values, pa.schema([(name, types[name]) for name in schema.names]))


def loosen(table):
    """Make every column, field, element and value optional, as another writer, and append nulls."""
    update = table.update_schema()
    for name in ("id", "s", "s.x", "l", "l.element", "l.element.y", "m", "m.value"):
        update.make_column_optional(name)
    update.commit()
    table.append(rows(NULLS, SCHEMA))


@pytest.fixture
def table(new_table):
    made = new_table(SCHEMA)
    made.append(pa.Table.from_pylist([ROW], made.schema().as_arrow()))
    return made


@pytest.fixture(scope="module")
def options(spark, catalog):
    icefloe.spark.register(spark)
    given = {key: catalog.properties[key] for key in ("uri", "warehouse")}
    return {"catalog": "lake", "catalog.type": "sql", **{f"catalog.{key}": value for key, value in given.items()}}


@pytest.fixture(params=["data source", "attached"])
def frame(request, spark, catalog, options, table):
    """Yield rows of the table, whose schema Spark has read and whose files it has not."""
    name = ".".join(table.name())
    if request.param == "data source":
        yield spark.read.format("icefloe").options(**options).load(name)
        return
    lake = icefloe.spark.attach(spark, catalog, "loosened")
    yield spark.table(lake.tables()[name])
    icefloe.spark.detach(spark, "loosened")


def test_rows_of_columns_that_became_optional_are_not_folded_away(spark, table, frame):
    loosen(table)
    assert [row["id"] for row in frame.where("id IS NULL").collect()] == [None]
    found = frame.selectExpr(*(f"{question} AS `{number}`" for number, question in enumerate(QUESTIONS))).first()
    assert dict(zip(QUESTIONS, found, strict=True)) == QUESTIONS
    assert sorted(row["id"] for row in frame.where("id IS NOT NULL").collect()) == [1, 2]
    keys = spark.createDataFrame([(1,), (3,)], "k long")
    assert [row["id"] for row in frame.join(keys, F.col("id") == F.col("k"), "left_anti").orderBy("id").collect()] == [
        None,
        2,
    ]
    assert (
        spark.sql("SELECT k FROM {keys} WHERE k NOT IN (SELECT id FROM {frame})", keys=keys, frame=frame).count() == 0
    )
    outer = keys.join(frame, F.col("id") == F.col("k"), "full_outer")
    assert outer.where("id IS NULL AND k IS NULL").count() == 1


def test_stream_returns_nulls_of_columns_that_became_optional_before_its_start(spark, table, options, tmp_path):
    stream = spark.readStream.format("icefloe").options(**options).load(".".join(table.name()))
    loosen(table)
    chosen = stream.where("id IS NULL OR s IS NULL OR m['k'] IS NULL").select("id")
    found = []
    sink = chosen.writeStream.foreachBatch(lambda batch, _: found.extend(row["id"] for row in batch.collect()))
    sink = sink.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    sink.start().awaitTermination()
    assert sorted(found, key=str) == [2, None]


def test_given_schema_has_not_null_only_where_the_table_requires_values(spark, table, options):
    name = ".".join(table.name())
    load = spark.read.format("icefloe").options(**options).schema
    strict, loose = load(SCHEMA).load(name), load(nullable(SCHEMA)).load(name)
    assert strict.schema == SCHEMA
    assert [one.count() for one in (strict.where("s.x = 1"), loose.where("s.x = 1"))] == [1, 1]
    assert strict.collect() == loose.collect()
    loosen(table)
    with pytest.raises(PySparkException, match=r"column 'id' may be null in the table; .*leave NOT NULL out"):
        load(SCHEMA).load(name).collect()
    partly = T.StructType([T.StructField("id", T.LongType()), SCHEMA["l"], SCHEMA["m"]])
    with pytest.raises(PySparkException, match="column 'l' may be null"):
        load(partly).load(name).collect()
    deep = T.StructType([T.StructField("l", SCHEMA["l"].dataType)])
    with pytest.raises(PySparkException, match=r"column 'l\.element' may be null"):
        load(deep).load(name).collect()


@pytest.mark.parametrize(("column", "value"), [("id", "NULL"), ("l", "array(NULL)")])
def test_insert_of_nulls_for_required_values_is_refused(spark, catalog, table, column, value):
    values = {"id": "7L", "s": "struct(7L)", "l": "array(struct(7L))", "m": "map('k', 7L)", column: value}
    lake = icefloe.spark.attach(spark, catalog, "loosened")
    try:
        with pytest.raises(PySparkException, match=f"SchemaMismatchError: column {column}"):
            spark.sql(f"INSERT INTO {lake.tables()['.'.join(table.name())]} SELECT {', '.join(values.values())}")
    finally:
        icefloe.spark.detach(spark, "loosened")
    assert len(table.refresh().snapshots()) == 1
