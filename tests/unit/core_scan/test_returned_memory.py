"""An idle process returns the memory of a scan that it has freed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.scan_tables import ID, arrow_field, schema, task, write

ROWS = 16 << 20
SCANNED = ROWS * 8
# Polls until most of the memory is returned; a process that returns none ends by the timeout of the test.
SCANS = """
import json, os, pathlib, re, sys, time
import pyarrow as pa
from tests.unit.scan_tables import stream

tasks, current, scanned, forks = json.loads(sys.argv[1])

def resident():
    return int(re.search(r"Rss:\\s+(\\d+)", pathlib.Path("/proc/self/smaps_rollup").read_text())[1]) * 1024

before = resident()

def scan_and_wait():
    batches = list(pa.RecordBatchReader.from_stream(stream(tasks, current, threads=2)))
    held = resident()
    assert held - before > 0.9 * scanned
    del batches
    while resident() > held - 0.8 * scanned:
        time.sleep(0.1)

scan_and_wait()
if forks:
    child = os.fork()
    scan_and_wait()
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""

linux = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="resident memory is read from Linux")


@linux
@pytest.mark.timeout(300)
@pytest.mark.parametrize("forks", [False, True], ids=["alone", "forked"])
def test_idle_process_returns_memory_of_a_freed_scan(tmp_path: Path, forks: bool) -> None:
    location = write(tmp_path / "numbers.parquet", {arrow_field(1, "id", pa.int64()): np.arange(ROWS)})
    arguments = json.dumps([[task(location)], schema(ID), SCANNED, forks])
    subprocess.run([sys.executable, "-W", "ignore", "-c", SCANS, arguments], timeout=240, check=True)
