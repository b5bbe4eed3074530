"""MERGE of 60,000 updates and 60,000 inserts into lineitem, merge-on-read, each round from the same snapshot."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from peers.case import Case, Work
from peers.spark_session import JVM_WARM_UPS, java_session, plain_session
from peers.tables import raw_lineitem

KEYS = ("l_orderkey", "l_linenumber")


def prepare(data: Path) -> None:
    raw_lineitem(data)


def changes(spark: Any, data: Path) -> Any:
    """About 60,000 line items updated in place and as many of new orders."""
    from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

    rows = spark.read.parquet(str(raw_lineitem(data)))
    touched = rows.where(F.pmod(F.xxhash64("l_orderkey"), F.lit(100)) == 0)
    new = touched.withColumn("l_orderkey", F.col("l_orderkey") + F.lit(1_000_000_000))
    return touched.withColumn("l_comment", F.lit("updated")).unionByName(new)


def staged(spark: Any, data: Path) -> Any:
    folder = str(data / "merge-changes")
    if not Path(folder).exists():
        changes(spark, data).coalesce(2).write.parquet(folder)
    return spark.read.parquet(folder)


class Merge:
    """A merge that can be undone between rounds without being timed."""

    def __init__(self, work: Work, reset: Work) -> None:
        self.work = work
        self.reset = reset

    def __call__(self) -> int:
        return self.work()


def icefloe(data: Path) -> Work:
    import icefloe.spark
    from icefloe.catalog import load_catalog
    from icefloe.spark import schema_from_spark

    spark, folder = plain_session(), data / "spark-merge-icefloe"
    source = staged(spark, data)
    rows = source.count()
    shutil.rmtree(folder, ignore_errors=True)
    catalog = load_catalog("merge", type="hadoop", warehouse=str(folder))
    catalog.create_namespace("db")
    frame = spark.read.parquet(str(raw_lineitem(data)))
    properties = {"write.merge.mode": "merge-on-read"}
    table = catalog.create_table("db.t", schema=schema_from_spark(frame.schema), properties=properties)
    icefloe.spark.write(frame, table)
    start = catalog.load_table("db.t").current_snapshot().snapshot_id

    def work() -> int:
        target = catalog.load_table("db.t")
        merge = icefloe.spark.merge_into(target, source, on=list(KEYS))
        merge.when_matched_update().when_not_matched_insert().execute()
        return rows

    def reset() -> int:
        catalog.load_table("db.t").manage_snapshots().rollback_to_snapshot(start).commit()
        return 0

    return Merge(work, reset)


def java(data: Path) -> Work:
    folder = data / "spark-merge-java"
    shutil.rmtree(folder, ignore_errors=True)
    spark = java_session(data, folder)
    source = staged(spark, data)
    rows = source.count()
    source.createOrReplaceTempView("changes")
    spark.read.parquet(str(raw_lineitem(data))).createOrReplaceTempView("lineitem")
    spark.sql(
        "CREATE TABLE ref.db.t USING iceberg TBLPROPERTIES ('write.merge.mode'='merge-on-read') AS SELECT * FROM lineitem"
    )
    start = spark.sql("SELECT snapshot_id FROM ref.db.t.snapshots").first()[0]
    on = " AND ".join(f"t.{key} = s.{key}" for key in KEYS)

    def work() -> int:
        spark.sql(
            f"MERGE INTO ref.db.t t USING changes s ON {on} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        return rows

    def reset() -> int:
        spark.sql(f"CALL ref.system.rollback_to_snapshot('db.t', {start})")
        return 0

    return Merge(work, reset)


CASES = [
    Case(
        name="spark_merge",
        what="Spark, local[2]: MERGE 60k updates and 60k inserts into lineitem, merge-on-read",
        prepare=prepare,
        warm_ups=JVM_WARM_UPS,
        contenders={"icefloe.spark.merge_into": icefloe, "Java runtime": java},
    )
]
