"""One DELETE, UPDATE or MERGE whose driver kills itself in a phase. Run by ``test_kills.py``."""

from __future__ import annotations

import os
import signal
import sys

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import icefloe.spark
from icefloe.catalog import load_catalog
from icefloe.catalog.sql import SqlCatalog
from icefloe.spark.dml import row_changes
from pyspark.sql import SparkSession

folder, verb, phase = sys.argv[1:]
settings = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "2",
    "spark.local.dir": f"{folder}/spark",
}
builder = SparkSession.builder.master("local[2]").appName("killed")
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()


def killing(function, *, before):
    """Return a function whose caller is killed before or after the call."""

    def call(*arguments, **named):
        if not before:
            function(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return call


if phase == "staging":  # the files of the tasks are written, and the driver has heard of none
    row_changes._run = killing(row_changes._run, before=False)
else:
    SqlCatalog.commit_table = killing(SqlCatalog.commit_table, before=phase == "before")

table = load_catalog(
    "lake", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"{folder}/warehouse"
).load_table("db.t")
print("ready", flush=True)
if verb == "delete":
    icefloe.spark.delete_from(table, "id % 10 = 3", spark=spark)
elif verb == "update":
    icefloe.spark.update(table, {"n": "n + 1"}, "id % 10 = 3", spark=spark)
else:
    source = spark.range(90, 110).selectExpr("id", "-1L AS n")
    icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all().when_not_matched_insert_all().execute()
