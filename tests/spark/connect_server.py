"""A Spark Connect server on a free port, which it prints; it ends with its standard input. Run by ``test_connect.py``."""

from __future__ import annotations

import os
import sys

os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import SparkSession

SETTINGS = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.artifact.isolation.enabled": "true",
    "spark.sql.artifact.isolation.alwaysApplyClassloader": "true",
}

spark = SparkSession.builder.master("local[2]").config(map=SETTINGS).getOrCreate()
service = getattr(spark._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
print(f"port {getattr(service, 'MODULE$').localPort()}", flush=True)
sys.stdin.read()
spark.stop()
