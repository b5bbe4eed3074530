"""Statements of ``icefloe.spark.sql`` over Spark Connect. Run by ``test_connect.py``: a process has sessions of one kind only."""

from __future__ import annotations

import sys
from collections.abc import Callable

import icefloe.spark
from connect_streams import started
from icefloe.catalog import load_catalog
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

url, lake = sys.argv[1:]
spark = SparkSession.builder.remote(url).getOrCreate()
catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{lake}.db", warehouse=lake)
catalog.create_namespace("db")
icefloe.spark.attach(spark, catalog, views=False)


def sql(text: str, args: dict[str, object] | None = None) -> list[tuple[object, ...]]:
    return [tuple(row) for row in icefloe.spark.sql(spark, text, args).collect()]


def expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise SystemExit(f"{what}: {found} instead of {expected}")


sql("CREATE TABLE lake.db.t (id bigint, name string) DEFAULT COLLATION utf8_lcase")
sql("CREATE TABLE lake.db.u (id bigint)")
sql("FROM VALUES (1L, 'a'), (2L, 'b') v(i, n) INSERT INTO lake.db.t SELECT i, n INSERT INTO lake.db.u SELECT i")
expect("rows of the second INSERT", sql("SELECT sum(id) FROM lake.db.u"), [(3,)])
merge = "MERGE WITH SCHEMA EVOLUTION INTO lake.db.t t USING (SELECT 2L id, 'c' name, 5 more) s ON t.id = s.id"
expect("merged rows", sql(f"{merge} WHEN MATCHED THEN UPDATE SET *"), [(1, 0, 0)])
expect("evolved row", sql("SELECT * FROM lake.db.t WHERE id = 2"), [(2, "c", 5)])

expect("format", dict(sql("SHOW TBLPROPERTIES lake.db.t"))["format"], "iceberg/parquet")
expect("extended", sql("SHOW TABLE EXTENDED IN lake.db LIKE 't'")[0][:3], ("db", "t", False))
expect("views", sql("SHOW VIEWS IN lake.db"), [])
facts = {row[0]: row[1] for row in sql("DESCRIBE TABLE EXTENDED lake.db.t")}
expect("owner", facts["Owner"], sql("SELECT current_user()")[0][0])
expect("collation", facts["Collation"], "UTF8_LCASE")
expect(
    "identifier", sql("SELECT IDENTIFIER('na' || 'me') FROM IDENTIFIER(:t) WHERE id = 1", {"t": "lake.db.t"}), [("a",)]
)
immediate = "EXECUTE IMMEDIATE 'SELECT name FROM lake.db.t WHERE id = ?' USING 2"
expect("immediate", sql(immediate), [("c",)])
sql("CACHE TABLE kept AS SELECT id FROM lake.db.t")
sql("CACHE TABLE lake.db.t")
sql("INSERT INTO lake.db.t VALUES (3, 'd', NULL)")
expect("cached rows", sql("SELECT count(*), max(id) FROM lake.db.t"), [(3, 3)])
expect("rows of the view", spark.sql("SELECT count(*) FROM kept").first()[0], 2)
sql("UNCACHE TABLE lake.db.t")

sql("USE lake.db")
expect("current", sql("SELECT current_catalog(), current_schema()"), [("lake", "db")])
expect(
    "current of Spark",
    tuple(spark.sql("SELECT current_catalog(), current_schema()").first()),
    ("spark_catalog", "default"),
)
expect("relative names", sql("SELECT t.name FROM t JOIN db.u ON t.id = u.id ORDER BY t.id"), [("a",), ("c",)])
expect("view before table", sql("SELECT count(*) FROM kept"), [(2,)])
expect("functions", sql("SHOW USER FUNCTIONS IN system LIKE 'y*'"), [("lake.system.years",)])
values = "lake.system.bucket(16, id), lake.system.bucket(16, 'iceberg'), system.truncate(10, id + 30), system.truncate(1, name)"
expect("transforms", sql(f"SELECT {values} FROM t WHERE id = 2"), [(4, 9, 30, "c")])
exists = "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM range(1) r WHERE system.truncate(1, concat(t.name, r.id)) = 'd')"
expect("types of outer columns", sql(exists), [(3,)])
expect("deleted", sql("DELETE FROM t WHERE lake.system.bucket(16, name) = lake.system.bucket(16, 'd')"), [(0, 1, 0)])
expect("no views", sql("DROP VIEW IF EXISTS v"), [])
sql("USE spark_catalog.default")

sql("CREATE TABLE lake.db.people (id bigint, name string)")
spark.createDataFrame([(1, "x"), (9, "y")], "id long, name string").write.parquet(f"{lake}-arrivals")
stream = spark.readStream.schema("id long, name string").parquet(f"{lake}-arrivals")
upsert = "MERGE INTO lake.db.people t USING arrived s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
properties = dict(catalog.properties)


def run(function: Callable[[DataFrame, int], None], checkpoint: str) -> None:
    sink = stream.writeStream.foreachBatch(function).option("checkpointLocation", f"{lake}-{checkpoint}")
    started(sink.trigger(availableNow=True)).awaitTermination()


def merge(rows: DataFrame, _: int) -> None:
    rows.createOrReplaceTempView("arrived")
    icefloe.spark.sql(rows.sparkSession, upsert)


def merge_into_loaded_catalog(rows: DataFrame, number: int) -> None:
    icefloe.spark.attach(rows.sparkSession, load_catalog("lake", **properties), views=False)
    try:
        merge(rows, number)
    finally:
        icefloe.spark.detach(rows.sparkSession)


try:
    run(merge, "without")
    expect("foreachBatch without a catalog", "rows", "an error")
except StreamingQueryException as error:
    expect("advice", "load the catalog in the function, and call icefloe.spark.attach" in str(error), True)
run(merge_into_loaded_catalog, "loaded")
expect("merged micro-batch", sql("SELECT * FROM lake.db.people ORDER BY id"), [(1, "x"), (9, "y")])
icefloe.spark.detach(spark)
print("connected")
spark.stop()
