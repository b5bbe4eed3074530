"""Run the races: `python -m races [--catalog NAME] [--processes N] [--commits N] [--peer-commits N]`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from icefloe.catalog import load_catalog
from rich.console import Console
from rich.table import Table

from races.catalogs import CATALOGS, OF_PYICEBERG, Properties

CATALOG = "races"
SCHEMA = pa.schema([("writer", pa.int64()), ("commit", pa.int64())])
WORKER = str(Path(__file__).parent / "worker.py")


@dataclass(frozen=True)
class Race:
    """The figures of one race.

    Attributes:
        catalog: The catalog.
        library: The library of all processes.
        commits: The commits that were asked for.
        found: The distinct rows of the table afterwards, one for each commit.
        rows: All rows of the table afterwards.
        repeated: The commits that a process repeated after a conflict that the library reported.
        seconds: Wall time from the start line to the end of the last process.
    """

    catalog: str
    library: str
    commits: int
    found: int
    rows: int
    repeated: int
    seconds: float

    @property
    def is_correct(self) -> bool:
        """Whether every commit is in the table once."""
        return self.found == self.rows == self.commits


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="races", description=__doc__)
    parser.add_argument("--catalog", action="append", choices=list(CATALOGS), help="only this catalog; may be repeated")
    parser.add_argument("--processes", type=int, default=8, help="processes that append at once (default 8)")
    parser.add_argument("--commits", type=int, default=200, help="commits of each process (default 200)")
    parser.add_argument("--peer-commits", type=int, help="commits of each process of PyIceberg (default: as many)")
    return parser.parse_args()


def race(catalog: str, properties: Properties, library: str, processes: int, commits: int) -> Race:
    """Let processes append to a new table, and count its rows."""
    identifier = ("races", f"{library}_{processes * commits}")
    with load_catalog(CATALOG, **properties) as client:
        if not client.namespace_exists("races"):
            client.create_namespace("races")
        client.create_table(identifier, SCHEMA)
        with _workers(processes) as workers:
            for number, worker in enumerate(workers):
                _send(worker, json.dumps([library, CATALOG, properties, identifier, number, commits]))
            if not all(_is_ready(worker) for worker in workers):
                sys.exit(f"{catalog}, {library}: a process failed before the race")
            repeated, seconds = _run(workers)
        found = client.load_table(identifier).scan().to_arrow()
    distinct = found.group_by(["writer", "commit"]).aggregate([]).num_rows
    return Race(
        catalog=catalog,
        library=library,
        commits=processes * commits,
        found=distinct,
        rows=found.num_rows,
        repeated=repeated,
        seconds=seconds,
    )


@contextmanager
def _workers(processes: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Start processes, which end with the block."""
    workers = [
        subprocess.Popen([sys.executable, WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def _is_ready(worker: subprocess.Popen[str]) -> bool:
    assert worker.stdout is not None
    return worker.stdout.readline() == "ready\n"


def _run(workers: list[subprocess.Popen[str]]) -> tuple[int, float]:
    """Let processes that are ready append, and return the commits that they repeated and the seconds until the last one ended."""
    started = time.monotonic()
    for worker in workers:
        _send(worker, "go")
    repeated = [worker.communicate()[0] for worker in workers]
    return sum(int(text) for text in repeated if text.strip()), time.monotonic() - started


def _send(worker: subprocess.Popen[str], line: str) -> None:
    assert worker.stdin is not None
    worker.stdin.write(f"{line}\n")
    worker.stdin.flush()


def main() -> int:
    options = arguments()
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table(title=f"{options.processes} processes, load at the start {os.getloadavg()[0]:.1f}")
    for heading in ("catalog", "library", "commits", "in the table", "rows", "repeated", "seconds", "commits/s"):
        table.add_column(heading, justify="left" if heading in ("catalog", "library") else "right")
    races = []
    for name in options.catalog or CATALOGS:
        with tempfile.TemporaryDirectory(prefix="races-") as directory, CATALOGS[name](Path(directory)) as properties:
            runs = [("icefloe", options.commits)]
            if name in OF_PYICEBERG:
                peer_commits = options.commits if options.peer_commits is None else options.peer_commits
                runs.append(("pyiceberg", peer_commits))
            for library, commits in runs:
                races.append(race(name, properties, library, options.processes, commits))
                console.print(races[-1])
    for each in races:
        figures = (each.commits, each.found, each.rows, each.repeated)
        table.add_row(
            each.catalog,
            each.library,
            *map(str, figures),
            f"{each.seconds:.1f}",
            f"{each.found / each.seconds:.1f}",
            style=None if each.is_correct else "red",
        )
    console.print(table)
    return 0 if all(each.is_correct for each in races if each.library == "icefloe") else 1


if __name__ == "__main__":
    sys.exit(main())
