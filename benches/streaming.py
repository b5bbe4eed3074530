"""Micro-batches from one table to another: their latency, the files and the memory, from the first to the last.

Run `python benches/streaming.py --batches 1000 --rows 10000`. A snapshot is appended to the source, and Spark copies it to the target in
one micro-batch, which repeats. Latencies, user CPU seconds and resident memory are reported for the first 50 micro-batches, for those
after the first tenth, in the middle and at the end. User CPU is that of this process, the JVM and the workers while Spark runs the
micro-batch. With `--without-spark` the reader and writer of the data source run in this process, which leaves Spark's own time
out. The tables are deleted in the end.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform
from icefloe.types import DoubleType, IntegerType, LongType, NestedField, StringType

if TYPE_CHECKING:
    from icefloe.table import Table

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "kind", IntegerType()),
    NestedField(3, "value", DoubleType()),
    NestedField(4, "note", StringType()),
)
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
KINDS = 4
MIB = 1 << 20
WINDOW = 50


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

    os.environ["PYSPARK_PYTHON"] = sys.executable
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


def processes() -> Iterator[tuple[str, psutil.Process]]:
    """Yield this process and all that it started, each with its role."""
    own = psutil.Process()
    for process in [own, *own.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            role = "this process" if process == own else "JVM" if process.name() == "java" else "Python workers"
            yield role, process


def memory() -> dict[str, float]:
    """Return the resident MiB of this process, of the JVM and of Spark's Python workers; pages that workers share count once for each."""
    found: Counter[str] = Counter()
    for role, process in processes():
        with suppress(psutil.NoSuchProcess):
            found[role] += process.memory_info().rss / MIB
    return dict(found)


def user_seconds() -> float:
    """Return the user CPU seconds of this process and of its children, including children that have ended."""
    total = 0.0
    for _, process in processes():
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.children_user
    return total


def windows(batches: int) -> dict[str, slice]:
    """Return parts of at most 50 micro-batches, by their name."""
    size = min(WINDOW, max(1, batches // 5))
    firsts = {"first": 0, "after a tenth": batches // 10, "middle": (batches - size) // 2, "last": batches - size}
    return {
        f"{name} {size}, from micro-batch {first + 1}": slice(first, first + size) for name, first in firsts.items()
    }


def seconds(values: list[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the maximum of durations."""
    median, p99, slowest = np.percentile(values, [50, 99, 100])
    return {"median": round(median, 4), "p99": round(p99, 4), "max": round(slowest, 4)}


def files_of(table: Any) -> dict[str, Any]:
    """Return the number of files of a table by kind, and the number of files that nothing in the table refers to."""
    folder = Path(table.location().removeprefix("file://"))
    names = [path.name for path in (folder / "metadata").iterdir()]
    unreferenced = table.maintenance.remove_orphan_files().older_than(datetime.now(timezone.utc)).force().plan()
    kinds = {"metadata files": ".metadata.json", "manifests": "-m[0-9]+.avro", "manifest lists": "snap-.*.avro"}
    found: dict[str, Any] = {
        kind: sum(re.search(f"{end}$", name) is not None for name in names) for kind, end in kinds.items()
    }
    found["MB of metadata"] = round(sum(path.stat().st_size for path in (folder / "metadata").iterdir()) / 1e6, 1)
    found["data files"] = sum(1 for path in (folder / "data").rglob("*") if path.is_file())
    found["files that nothing refers to"] = unreferenced.file_count
    found["manifests of the current snapshot"] = len(table.inspect.manifests())
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="directory for the tables; a temporary one by default")
    parser.add_argument("--without-spark", action="store_true")
    return parser.parse_args()


@dataclass
class Costs:
    """What each micro-batch cost.

    Attributes:
        durations: Seconds of each step, by its name.
        cpu: User CPU seconds.
        resident: Resident MiB after the micro-batch, by the role of the process.
    """

    durations: list[dict[str, float]] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    resident: list[dict[str, float]] = field(default_factory=list)

    def measure(self, run: Callable[[], dict[str, float]]) -> None:
        """Run one micro-batch and record its costs."""
        began = user_seconds()
        self.durations.append(run())
        self.cpu.append(user_seconds() - began)
        self.resident.append(memory())

    def figures(self) -> dict[str, Any]:
        """Return the costs in parts of the run."""
        parts = windows(len(self.cpu))
        found: dict[str, Any] = {}
        for name in sorted({name for one in self.durations for name in one}):
            found[f"seconds of {name}"] = {
                part: seconds([one.get(name, 0.0) for one in self.durations[where]]) for part, where in parts.items()
            }
        found["user CPU seconds"] = {part: seconds(self.cpu[where]) for part, where in parts.items()}
        for role in self.resident[-1]:
            found[f"resident MiB of {role}"] = {
                part: round(statistics.median(one.get(role, 0.0) for one in self.resident[where]))
                for part, where in parts.items()
            }
        return found


def tables(properties: dict[str, str]) -> tuple[Table, Table]:
    """Return a new source and a new target, which keep six metadata files."""
    catalog = load_catalog("lake", **properties)
    catalog.create_namespace("db")
    kept = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "5"}
    source = catalog.create_table("db.source", SCHEMA, properties=kept)
    return source, catalog.create_table("db.target", SCHEMA, partition_spec=SPEC, properties=kept)


def measured(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the micro-batches between new tables of a directory and return the figures."""
    properties = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"{folder}/warehouse"}
    options = {"catalog": "lake", **{f"catalog.{key}": value for key, value in properties.items()}}
    source, target = tables(properties)
    costs = Costs()
    runs = in_this_process(options, "db.target") if given.without_spark else by_spark(options, "db.target", folder)
    for run in runs:
        for batch in range(given.batches):
            source.append(rows_of(batch, given.rows))
            costs.measure(run)
    target.refresh()
    source.refresh()
    checkpoint = folder / "checkpoint"
    return {
        "batches": given.batches,
        "rows": target.scan().count(),
        "snapshots": len(target.history()),
        "files of the target": files_of(target),
        "files of the source": files_of(source),
        "files of the checkpoint": Counter(
            path.relative_to(checkpoint).parts[0] for path in checkpoint.rglob("*") if path.is_file()
        ),
        **costs.figures(),
    }


def main() -> None:
    given = arguments()
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        json.dump(measured(given, folder), sys.stdout, indent=2)
        print()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
