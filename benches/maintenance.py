"""Expiry of 1,000 snapshots of a table of 100,000 files, and the orphan files of a listing of 1,000,000 files.

Run `python benches/maintenance.py`; the tables are deleted in the end. Data files are names in manifests alone.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.manifest.columns import DATA_FILE_SCHEMA
from icefloe.table import Table

MIB = 1 << 20


def timed(name: str, work: Callable[[], Any]) -> Any:
    """Run work, and print its times and the rise of memory to its peak; Linux alone can reset the peak."""
    Path("/proc/self/clear_refs").write_text("5")
    before, held = resource.getrusage(resource.RUSAGE_SELF), status("VmRSS")
    start = time.perf_counter()
    result = work()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(f"{name:<40} wall {wall:6.2f} s  cpu {cpu:6.2f} s  peak memory +{status('VmHWM') - held:.0f} MiB")
    return result


def status(field: str) -> float:
    """Return a size in MiB from the status of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def grown(catalog: Any, snapshots: int, files: int) -> Table:
    """Return a table of `snapshots` appends with `files` files in all."""
    table: Table = catalog.create_table(
        "db.t", pa.schema([("id", pa.int64())]), properties={"write.metadata.previous-versions-max": "1"}
    )
    count = files // snapshots
    for number in range(snapshots):
        paths = [f"{table.location()}/data/{number:06}-{place:06}-0123456789abcdef.parquet" for place in range(count)]
        facts = {
            "content": 0,
            "file_format": "PARQUET",
            "partition": "[]",
            "record_count": 10,
            "file_size_in_bytes": 1000,
            "spec_id": 0,
        }
        rows = [{**facts, "file_path": path} for path in paths]
        table.new_append().append(pa.RecordBatch.from_pylist(rows, DATA_FILE_SCHEMA)).commit()
    return table


def main() -> None:
    """Run both cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshots", type=int, default=1000)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--listed", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, load_catalog("bench", type="memory", warehouse=folder) as catalog:
        catalog.create_namespace("db")
        table = timed("write the table", lambda: grown(catalog, options.snapshots, options.files))
        old = datetime(2001, 1, 1, tzinfo=timezone.utc)
        known = [task.file.file_path for task in table.scan().plan_files()]
        paths = [
            *known,
            *(
                f"{table.location()}/data/{n:09}-fedcba9876543210-orphan.parquet"
                for n in range(options.listed - len(known))
            ),
        ]
        listing = pa.table(
            {"file_path": paths, "last_modified": pa.array([old] * len(paths), pa.timestamp("ms", "UTC"))}
        )
        del paths, known
        print(f"listing: {listing.nbytes / MIB:.0f} MiB")
        removal = table.maintenance.remove_orphan_files().inventory(listing)
        plan = timed(f"orphans among {options.listed} listed files", removal.plan)
        print(plan.summary())
        moment = datetime.now(timezone.utc) + timedelta(hours=1)
        expiry = table.maintenance.expire_snapshots().older_than(moment)
        plan = timed("plan of the expiry", expiry.plan)
        print(plan.summary())
        result = timed(
            "expiry without deletes",
            table.maintenance.expire_snapshots().older_than(moment).delete_files(False).execute,
        )
        print(result.summary())


if __name__ == "__main__":
    main()
