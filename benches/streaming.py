"""Micro-batches from one table to another: their latency, the files and the memory, from the first to the last.

Run `python benches/streaming.py --batches 1000 --rows 10000`. A snapshot is appended to the source, and Spark copies it to the target in
one micro-batch, which repeats. With `--without-spark` the reader and writer of the data source run in this process, which leaves
Spark's own time out. The tables are deleted in the end.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform
from icefloe.types import DoubleType, IntegerType, LongType, NestedField, StringType

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "kind", IntegerType()),
    NestedField(3, "value", DoubleType()),
    NestedField(4, "note", StringType()),
)
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
KINDS = 4
MIB = 1 << 20


def rows_of(batch: int, count: int) -> pa.Table:
    """Return the rows of one micro-batch."""
    ids = np.arange(batch * count, (batch + 1) * count)
    return pa.table(
        {
            "id": ids,
            "kind": pa.array(ids % KINDS, pa.int32()),
            "value": np.sin(ids),
            "note": [f"note {one % 997}" for one in ids.tolist()],
        }
    )


def in_this_process(options: dict[str, str], target: str) -> Iterator[Callable[[], dict[str, float]]]:
    """Yield a function that runs one micro-batch by the reader and the writer of the data source."""
    from icefloe.spark.data_source import IcefloeDataSource
    from icefloe.spark.stream.epoch import Epoch
    from icefloe.spark.stream.epoch_commit import commit_epoch
    from icefloe.spark.stream.options import SinkOptions

    source = IcefloeDataSource({**options, "path": "db.source"})
    reader = source.streamReader(source.schema())
    state: dict[str, Any] = {"offset": reader.initialOffset(), "batch": 0}
    sink = SinkOptions.parse({**options, "path": target})

    def run() -> dict[str, float]:
        began = time.perf_counter()
        end = json.loads(json.dumps(reader.latestOffset()))
        batches = [one for task in reader.partitions(state["offset"], end) for one in reader.read(task)]
        read = time.perf_counter()
        writer = IcefloeDataSource({**options, "path": target}).streamWriter(source.schema(), overwrite=False)
        files = writer._task.write(iter(batches))  # noqa: SLF001 - a task outside of Spark has no query
        written = time.perf_counter()
        commit_epoch(sink.table.load(), files, Epoch("bench", state["batch"], "main"), {}, overwrite=False)
        reader.commit(end)
        state.update(offset=end, batch=state["batch"] + 1)
        done = time.perf_counter()
        return {"read": read - began, "write": written - read, "commit": done - written, "total": done - began}

    yield run


def by_spark(options: dict[str, str], target: str, folder: Path) -> Iterator[Callable[[], dict[str, float]]]:
    """Yield a function that waits until Spark has run one micro-batch, and returns Spark's durations in seconds."""
    import icefloe.spark
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "1g").config("spark.log.level", "ERROR")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    icefloe.spark.register(spark)
    stream = spark.readStream.format("icefloe").options(**options).load("db.source").writeStream
    sink = stream.format("icefloe").options(**options).option("checkpointLocation", str(folder / "checkpoint"))
    query = sink.trigger(processingTime="0 seconds").start(target)

    def run() -> dict[str, float]:
        query.processAllAvailable()
        progress = next(one for one in reversed(query.recentProgress) if one["numInputRows"] > 0)
        return {name: millis / 1000 for name, millis in progress["durationMs"].items()}

    try:
        yield run
    finally:
        query.stop()
        spark.stop()


def memory() -> float:
    """Return the resident MiB of this process and all that it started."""
    own = psutil.Process()
    total = 0
    for process in [own, *own.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / MIB


def tenths(values: list[float]) -> list[float]:
    """Return the medians of ten consecutive parts."""
    size = max(1, len(values) // 10)
    return [round(statistics.median(values[start : start + size]), 4) for start in range(0, size * 10, size)][:10]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="directory for the tables; a temporary one by default")
    parser.add_argument("--without-spark", action="store_true")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    properties = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"{folder}/warehouse"}
    options = {"catalog": "lake", **{f"catalog.{key}": value for key, value in properties.items()}}
    try:
        catalog = load_catalog("lake", **properties)
        catalog.create_namespace("db")
        kept = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "5"}
        source = catalog.create_table("db.source", SCHEMA, properties=kept)
        target = catalog.create_table("db.target", SCHEMA, partition_spec=SPEC, properties=kept)
        runs = in_this_process(options, "db.target") if given.without_spark else by_spark(options, "db.target", folder)
        durations: list[dict[str, float]] = []
        resident: list[float] = []
        for run in runs:
            for batch in range(given.batches):
                source.append(rows_of(batch, given.rows))
                durations.append(run())
                resident.append(memory())
        target.refresh()
        data = sum(1 for _ in target.scan().plan_files())
        own = folder / "warehouse"
        found = {
            "batches": given.batches,
            "rows": target.scan().count(),
            "snapshots": len(target.history()),
            "data files of the snapshot": data,
            "parquet files of the target": len(list(own.glob("*/target/data/**/*.parquet"))),
            "metadata files of the target": len(list(own.glob("*/target/metadata/*"))),
            "resident MiB, by tenths": tenths(resident),
        }
        for name in sorted({name for one in durations for name in one}):
            found[f"seconds of {name}, by tenths"] = tenths([one.get(name, 0.0) for one in durations])
        json.dump(found, sys.stdout, indent=2)
        print()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
