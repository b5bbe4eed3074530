"""Write, merge and read on separate executors with the package from an archive. Run by ``test_failures.py``."""

from __future__ import annotations

import os
import sys

package, wheel, lake = sys.argv[1:]
sys.path.insert(0, package)
os.environ["PYSPARK_PYTHON"] = sys.executable

import icefloe.spark  # noqa: E402
import pyarrow as pa  # noqa: E402
from icefloe.catalog import load_catalog  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402, N812


def where(batches):
    import icefloe

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"path": [icefloe.__file__]})


builder = SparkSession.builder.master("local-cluster[2,1,2048]").config("spark.ui.enabled", "false")
builder = builder.config("spark.archives", f"{wheel}#icefloe_wheel").config(
    "spark.executorEnv.PYTHONPATH", "./icefloe_wheel"
)
builder = builder.config("spark.executor.memory", "1g").config("spark.sql.shuffle.partitions", "4")
spark = builder.getOrCreate()
try:
    paths = {row["path"] for row in spark.range(4).mapInArrow(where, "path string").collect()}
    if not all("icefloe_wheel" in path for path in paths):
        raise SystemExit(f"executors use {paths}")
    catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{lake}.db", warehouse=lake)
    catalog.create_namespace("db")
    rows = spark.range(1000).select("id", (F.col("id") % 7).cast("int").alias("n"))
    table = catalog.create_table(
        "db.t", schema=icefloe.spark.schema_from_spark(rows.schema), properties={"write.merge.mode": "merge-on-read"}
    )
    icefloe.spark.write(rows, table)
    source = spark.range(970, 1000).select("id", F.lit(-1).alias("n"))
    merged = icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all().execute()
    read = icefloe.spark.read(table, spark=spark)
    if read.where("n = -1").count() != 30:
        raise SystemExit("the merge is not there")
    print(f"read {read.count()} rows, merged {merged.rows_updated}")
finally:
    spark.stop()
