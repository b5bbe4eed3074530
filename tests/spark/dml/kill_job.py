"""One operation of Spark whose driver kills itself in a phase. Run by ``test_kills.py``, in whose JVM it has a session of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import icefloe.spark
import pyspark.sql
from icefloe.catalog import load_catalog
from icefloe.catalog.sql import SqlCatalog
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

folder, verb, mode, phase = sys.argv[1:]


def session():
    """Return a new session in the running JVM that the environment names; jobs in it outlive this process."""
    gateway = launch_gateway()
    java = gateway.jvm.org.apache.spark
    context = java.api.java.JavaSparkContext.fromSparkContext(java.SparkContext.getOrCreate())
    conf = SparkConf(_jvm=gateway.jvm, _jconf=context.getConf())
    return pyspark.sql.SparkSession(SparkContext(gateway=gateway, jsc=context, conf=conf)).newSession()


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def killing(function, *, before):
    """Return a function whose caller is killed before or after the call."""

    def call(*arguments, **named):
        if not before:
            function(*arguments, **named)
        kill()

    return call


def kill_at_first_file(directory):
    """Kill this process as soon as a task has made a file."""
    before = set(directory.rglob("*.parquet"))
    while set(directory.rglob("*.parquet")) <= before:
        pass
    kill()


spark = session()
frame_class = type(spark.range(1))
if phase == "plan":
    for action in ("collect", "first"):
        setattr(frame_class, action, killing(getattr(frame_class, action), before=True))
elif phase == "tasks":
    data = Path(folder) / "warehouse" / "db" / "t" / "data"
    threading.Thread(target=kill_at_first_file, args=[data], daemon=True).start()
elif phase in {"before", "after"}:
    SqlCatalog.commit_table = killing(SqlCatalog.commit_table, before=phase == "before")

table = load_catalog(
    "lake", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"{folder}/warehouse"
).load_table("db.t")
source = spark.range(90, 110).selectExpr("id", "-1L AS n")
print("ready", flush=True)
if verb == "delete":
    icefloe.spark.delete_from(table, "id % 10 = 3", spark=spark)
elif verb == "update":
    icefloe.spark.update(table, {"n": "n + 1"}, "id % 10 = 3", spark=spark)
elif verb == "merge":
    icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all().when_not_matched_insert_all().execute()
else:
    icefloe.spark.write(source.where("id >= 100") if mode == "append" else source, table, mode)
