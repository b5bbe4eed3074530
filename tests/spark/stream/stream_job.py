"""Two queries over one table, copies and merged counts. Run by ``test_kills.py``, which kills it; with ``finish`` it reads all rows and ends."""

from __future__ import annotations

import os
import sys

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import icefloe.spark
from icefloe.catalog import load_catalog
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

folder, mode = sys.argv[1:]
settings = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "1",
    "spark.local.dir": f"{folder}/spark",
}
builder = SparkSession.builder.master("local[2,4]").appName("killed")
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
icefloe.spark.register(spark)

properties = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"{folder}/warehouse"}
options = {"catalog": "lake", **{f"catalog.{key}": value for key, value in properties.items()}}
counts = load_catalog("lake", **properties).load_table("db.counts")
add = icefloe.spark.stream.merge_batches(
    counts,
    ["kind"],
    lambda merge: merge.when_matched_update({"n": "target.n + source.n"}).when_not_matched_insert_all(),
)
stream = spark.readStream.format("icefloe").options(**options).load("db.source")


def started(writer, name):
    writer = writer.option("checkpointLocation", f"{folder}/checkpoints/{name}")
    return writer.trigger(availableNow=True) if mode == "finish" else writer.trigger(processingTime="0 seconds")


def start():
    """Start both queries."""
    copies = started(stream.writeStream.format("icefloe").options(**options), "copies").start("db.copies")
    merges = stream.writeStream.foreachBatch(
        lambda rows, batch_id: add(rows.groupBy("kind").agg(F.count("*").alias("n")), batch_id)
    )
    return copies, started(merges, "counts").start()


queries = start()
print("ready", flush=True)
if mode == "finish":
    # Before Spark 4.2 the first run only repeats the micro-batch that was killed.
    for query in queries:
        query.awaitTermination()
    for query in start():
        query.awaitTermination()
else:
    spark.streams.awaitAnyTermination()
