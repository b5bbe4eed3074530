"""Spark sessions: one for icefloe and plain Parquet, one with the Java runtime on its class path."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
# Until the JVM has compiled what Spark runs most.
JVM_WARM_UPS = 5
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


def runtime_jar(data: Path) -> Path:
    """The Java runtime from Maven Central, fetched once."""
    folder = data.parent / "jars"
    found = sorted(folder.glob("iceberg-spark-runtime-*.jar"))
    if not found:
        if shutil.which("mvn") is None:
            raise RuntimeError("the Java runtime is fetched with Maven: install mvn, or leave this contender out")
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={RUNTIME}", f"-DoutputDirectory={folder}"], check=True
        )
        found = sorted(folder.glob("iceberg-spark-runtime-*.jar"))
    return found[0]


def plain_session() -> Any:
    from pyspark.sql import SparkSession

    return configured(SparkSession.builder).getOrCreate()


def java_session(data: Path) -> Any:
    """A session whose catalog `ref` is the Java runtime's over the warehouse of the data directory."""
    from pyspark.sql import SparkSession

    builder = (
        configured(SparkSession.builder)
        .config("spark.jars", str(runtime_jar(data)))
        .config("spark.sql.extensions", EXTENSIONS)
        .config("spark.sql.catalog.ref", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.ref.type", "hadoop")
        .config("spark.sql.catalog.ref.warehouse", str(data / "warehouse"))
    )
    return builder.getOrCreate()


def configured(builder: Any) -> Any:
    return (
        builder.master("local[2]")
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.parquet.compression.codec", "zstd")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "ERROR")
    )


def to_noop(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()
