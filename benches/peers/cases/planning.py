"""Planning scans: 100,000 data files in ten manifests, 10,000 in a thousand, and a million in a hundred."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from peers.case import Case, Work
from peers.metadata_only import (
    MILLION_FILES,
    ROWS_PER_FILE,
    TEN_MANIFESTS,
    THOUSAND_MANIFESTS,
    Layout,
    metadata_only_table,
)
from peers.spark_session import JVM_WARM_UPS, java_session
from peers.tables import metadata_file

FROM_DAY, TO_DAY = "2022-06-01", "2022-07-01"
JAVA = "Java planFiles"


def first_id(layout: Layout) -> int:
    """The id that a tenth of the files lie below."""
    return layout.files * ROWS_PER_FILE // 10


def text_filter(layout: Layout) -> str:
    return f"day >= '{FROM_DAY}' and day < '{TO_DAY}' and id > {first_id(layout)}"


def prepare(layout: Layout):
    def made(data: Path) -> None:
        metadata_only_table(data, layout)

    return made


def location(data: Path, layout: Layout) -> str:
    return metadata_file(metadata_only_table(data, layout))


def by_objects(package: str, layout: Layout, *, filtered: bool):
    """An object for each file; the packages have the same names."""

    def setup(data: Path) -> Work:
        tables = importlib.import_module(f"{package}.table")
        path = location(data, layout)

        def work() -> int:
            table = tables.StaticTable.from_metadata(path)
            scan = table.scan(text_filter(layout)) if filtered else table.scan()
            return sum(1 for _ in scan.plan_files())

        return work

    return setup


def icefloe_columns(layout: Layout, *, filtered: bool, cached: bool = True):
    def setup(data: Path) -> Work:
        from icefloe.table import StaticTable

        path, properties = location(data, layout), {} if cached else {"io.manifest.cache-enabled": "false"}

        def work() -> int:
            table = StaticTable.from_metadata(path, properties)
            scan = table.scan(text_filter(layout)) if filtered else table.scan()
            return scan.plan().files.num_rows

        return work

    return setup


def polars(layout: Layout, *, filtered: bool, cached: bool = True):
    """Polars with its planning plugin, which it must not do without; it keeps what it read of metadata unless an option forbids it."""

    def setup(data: Path) -> Work:
        import datetime as dt

        import polars as pl
        import pyiceberg.table  # noqa: F401  Polars imports it with the first scan, which is to start with it

        os.environ["POLARS_ICEBERG_PLANNER"] = "plugin"
        if not cached:
            os.environ["POLARS_ICEBERG_METADATA_FILE_CACHE_MB"] = "0"
        path, day = location(data, layout), pl.col("day")
        row_filter = (
            (day >= dt.date.fromisoformat(FROM_DAY))
            & (day < dt.date.fromisoformat(TO_DAY))
            & (pl.col("id") > first_id(layout))
        )

        def work() -> int:
            frame = pl.scan_iceberg(path)
            return sources((frame.filter(row_filter) if filtered else frame).explain())

        return work

    return setup


def sources(plan: str) -> int:
    """How many files the scan of an explained plan has: the first by name, and how many others."""
    listed = plan[plan.index("[") + 1 : plan.index("]")]
    if not listed:
        return 0
    *names, last = listed.split(", ")
    return len(names) + (int(last.split()[1]) if last.endswith(("other sources", "other source")) else 1)


def java(layout: Layout, *, filtered: bool):
    """The Java library in the JVM of Spark; the files are counted there, so that nothing crosses to Python."""

    def setup(data: Path) -> Work:
        spark = java_session(data)
        iceberg = spark._jvm.org.apache.iceberg  # noqa: SLF001  the way to a class of the JVM
        folder = str(metadata_only_table(data, layout))
        tables = iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration())  # noqa: SLF001  as above
        count = iceberg.relocated.com.google.common.collect.Iterables.size

        def work() -> int:
            scan = tables.load(folder).newScan()
            files = (scan.filter(java_filter(iceberg, layout)) if filtered else scan).planFiles()
            try:
                return count(files)
            finally:
                files.close()

        return work

    return setup


def java_filter(iceberg: Any, layout: Layout) -> Any:
    make = iceberg.expressions.Expressions
    days = getattr(make, "and")(make.greaterThanOrEqual("day", FROM_DAY), make.lessThan("day", TO_DAY))
    return getattr(make, "and")(days, make.greaterThan("id", first_id(layout)))


def duckdb(layout: Layout):
    def setup(data: Path) -> Work:
        from peers.cases.scan import duckdb_connection

        connection, path = duckdb_connection(), location(data, layout)
        query = f"select count(*) from iceberg_metadata('{path}')"
        return lambda: connection.execute(query).fetchone()[0]

    return setup


def case(name: str, what: str, layout: Layout, *, filtered: bool) -> Case:
    contenders = {
        "icefloe plan, as columns": icefloe_columns(layout, filtered=filtered),
        "icefloe plan, no cache": icefloe_columns(layout, filtered=filtered, cached=False),
        "icefloe plan_files, as objects": by_objects("icefloe", layout, filtered=filtered),
        "Polars iceberg plugin": polars(layout, filtered=filtered),
        "Polars iceberg plugin, no cache": polars(layout, filtered=filtered, cached=False),
        JAVA: java(layout, filtered=filtered),
    }
    # For a million files they would need minutes, or eight gigabytes.
    if layout is not MILLION_FILES:
        contenders["pyiceberg plan_files"] = by_objects("pyiceberg", layout, filtered=filtered)
        if not filtered:
            contenders["duckdb iceberg_metadata"] = duckdb(layout)
    return Case(
        name=f"{name}_filtered" if filtered else name,
        what=f"{what}, with a filter of three terms on partition and bounds" if filtered else f"{what}, no filter",
        prepare=prepare(layout),
        contenders=contenders,
        rounds=5,
        warm_ups={JAVA: JVM_WARM_UPS},
    )


CASES = [
    case(name, what, layout, filtered=filtered)
    for name, what, layout in (
        ("planning", "plan 100,000 files in 10 manifests", TEN_MANIFESTS),
        ("planning_manifests", "plan 10,000 files in 1,000 manifests", THOUSAND_MANIFESTS),
        ("planning_million", "plan 1,000,000 files in 100 manifests", MILLION_FILES),
    )
    for filtered in (False, True)
]
