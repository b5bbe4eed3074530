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
# Polls until most of the memory is returned; a process that returns none ends by the timeout of the test. Prints the share of
# the scanned bytes that was resident with the rows, and the share that was returned once they were freed.
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
    del batches
    while resident() > held - 0.8 * scanned:
        time.sleep(0.1)
    return (held - before) / scanned, (held - resident()) / scanned

shares = [scan_and_wait()]
if forks:
    child = os.fork()
    share = scan_and_wait()
    print(json.dumps([*shares, share]), flush=True)
    if child == 0:
        os._exit(0)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(shares))
"""

linux = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="resident memory is read from Linux")


@linux
@pytest.mark.timeout(300)
@pytest.mark.parametrize("forks", [False, True], ids=["alone", "forked"])
def test_idle_process_returns_memory_of_a_freed_scan(tmp_path: Path, forks: bool) -> None:
    location = write(tmp_path / "numbers.parquet", {arrow_field(1, "id", pa.int64()): np.arange(ROWS)})
    arguments = json.dumps([[task(location)], schema(ID), SCANNED, forks])
    command = [sys.executable, "-W", "ignore", "-c", SCANS, arguments]
    printed = subprocess.run(command, timeout=240, check=True, capture_output=True, text=True).stdout.splitlines()
    shares = [share for line in printed for share in json.loads(line)]
    assert len(shares) == (4 if forks else 1)
    assert all(resident > 0.9 and returned > 0.8 for resident, returned in shares)
