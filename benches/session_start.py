"""Time of the start of a Spark session alone, and of one that has a catalog attached.

Run `python benches/session_start.py --rounds 5 --tables 10`. Each session starts in a process of its own, in turns; a start ends when
`SparkSession` is there, and when `icefloe.spark.attach` has returned. A JVM compiles much of Spark SQL for its first statement, wherever that comes
from, so the time to the rows of a first `SELECT 1` is reported as well. CPU is that of Python, the JVM and what they started. One start
that is not reported compiles the modules; with `PYTHONDONTWRITEBYTECODE` each start compiles them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

KINDS = ("Spark alone", "with icefloe imported", "attached without views", "attached with views")


def new_catalog(folder: str, tables: int = 0) -> Any:
    """Return the catalog of a folder, and create tables in it."""
    import pyarrow as pa
    from icefloe.catalog import load_catalog

    catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"{folder}/warehouse")
    if tables > 0:
        catalog.create_namespace("db")
    for number in range(tables):
        catalog.create_table(f"db.t{number}", pa.schema([("id", pa.int64()), ("name", pa.string())]))
    return catalog


def start(kind: str, folder: str, began: float) -> None:
    """Start a session and print the seconds since the process was started, and the CPU seconds."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.local.dir": f"{folder}/spark",
        "spark.sql.warehouse.dir": f"{folder}/{os.getpid()}",
    }
    builder = SparkSession.builder.master("local[2]").appName("start")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if kind != KINDS[0]:
        import icefloe.spark

        if kind != KINDS[1]:
            icefloe.spark.attach(spark, new_catalog(folder), views=kind == KINDS[3])
    figures = {"wall": time.time() - began, "cpu": cpu_seconds()}
    spark.sql("SELECT 1").collect()
    figures |= {"statement_wall": time.time() - began, "statement_cpu": cpu_seconds()}
    print(json.dumps(figures), flush=True)
    spark.stop()


def started(kind: str, folder: str) -> dict[str, float]:
    """Return the seconds of a start in a process of its own."""
    command = [sys.executable, str(Path(__file__)), kind, folder, str(time.time())]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return figures


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its children so far."""
    own = psutil.Process()
    times = [process.cpu_times() for process in [own, *own.children(recursive=True)]]
    return sum(one.user + one.system + one.children_user + one.children_system for one in times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tables", type=int, default=10, help="tables of the catalog")
    given = parser.parse_args()
    if sys.dont_write_bytecode:
        print(
            "PYTHONDONTWRITEBYTECODE is set: each start compiles the modules again, which takes as long as all else that icefloe "
            "adds to a start. Unset it for figures.",
            file=sys.stderr,
        )
    folder = tempfile.mkdtemp()
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    try:
        new_catalog(folder, given.tables).close()
        started(KINDS[-1], folder)
        for _ in range(given.rounds):
            for kind in KINDS:
                found[kind].append(started(kind, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    medians = {
        kind: {name: round(statistics.median(one[name] for one in runs), 2) for name in runs[0]}
        for kind, runs in found.items()
    }
    figures = {"tables": given.tables, "rounds": given.rounds, "compiled bytecode": not sys.dont_write_bytecode}
    json.dump({**figures, "seconds": medians}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in KINDS:
        start(sys.argv[1], sys.argv[2], float(sys.argv[3]))
    else:
        main()
