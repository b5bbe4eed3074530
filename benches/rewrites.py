"""Rewrites of TPC-H lineitem in 64 files, beside a scan that is written: time, memory, and the bytes that filters read afterwards.

Run `make bench-rewrites`. Every case runs in a process of its own; the filters read by the counters of Linux.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe.catalog import load_catalog
from peers.tables import plain, raw_lineitem

FILES = 64
COLUMNS = ("l_shipdate", "l_partkey")
FILTERS = ("l_partkey = 123456", "l_shipdate = '1995-03-15'", "l_partkey >= 100000 and l_partkey < 100200")
CASES = ("scan", "scan and write", "binpack", "sort", "zorder", "hilbert", "statistics")


def status(field: str) -> float:
    """Return a size in MiB from the status of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def bytes_read() -> int:
    """Return the bytes that this process has read so far."""
    return int(Path("/proc/self/io").read_text().split()[1])


def prepared(folder: Path) -> str:
    """Write lineitem in 64 appends; return the location of the table's metadata file."""
    source = pq.ParquetFile(raw_lineitem(folder))
    schema = plain(source.schema_arrow)
    data = source.read().cast(schema)
    with load_catalog("bench", type="memory", warehouse=str(folder / "lineitem")) as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=schema)
        rows = -(-data.num_rows // FILES)
        for number in range(FILES):
            table.append(data.slice(number * rows, rows))
        return str(table.metadata_location)


def work(case: str, catalog: Any, table: Any) -> None:
    """Run one case on the table."""
    rewrite = table.maintenance.rewrite_data_files()
    if case == "scan":
        for _ in table.scan().to_arrow_batch_reader():
            pass
    elif case == "scan and write":
        catalog.create_table("db.copy", table.schema()).append(table.scan().to_arrow_batch_reader())
    elif case == "binpack":
        rewrite.binpack().execute()
    elif case == "sort":
        rewrite.sort(", ".join(COLUMNS)).execute()
    elif case == "statistics":
        table.maintenance.compute_statistics().execute()
    else:
        getattr(rewrite, case)(*COLUMNS).execute()


def one(case: str, metadata: str) -> None:
    """Run one case in this process and print its figures."""
    with (
        tempfile.TemporaryDirectory() as folder,
        load_catalog("bench", type="memory", warehouse=folder) as catalog,
    ):
        catalog.create_namespace("db")
        table = catalog.register_table("db.t", metadata)
        pa.array([0])  # Imports pandas where it is installed, once in a process.
        files = {path for path in Path(table.location()).rglob("*") if path.is_file()}
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        work(case, catalog, table)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        print(
            f"{case:<16}wall {wall:6.2f} s  user {user:6.2f} s  system {system:5.2f} s  peak {status('VmHWM'):4.0f} MiB"
        )
        if case in ("scan", "sort", "zorder", "hilbert"):
            for row_filter in FILTERS:
                read = bytes_read()
                rows = table.scan(row_filter).to_arrow().num_rows
                print(f"    {row_filter:<45}{rows:>7,} rows  {(bytes_read() - read) / 1e6:7.2f} MB read")
        for path in Path(table.location()).rglob("*"):
            if path.is_file() and path not in files:
                path.unlink()


def main() -> None:
    """Run all cases, or the one of a child process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--metadata", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.metadata is not None:
        one(options.case, options.metadata)
        return
    with tempfile.TemporaryDirectory() as folder:
        metadata = prepared(Path(folder))
        for _ in range(options.rounds):
            for case in (options.case,) if options.case else CASES:
                subprocess.run([sys.executable, __file__, "--case", case, "--metadata", metadata], check=True)


if __name__ == "__main__":
    main()
