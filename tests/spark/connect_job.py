"""Write, change, merge and read over Spark Connect. Run by ``test_connect.py``: a process has sessions of one kind only."""

from __future__ import annotations

import sys

import icefloe.spark
import pyarrow as pa
from connect_streams import started
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.spark import functions as ice
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql.connect.session import SparkSession as ConnectSession

url, lake = sys.argv[1:]
spark = SparkSession.builder.remote(url).getOrCreate()


def expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise SystemExit(f"{what}: {found} instead of {expected}")


try:
    expect("session", type(spark), ConnectSession)
    catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{lake}.db", warehouse=lake)
    catalog.create_namespace("db")
    rows = spark.range(1000).selectExpr("id", "cast(id % 7 as int) n", "concat('s', id) text")
    modes = {f"write.{command}.mode": "merge-on-read" for command in ("delete", "update", "merge")}
    table = catalog.create_table("db.t", schema=icefloe.spark.schema_from_spark(rows.schema), properties=modes)
    icefloe.spark.write(rows, table, mode="append")
    table = catalog.load_table("db.t")
    expect("rows of a filter", icefloe.spark.read(table, filter="n = 3").count(), 143)

    icefloe.spark.delete_from(table, "n = 2")
    table = catalog.load_table("db.t")
    expect("reader", icefloe.spark.explain_read(table).native, True)
    expect("rows after a delete", icefloe.spark.read(table).count(), 857)

    source = spark.range(990, 1010).selectExpr("id", "cast(99 as int) n", "'new' text")
    merge = icefloe.spark.merge_into(table, source, on=["id"])
    result = merge.when_matched_update_all().when_not_matched_insert_all().execute()
    expect("merge", (result.rows_updated, result.rows_inserted), (9, 11))
    table = catalog.load_table("db.t")
    frame = icefloe.spark.read(table)
    expect("merged rows", frame.filter("n = 99").count(), 20)
    expect("sum of ids", frame.selectExpr("sum(id)").first()[0], sum(table.scan().to_arrow()["id"].to_pylist()))

    # Rows and positions by the Rust reader, in Python workers.
    expect("positions", icefloe.spark.read(table, columns=["id", "_pos"]).filter("_pos is null").count(), 0)
    changes = icefloe.spark.changes(table).groupBy("_change_type").count().collect()
    expect("changes", {row[0]: row[1] for row in changes}, {"INSERT": 1020, "DELETE": 152})

    # The Arrow UDF for text, the built-in expression for longs; both of 34, of which Appendix B gives the hash: 2017239379.
    buckets = spark.range(34, 35).select(
        ice.bucket(100, "id"), ice.bucket(100, F.col("id").cast("string")).alias("text")
    )
    expect("buckets", buckets.selectExpr("`bucket(100, id)`").first()[0], 79)
    expect("buckets of text", buckets.first()["text"], _core.bucket(pa.array(["34"]), 100)[0].as_py())
    icefloe.spark.register(spark)
    options = {
        "catalog": "lake",
        "catalog.type": "sql",
        "catalog.uri": f"sqlite:///{lake}.db",
        "catalog.warehouse": lake,
    }
    expect("format", spark.read.format("icefloe").options(**options).load("db.t").count(), 868)

    copy = catalog.create_table("db.copy", schema=icefloe.spark.schema_from_spark(rows.schema))
    merged = catalog.create_table("db.merged", schema=icefloe.spark.schema_from_spark(rows.schema))
    skipping = {f"streaming-skip-{kind}-snapshots": "true" for kind in ("delete", "overwrite")}
    stream = spark.readStream.format("icefloe").options(**options, **skipping).load("db.t")
    sink = (
        stream.writeStream.format("icefloe").options(**options).option("checkpointLocation", f"{lake}/checkpoints/copy")
    )
    sink.trigger(availableNow=True).start("db.copy").awaitTermination()
    expect("streamed rows", copy.refresh().scan().count(), 1000)
    catalog.drop_table("db.copy")
    copy = catalog.create_table("db.copy", schema=icefloe.spark.schema_from_spark(rows.schema))
    table.append(pa.table({"id": [2000], "n": pa.array([1], pa.int32()), "text": ["late"]}))
    try:
        sink.trigger(availableNow=True).start("db.copy").awaitTermination()
        expect("copy into a table created again", "rows", "an error")
    except StreamingQueryException as error:
        expect("copy into a table created again", "was dropped and created again" in str(error), True)
    expect("rows of the new table", copy.refresh().scan().count(), 0)
    own = sink.option("table-uuid", str(copy.metadata.table_uuid))
    own.trigger(availableNow=True).start("db.copy").awaitTermination()
    expect("rows after the checkpoint", copy.refresh().scan().count(), 1)
    merge = icefloe.spark.stream.merge_batches(merged, ["id"], query_id="merged")
    sink = stream.writeStream.foreachBatch(merge).option("checkpointLocation", f"{lake}/checkpoints/merged")
    started(sink.trigger(availableNow=True)).awaitTermination()
    expect("merged micro-batches", merged.refresh().scan().count(), 1001)

    icefloe.spark.attach(spark, catalog)
    icefloe.spark.sql(spark, "CREATE TABLE lake.db.s (id bigint, name string)")
    icefloe.spark.sql(spark, "INSERT INTO lake.db.s VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    source = "(SELECT 2L AS id, 'q' AS name) s ON t.id = s.id"
    icefloe.spark.sql(spark, f"MERGE INTO lake.db.s t USING {source} WHEN MATCHED THEN UPDATE SET *")
    icefloe.spark.sql(spark, "DELETE FROM lake.db.s WHERE id = (SELECT max(id) FROM lake.db.s)")
    kept = icefloe.spark.sql(spark, "SELECT name FROM lake.db.s WHERE id > :least ORDER BY id", {"least": 0}).collect()
    expect("rows of statements", [row["name"] for row in kept], ["a", "q"])
    expect("plain rows", spark.sql("SELECT * FROM lake_db.s").count(), 2)
    snapshots = spark.sql("SELECT * FROM lake_metadata('db.s', 'snapshots')").count()
    expect("metadata table", snapshots, 3)
    icefloe.spark.detach(spark)
    print("connected")
finally:
    spark.stop()
