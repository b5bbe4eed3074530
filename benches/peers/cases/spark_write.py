"""Writing lineitem from Spark: unpartitioned, and clustered by month of shipping."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from peers.case import Case, Work
from peers.spark_session import JVM_WARM_UPS, java_session, plain_session
from peers.tables import raw_lineitem


def prepare(data: Path) -> None:
    raw_lineitem(data)


def source(spark: Any, data: Path) -> Any:
    return spark.read.parquet(str(raw_lineitem(data)))


def icefloe(*, monthly: bool):
    def setup(data: Path) -> Work:
        import icefloe.spark
        from icefloe.catalog import load_catalog
        from icefloe.partitioning import PartitionField, PartitionSpec
        from icefloe.spark import schema_from_spark
        from icefloe.transforms import MonthTransform

        spark = plain_session()
        folder = data / f"spark-write-icefloe-{monthly}"
        rows = source(spark, data).count()
        frame = source(spark, data)
        schema = schema_from_spark(frame.schema)
        month = PartitionField(schema.find_field("l_shipdate").field_id, 1000, MonthTransform(), "l_shipdate_month")

        def work() -> int:
            shutil.rmtree(folder, ignore_errors=True)
            catalog = load_catalog("write", type="hadoop", warehouse=str(folder))
            catalog.create_namespace("db")
            spec = PartitionSpec(month) if monthly else PartitionSpec()
            icefloe.spark.write(frame, catalog.create_table("db.t", schema=schema, partition_spec=spec))
            return rows

        return work

    return setup


def parquet(*, monthly: bool):
    def setup(data: Path) -> Work:
        from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

        spark = plain_session()
        folder = str(data / f"spark-write-parquet-{monthly}")
        rows = source(spark, data).count()

        def work() -> int:
            frame = source(spark, data)
            if monthly:
                frame = frame.withColumn("month", F.date_format("l_shipdate", "yyyy-MM"))
                frame.repartition("month").write.partitionBy("month").mode("overwrite").parquet(folder)
            else:
                frame.write.mode("overwrite").parquet(folder)
            return rows

        return work

    return setup


def java(*, monthly: bool):
    def setup(data: Path) -> Work:
        spark = java_session(data)
        rows = source(spark, data).count()
        partitioned = "PARTITIONED BY (months(l_shipdate))" if monthly else ""
        columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in source(spark, data).schema)

        def work() -> int:
            spark.sql("DROP TABLE IF EXISTS ref.written.t PURGE")
            spark.sql(f"CREATE TABLE ref.written.t ({columns}) USING iceberg {partitioned}")
            source(spark, data).writeTo("ref.written.t").append()
            return rows

        return work

    return setup


CASES = [
    Case(
        name=name,
        what=what,
        prepare=prepare,
        warm_ups=JVM_WARM_UPS,
        contenders={
            "icefloe": icefloe(monthly=monthly),
            "plain Spark": parquet(monthly=monthly),
            "Java runtime": java(monthly=monthly),
        },
        rounds=3,
    )
    for name, what, monthly in (
        ("spark_write", "Spark, local[2]: write lineitem unpartitioned, zstd", False),
        ("spark_write_monthly", "the same into 84 months of l_shipdate", True),
    )
]
