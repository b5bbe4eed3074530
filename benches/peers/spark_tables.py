"""Lineitem as a table in Spark, of icefloe and of the Java runtime, that every round changes from the same snapshot."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.spark_session import java_session, plain_session
from peers.tables import raw_lineitem

MODES = ("copy-on-write", "merge-on-read")
NAME = "ref.changes.t"


@dataclass
class ChangedTable:
    """A change of a table, which is undone between rounds without being timed.

    Attributes:
        change: Changes the table and returns the number of changed rows.
        undo: Rolls the table back to its start.
        rows: Returns the table's rows as a DataFrame.
    """

    change: Callable[[], int]
    undo: Callable[[], None]
    rows: Callable[[], Any]
    digest: Any = None

    def __call__(self) -> int:
        return self.change()

    def reset(self) -> None:
        # The rows after the first change of the process are enough: all rounds change the same snapshot.
        if self.digest is None:
            self.digest = digest(self.rows())
        self.undo()

    def outcome(self) -> Any:
        return self.digest


def digest(rows: Any) -> Any:
    """Return the number of rows and a sum over all their values, as an Arrow table of one row."""
    from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

    value = F.xxhash64(*[F.col(name) for name in sorted(rows.columns)])
    sums = F.sum(F.pmod(value, F.lit(1 << 31))).alias("values")
    return rows.agg(F.count(F.lit(1)).alias("rows"), sums).toArrow()


def lineitem(spark: Any, data: Path) -> Any:
    return spark.read.parquet(str(raw_lineitem(data)))


@functools.cache
def icefloe_table(data: Path) -> tuple[Any, Any]:
    """Return a session, and the catalog of a new table `db.t` of lineitem."""
    import icefloe.spark
    from icefloe.catalog import load_catalog
    from icefloe.spark import schema_from_spark

    spark, folder = plain_session(), data / "spark-changes-icefloe"
    shutil.rmtree(folder, ignore_errors=True)
    catalog = load_catalog("changes", type="hadoop", warehouse=str(folder))
    catalog.create_namespace("db")
    frame = lineitem(spark, data)
    icefloe.spark.write(frame, catalog.create_table("db.t", schema=schema_from_spark(frame.schema)))
    return spark, catalog


def icefloe_change(data: Path, properties: dict[str, str], change: Callable[[Any, Any], int]) -> ChangedTable:
    """Return a change of lineitem by icefloe; `change` takes the session and the table."""
    import icefloe.spark

    spark, catalog = icefloe_table(data)
    table = catalog.load_table("db.t")
    table.transaction().set_properties(properties).commit_transaction()
    start = table.current_snapshot().snapshot_id
    return ChangedTable(
        change=lambda: change(spark, catalog.load_table("db.t")),
        undo=lambda: catalog.load_table("db.t").manage_snapshots().rollback_to_snapshot(start).commit(),
        rows=lambda: icefloe.spark.read(catalog.load_table("db.t"), spark=spark),
    )


@functools.cache
def java_table(data: Path) -> Any:
    """Return a session whose table `ref.changes.t` is a new table of lineitem by the Java runtime."""
    spark = java_session(data)
    lineitem(spark, data).createOrReplaceTempView("lineitem")
    spark.sql(f"DROP TABLE IF EXISTS {NAME} PURGE")
    spark.sql(f"CREATE TABLE {NAME} USING iceberg AS SELECT * FROM lineitem")
    return spark


def java_change(data: Path, properties: dict[str, str], change: Callable[[Any], int]) -> ChangedTable:
    """Return a change of lineitem by the Java runtime; `change` takes the session, and the table is `ref.changes.t`."""
    spark = java_table(data)
    listed = ", ".join(f"'{key}'='{value}'" for key, value in properties.items())
    spark.sql(f"ALTER TABLE {NAME} SET TBLPROPERTIES ({listed})")
    start = spark.sql(f"SELECT snapshot_id FROM {NAME}.history ORDER BY made_current_at DESC").first()[0]
    return ChangedTable(
        change=lambda: change(spark),
        undo=lambda: spark.sql(f"CALL ref.system.rollback_to_snapshot('changes.t', {start})"),
        rows=lambda: spark.table(NAME),
    )
