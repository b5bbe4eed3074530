"""Queries with conditions on transforms: the data files that the Java reference and icefloe plan, and the numbers of rows."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import icefloe.spark
from icefloe.catalog import load_catalog
from pyspark.sql import DataFrame, SparkSession

NAMESPACE = "pruned"
COLUMNS = "id BIGINT, s STRING, ts TIMESTAMP, tn TIMESTAMP_NTZ, d DATE, n INT, dc DECIMAL(9, 2), b BINARY"
_DAYS = "CAST(id * 23 AS INT)"
ROWS = f"""SELECT CAST(id AS BIGINT), IF(id % 13 = 0, NULL, CONCAT(SUBSTRING('abcdefgh', 1 + id % 4, 3), id)),
    IF(id = 5, NULL, TIMESTAMP '1969-06-01 00:00:00' + MAKE_INTERVAL(0, 0, 0, {_DAYS}, CAST(id AS INT))),
    TIMESTAMP_NTZ '1969-06-01 00:00:00' + MAKE_INTERVAL(0, 0, 0, {_DAYS}, CAST(id AS INT)), DATE '1969-06-01' + {_DAYS},
    CAST(id * 7 - 100 AS INT), CAST(id * 1.75 - 30 AS DECIMAL(9, 2)), CAST(CONCAT('b', id) AS BINARY) FROM RANGE(0, 40, 1, 1)"""
_YEARS = [f"years({{}}) {one}" for one in ("= 0", "= -1", "> 0", ">= 0", "IN (-1, 1)", "< 0", "<= 0", "= 9")]
_DATES = ["= DATE '1970-02-09'", "= '1970-02-09'", "> DATE '1971-02-02'", "IN (DATE '1970-02-09', DATE '1970-05-12')"]
_DATES += ["BETWEEN DATE '1970-01-01' AND DATE '1970-06-01'", "< DATE '1969-12-31'", "IS NULL"]
_BUCKETS = ["= 3", "IN (1, 2)", "<> 3", "> 1", "BETWEEN 1 AND 2", "NOT IN (1, 2)", "= 9", "= 3L", "= 3.0", "<=> 3"]
SPECS = {
    "bucket(4, id)": [
        *[f"bucket(4, id) {one}" for one in (*_BUCKETS, "IS NULL", "= 3 OR id = 5")],
        *("bucket(8, id) = 3", "bucket(2, id) = 1", "years(ts) = 0", "bucket(4, id) = 3 AND years(ts) = 0"),
    ],
    "bucket(4, s)": [f"bucket(4, s) {one}" for one in ("= 1", "IN (0, 2)", "IS NULL", "IS NOT NULL")],
    "years(ts)": [one.format("ts") for one in _YEARS],
    "months(ts)": [
        *[one.format("ts") for one in _YEARS],
        *("months(ts) = 3", "months(ts) < 0", "days(ts) = DATE '1970-02-09'", "days(ts) = DATE '1970-02-02'"),
    ],
    "days(ts)": [*[one.format("ts") for one in _YEARS], *[f"days(ts) {one}" for one in _DATES], "months(ts) = 3"],
    "hours(ts)": [
        *[one.format("ts") for one in _YEARS],
        *("hours(ts) = 947", "hours(ts) = 20", "hours(ts) > 5000", "hours(ts) <= 955", "days(ts) = DATE '1970-02-09'"),
    ],
    "years(tn)": [one.format("tn") for one in _YEARS],
    "days(d)": [*[one.format("d") for one in _YEARS], *[f"days(d) {one}" for one in _DATES], "months(d) = 3"],
    "months(d)": ["months(d) = 3", "years(d) = 0", "days(d) = DATE '1970-02-09'"],
    "truncate(2, s)": [
        *[f"truncate(2, s) {one}" for one in ("= 'bc'", "IN ('ab', 'cd')", "> 'bc'", "< 'bc'", ">= 'cd'", "IS NULL")],
        *("truncate(1, s) = 'b'", "truncate(4, s) = 'bcd1'"),
    ],
    "truncate(50, n)": [
        *[f"truncate(50, n) {one}" for one in ("= 50", "< 0", ">= 50", "IN (0, -50)", "= 50L", "= 51")],
        *("truncate(10, n) = 40", "truncate(100, n) = 0"),
    ],
    "truncate(100, dc)": [f"truncate(100, dc) {one}" for one in ("= 5.00", "< 0", "> 5.5")],
    "truncate(2, b)": [f"truncate(2, b) {one}" for one in ("= X'6231'", "IN (X'6231', X'6232')")],
    "": ["bucket(4, id) = 3", "years(ts) = 5", "years(ts) = 0", "truncate(10, n) = 100000", "truncate(10, n) > 1000"],
    "years(ts), then days(ts)": [
        *[one.format("ts") for one in _YEARS],
        *("days(ts) = DATE '1970-02-09'", "months(ts) = 3", "years(ts) = 0 AND id > 20"),
    ],
}
"""Partitioning of each table, and the conditions on it."""


def plan_queries(spark: SparkSession, catalog: str, folder: Path) -> list[dict[str, Any]]:
    """Return each condition with the number of planned files and of rows, of Java and of icefloe."""
    session = spark.newSession()
    ours = load_catalog("ours", type="hadoop", warehouse=str(folder / "warehouse"))
    icefloe.spark.attach(session, ours, "lake", views=False)
    noted = []
    for number, (spec, conditions) in enumerate(SPECS.items()):
        name = f"{NAMESPACE}.t{number}"
        write(spark, f"{catalog}.{name}", spec)
        for condition in conditions:
            java = java_plan(spark.sql(f"SELECT * FROM {catalog}.{name} WHERE {qualified(condition, catalog)}"))
            own = own_plan(session, f"SELECT * FROM lake.{name} WHERE {qualified(condition, 'lake')}")
            noted.append({"spec": spec, "condition": condition, "java": java, "icefloe": own})
    icefloe.spark.detach(session, "lake")
    return noted


def write(spark: SparkSession, name: str, spec: str) -> None:
    """Write the rows into a table, again for each further spec of its partitions."""
    first, *others = spec.split(", then ")
    partitioned = f"PARTITIONED BY ({first})" if first else ""
    properties = "'write.distribution-mode' = 'none', 'write.spark.fanout.enabled' = 'true'"
    spark.sql(f"CREATE TABLE {name} ({COLUMNS}) USING iceberg {partitioned} TBLPROPERTIES ({properties})")
    spark.sql(f"INSERT INTO {name} {ROWS}")
    for one in others:
        spark.sql(f"ALTER TABLE {name} DROP PARTITION FIELD {first}")
        spark.sql(f"ALTER TABLE {name} ADD PARTITION FIELD {one}")
        spark.sql(f"INSERT INTO {name} {ROWS}")


def qualified(condition: str, catalog: str) -> str:
    return re.sub(r"(years|months|days|hours|bucket|truncate)\(", rf"{catalog}.system.\1(", condition)


def java_plan(frame: DataFrame) -> list[int]:
    """Return the number of data files in the result of Java's planning, and of rows."""
    rows = len(frame.collect())
    scans = [
        one for one in nodes(frame._jdf.queryExecution().executedPlan()) if one.metrics().contains("resultDataFiles")
    ]
    return [scans[0].metrics().apply("resultDataFiles").value(), rows]


def nodes(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children().iterator()
    while children.hasNext():
        yield from nodes(children.next())


def own_plan(session: SparkSession, query: str) -> list[int]:
    """Return the number of data files that icefloe plans, and of rows."""
    messages: list[str] = []
    handler, thread = logging.Handler(), threading.get_ident()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    handler.addFilter(lambda record: record.thread == thread)
    logger = logging.getLogger("icefloe.spark")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        rows = len(icefloe.spark.sql(session, query).collect())
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    found = next(match for match in map(re.compile(r": (\d+) data files").search, messages) if match is not None)
    return [int(found[1]), rows]
