"""The queries, the change set, and what the table must hold afterwards, all of it as Spark runs it on the raw Parquet files."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

KEYS = ("l_orderkey", "l_linenumber")
Q6_FILTER = "l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01'"
NEW_ORDERS_START = 10_000_000_000

Q1 = """
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
       avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price, avg(l_discount) AS avg_disc, count(*) AS count_order
FROM {lineitem} WHERE l_shipdate <= date'1998-12-01' - interval '90' day
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus
"""
Q6 = """
SELECT sum(l_extendedprice * l_discount) AS revenue FROM {lineitem}
WHERE l_shipdate >= date'1994-01-01' AND l_shipdate < date'1995-01-01'
  AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24
"""
Q1_COLUMNS = (
    "l_returnflag", "l_linestatus", "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_shipdate",
)  # fmt: skip
Q6_COLUMNS = ("l_extendedprice", "l_discount", "l_quantity", "l_shipdate")


def answers(query: str, frame: Any) -> list[tuple[Any, ...]]:
    """Run a query on a frame and return its rows."""
    return [tuple(row) for row in frame.sparkSession.sql(query, lineitem=frame).collect()]


def changes(raw: Any) -> Any:
    """Return the change set: 0.1% of the orders to delete, 1% to update, and as many new ones; ``op`` says which.

    Which order gets what depends on a hash of its key alone, so every run makes the same changes.
    """
    bucket = F.pmod(F.xxhash64("l_orderkey"), F.lit(1000))
    deleted = raw.where(bucket == 0).withColumn("op", F.lit("D"))
    updated = raw.where((bucket >= 100) & (bucket < 110)).withColumn("op", F.lit("U"))
    updated = updated.withColumn("l_quantity", (F.col("l_quantity") + 1).cast("decimal(15,2)"))
    updated = updated.withColumn("l_comment", F.concat(F.lit("updated: "), F.col("l_comment")))
    inserted = raw.where((bucket >= 200) & (bucket < 210)).withColumn("op", F.lit("I"))
    inserted = inserted.withColumn("l_orderkey", F.col("l_orderkey") + F.lit(NEW_ORDERS_START))
    return deleted.unionByName(updated).unionByName(inserted)


def expected_after(raw: Any, change_set: Any) -> Any:
    """Return what the table must hold after the merge, by plain Spark joins."""
    touched = change_set.where("op != 'I'").select(*KEYS)
    kept = raw.join(touched, list(KEYS), "left_anti").select(*raw.columns)
    return kept.unionByName(change_set.where("op != 'D'").select(*raw.columns))
