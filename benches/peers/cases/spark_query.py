"""Queries of lineitem in Spark SQL: an aggregate, a count, and a filter that few rows pass; clean, and after position deletes."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from peers.case import Case, Work
from peers.cases.spark_scan import DELETED, deleted_table
from peers.spark_session import JVM_WARM_UPS, java_session, plain_session
from peers.tables import NAMESPACE, catalog, lineitem_table

AGGREGATE = """
    SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS price,
        sum(l_extendedprice * (1 - l_discount)) AS discounted, avg(l_discount) AS discount, count(*) AS orders
    FROM {table} WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus
"""
COUNT = "SELECT count(*) AS rows FROM {table}"
FILTER = """
    SELECT l_orderkey, l_linenumber, l_shipdate, l_extendedprice FROM {table}
    WHERE l_shipdate BETWEEN DATE '1995-03-01' AND DATE '1995-03-31' AND l_discount > 0.05
"""
PRUNED = "SELECT * FROM {table} WHERE l_orderkey BETWEEN 300000 AND 301000"


def prepare(data: Path) -> None:
    lineitem_table(data)


def prepare_deleted(data: Path) -> None:
    lineitem_table(data)
    deleted_table(data)


@functools.cache
def attached_session(data: Path) -> Any:
    import icefloe.spark

    spark = plain_session()
    icefloe.spark.attach(spark, catalog(data), name="lake")
    return spark


def icefloe(name: str, query: str):
    def setup(data: Path) -> Work:
        import icefloe.spark

        spark = attached_session(data)
        text = query.format(table=f"lake.{NAMESPACE}.{name}")
        return lambda: icefloe.spark.sql(spark, text).toArrow()

    return setup


def java(name: str, query: str):
    def setup(data: Path) -> Work:
        spark = java_session(data)
        text = query.format(table=f"ref.{NAMESPACE}.{name}")
        return lambda: spark.sql(text).toArrow()

    return setup


def parquet(name: str, query: str):
    def setup(data: Path) -> Work:
        from peers.tables import data_files

        spark = plain_session()
        files = [file for file in data_files(data / "warehouse" / NAMESPACE / name) if "deletes" not in file]

        def work() -> object:
            spark.read.parquet(*files).createOrReplaceTempView("lineitem")
            return spark.sql(query.format(table="lineitem")).toArrow()

        return work

    return setup


CASES = [
    Case(
        name=f"spark_{kind}{suffix}",
        what=f"Spark SQL, local[2]: {what}",
        prepare=prepare_deleted if name == DELETED else prepare,
        warm_ups=JVM_WARM_UPS,
        contenders={
            "icefloe": icefloe(name, query),
            "Java runtime": java(name, query),
            "plain Spark": parquet(name, query),
        },
        floors=frozenset({"plain Spark"}),
    )
    for kind, what, query in (
        ("aggregate", "aggregate lineitem into four groups", AGGREGATE),
        ("count", "count lineitem", COUNT),
        ("filter", "four columns of a month of lineitem", FILTER),
        ("pruned", "all columns of 1,000 orders of lineitem", PRUNED),
    )
    for name, suffix in (("lineitem", ""), (DELETED, "_deletes"))
]
