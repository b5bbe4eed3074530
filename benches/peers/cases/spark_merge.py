"""MERGE of 60,000 updates and 60,000 inserts into lineitem in both modes, each round from the same snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peers.case import Case
from peers.spark_session import JVM_WARM_UPS
from peers.spark_tables import MODES, NAME, ChangedTable, icefloe_change, java_change, lineitem
from peers.tables import raw_lineitem

KEYS = ("l_orderkey", "l_linenumber")


def prepare(data: Path) -> None:
    raw_lineitem(data)


def changes(spark: Any, data: Path) -> Any:
    """About 60,000 line items updated in place and as many of new orders."""
    from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

    touched = lineitem(spark, data).where(F.pmod(F.xxhash64("l_orderkey"), F.lit(100)) == 0)
    new = touched.withColumn("l_orderkey", F.col("l_orderkey") + F.lit(1_000_000_000))
    return touched.withColumn("l_comment", F.lit("updated")).unionByName(new)


def staged(spark: Any, data: Path) -> Any:
    folder = str(data / "merge-changes")
    if not Path(folder).exists():
        changes(spark, data).coalesce(2).write.parquet(folder)
    return spark.read.parquet(folder)


def icefloe(mode: str):
    def setup(data: Path) -> ChangedTable:
        import icefloe.spark

        def change(spark: Any, table: Any) -> int:
            merge = icefloe.spark.merge_into(table, staged(spark, data), on=list(KEYS))
            merged = merge.when_matched_update().when_not_matched_insert().execute()
            return merged.rows_updated + merged.rows_inserted

        return icefloe_change(data, {"write.merge.mode": mode}, change)

    return setup


def java(mode: str):
    on = " AND ".join(f"t.{key} = s.{key}" for key in KEYS)

    def setup(data: Path) -> ChangedTable:
        counted: list[int] = []

        def change(spark: Any) -> int:
            staged(spark, data).createOrReplaceTempView("changes")
            if not counted:
                counted.append(spark.table("changes").count())
            spark.sql(
                f"MERGE INTO {NAME} t USING changes s ON {on} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
            )
            return counted[0]

        return java_change(data, {"write.merge.mode": mode}, change)

    return setup


CASES = [
    Case(
        name="spark_merge" if mode == "merge-on-read" else "spark_merge_cow",
        what=f"Spark, local[2]: MERGE 60k updates and 60k inserts into lineitem, {mode}",
        prepare=prepare,
        warm_ups=JVM_WARM_UPS,
        contenders={"icefloe": icefloe(mode), "Java runtime": java(mode)},
        rounds=5,
    )
    for mode in reversed(MODES)
]
