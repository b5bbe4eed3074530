"""Drivers and Python workers killed at random moments: every row of the source arrives once, in copies and in merged counts."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import psutil
import pyarrow as pa
from icefloe.catalog import load_catalog

from tests.spark.stream.conftest import numbered

JOB = Path(__file__).parent / "stream_job.py"
LONGEST = 2.0
"""Longest time in seconds from a commit of the queries to a kill."""


class Job:
    """A driver with two queries, and the processes that it starts."""

    def __init__(self, folder, mode):
        self.log = folder / f"log-{next(NUMBERS)}"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(JOB), str(folder), mode], stdout=subprocess.PIPE, stderr=log, cwd=folder
            )

    def wait_until_ready(self):
        """Wait until the queries are started; a job that a kill of its workers has failed is not."""
        return self.process.stdout.readline().strip() == b"ready"

    def runs_for(self, seconds):
        """Return whether the job is running after a time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def kill(self):
        """Kill the JVM, then the driver's Python; workers that commit go on for a while, like those of a driver that lost its network."""
        for child in self._descendants():
            if child.name() == "java":
                child.kill()
        self.process.kill()
        self.process.wait()

    def kill_worker(self, chance):
        """Kill one of the Python processes that the JVM started: a daemon, planner, committer or worker of a task."""
        workers = [child for child in self._descendants() if child.name().startswith("python")]
        if workers:
            chance.choice(workers).kill()

    def errors(self):
        """Return the log without its lines of Java stacks, shortened to the end."""
        lines = self.log.read_text().splitlines()
        return "\n".join(line for line in lines if not line.lstrip().startswith("at "))[-6000:]

    def _descendants(self):
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []


NUMBERS = itertools.count()


def snapshots_of(*tables):
    """Return the number of snapshots of several tables together."""
    return sum(len(table.refresh().history()) for table in tables)


def finished(folder):
    """Run the queries until they have read all rows. A run that fails is started again, as a supervisor of jobs does, at most twice."""
    for _ in range(3):
        job = Job(folder, "finish")
        job.process.communicate()
        if job.process.returncode == 0:
            return True
        print(f"a run failed: {job.errors()}")
    return False


def test_rows_arrive_once_whatever_is_killed(tmp_path, request):
    kills, seed = request.config.getoption("--stream-kills"), request.config.getoption("--first-stream-kill")
    chance = random.Random(seed)
    catalog = load_catalog(
        "lake", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path / "warehouse")
    )
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64()), ("kind", pa.int32())])
    source, copies = (catalog.create_table(f"db.{name}", schema) for name in ("source", "copies"))
    counts = catalog.create_table("db.counts", pa.schema([("kind", pa.int32()), ("n", pa.int64())]))
    rows, job, done = 0, None, 0
    while done < kills:
        if job is None or not job.runs_for(0):
            job = Job(tmp_path, "run")
            if not job.wait_until_ready():
                job.process.wait()
                raise AssertionError(f"the job did not start: {job.errors()}")
        for _ in range(chance.randint(1, 3)):
            source.append(numbered(rows, rows + 100, kinds=7))
            rows += 100
        # The appended rows make at least one snapshot in each table.
        wanted = snapshots_of(copies, counts) + chance.randint(0, 2)
        while job.runs_for(0.1) and snapshots_of(copies, counts) < wanted:
            pass
        if job.runs_for(chance.uniform(0, LONGEST)):
            if done % 2 == 0:
                job.kill_worker(chance)
            else:
                job.kill()
                job = None
            done += 1
    if job is not None:
        job.kill()
        job = None
    assert finished(tmp_path), "the queries did not end"

    found = copies.refresh().scan().to_arrow()["id"].to_pylist()
    assert Counter(found) == Counter(range(rows)), f"repeat with --first-stream-kill={seed} --stream-kills={kills}"
    merged = counts.refresh().scan().to_arrow().to_pylist()
    assert {row["kind"]: row["n"] for row in merged} == Counter(one % 7 for one in range(rows))
    for table in (copies, counts):
        epochs = [snapshot.summary["spark.sql.streaming.epochId"] for snapshot in table.snapshots()]
        assert len(epochs) == len(set(epochs))
    print(f"{done} kills, {rows} rows, {len(copies.history())} micro-batches copied, {len(counts.history())} merged")
