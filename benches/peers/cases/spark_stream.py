"""Structured Streaming: micro-batches of 10,000 rows from one table to another, each after an append to the source."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from peers.case import Case, Work
from peers.cases.deletes import batch
from peers.spark_session import java_session, plain_session

ROWS = 10_000
BATCHES = 10


def prepare(data: Path) -> None:
    data.mkdir(parents=True, exist_ok=True)


def tables(warehouse: Path, namespace: str) -> Any:
    """Return a catalog with an empty source and an empty target in a namespace."""
    import pyarrow as pa
    from icefloe.catalog import load_catalog

    shutil.rmtree(warehouse / namespace, ignore_errors=True)
    catalog = load_catalog("streams", type="hadoop", warehouse=str(warehouse))
    catalog.create_namespace(namespace)
    schema = pa.Table.from_batches([batch(0, 1)]).schema
    for name in ("source", "target"):
        catalog.create_table((namespace, name), schema=schema)
    return catalog


def micro_batches(catalog: Any, namespace: str, query: Any) -> Work:
    """Return the work of some micro-batches: an append by icefloe, and the wait until the query has copied its rows."""
    import pyarrow as pa

    source = catalog.load_table((namespace, "source"))
    numbers = iter(range(1 << 30))

    def work() -> int:
        for _ in range(BATCHES):
            source.append(pa.Table.from_batches([batch(next(numbers) * ROWS, ROWS)]))
            query.processAllAvailable()
        return BATCHES * ROWS

    def outcome() -> Any:
        query.stop()
        copied, appended = (catalog.load_table((namespace, name)).scan().count() for name in ("target", "source"))
        if copied != appended:
            raise AssertionError(f"the target has {copied} rows; expected {appended}")
        return pa.table({"copied": [copied == appended]})

    work.outcome = outcome  # type: ignore[attr-defined]
    return work


def checkpoint(data: Path, namespace: str) -> str:
    folder = data / f"{namespace}-checkpoint"
    shutil.rmtree(folder, ignore_errors=True)
    return str(folder)


def icefloe(data: Path) -> Work:
    import icefloe.spark

    spark, warehouse, namespace = plain_session(), data / "warehouse", "stream_icefloe"
    catalog = tables(warehouse, namespace)
    icefloe.spark.register(spark)
    options = {"catalog": "streams", "catalog.type": "hadoop", "catalog.warehouse": str(warehouse)}
    frame = spark.readStream.format("icefloe").options(**options).load(f"{namespace}.source")
    sink = frame.writeStream.format("icefloe").options(**options)
    sink = sink.option("checkpointLocation", checkpoint(data, namespace)).trigger(processingTime="0 seconds")
    return micro_batches(catalog, namespace, sink.start(f"{namespace}.target"))


def java(data: Path) -> Work:
    namespace = "stream_java"
    catalog = tables(data / "warehouse", namespace)
    frame = java_session(data).readStream.format("iceberg").load(f"ref.{namespace}.source")
    sink = frame.writeStream.format("iceberg").option("checkpointLocation", checkpoint(data, namespace))
    query = sink.trigger(processingTime="0 seconds").toTable(f"ref.{namespace}.target")
    return micro_batches(catalog, namespace, query)


CASES = [
    Case(
        name="spark_stream",
        what=f"Structured Streaming, local[2]: {BATCHES} micro-batches of {ROWS:,} rows from table to table",
        prepare=prepare,
        warm_ups=2,
        contenders={"icefloe": icefloe, "Java runtime": java},
        rounds=5,
    )
]
