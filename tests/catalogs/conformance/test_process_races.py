"""Concurrent appends of several processes: `--race-processes 8 --race-commits 200` makes 1,600 commits for each catalog."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CATALOG

WORKER = str(Path(__file__).parent / "append_worker.py")
SCHEMA = pa.schema([("writer", pa.int64()), ("commit", pa.int64())])


@pytest.mark.needs(Capability.SEVERAL_CLIENTS)
def test_commits_of_many_processes_are_all_there_once(subject, catalog, identifier, pytestconfig, record_property):
    writers = pytestconfig.getoption("--race-processes")
    commits = pytestconfig.getoption("--race-commits")
    catalog.create_table(identifier, SCHEMA)
    command = [sys.executable, WORKER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, **pipes) for _ in range(writers)]
    try:
        for number, worker in enumerate(workers):
            worker.stdin.write(json.dumps([CATALOG, subject.properties, identifier, number, commits]) + "\n")
            worker.stdin.flush()
        assert [worker.stdout.readline() for worker in workers] == ["ready\n"] * writers
        started = time.monotonic()
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        repeated = sum(int(worker.communicate()[0]) for worker in workers)
        seconds = time.monotonic() - started
        assert [worker.returncode for worker in workers] == [0] * writers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    record_property("commits_per_second", round(writers * commits / seconds, 1))
    print(f"{subject.name}: {writers * commits} commits, {writers * commits / seconds:.1f}/s, {repeated} repeated")
    table = catalog.load_table(identifier)
    found = [(row["writer"], row["commit"]) for row in table.scan().to_arrow().to_pylist()]
    assert sorted(found) == [(writer, commit) for writer in range(writers) for commit in range(commits)]
    assert len(table.snapshots()) == writers * commits
