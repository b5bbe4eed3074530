"""How many threads scans take, and that they end where the operating system starts no more of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.unit.scan_tables import arrow_field, position_deletes, write

ROWS = 5_000
FILES = 6
SETUP = f"""
import glob, json, os, resource, sys, threading
from icefloe import _core
from tests.unit.scan_tables import ID, delete_file, schema, stream, task

folder = sys.argv[1]
data = sorted(glob.glob(folder + "/data-*.parquet"))
positions = [delete_file(path, 1, 1) for path in sorted(glob.glob(folder + "/positions-*.parquet"))]
# The keys of a partition are one set, of two files each.
keys = [delete_file(path, 2, {FILES}, [1]) | {{"partition": f"[{{n // 2}}]"}} for n, path in
        enumerate(sorted(glob.glob(folder + "/keys-*.parquet")))]
deletes = positions + keys
tasks = [task(path, deletes=list(range(len(deletes)))) for path in data]

def scan(**options):
    return stream(tasks, schema(ID), deletes=deletes, batch_size=10, batch_bytes=80, **options)

def rows(batches):
    return sum(batch.num_rows for batch in batches)

def threads():
    return len(os.listdir("/proc/self/task"))

LEFT = len(data) * ({ROWS} - {FILES} - 1)
"""
UNREAD = (
    SETUP
    + """
before = threads()
opened = [iter(scan(threads=8)) for _ in range(60)]
first = sum(next(batches).num_rows for batches in opened)
paused = threads()
readers = [threading.Thread(target=lambda: rows(scan(threads=8))) for _ in range(8)]
for reader in readers:
    reader.start()
most = paused
while any(reader.is_alive() for reader in readers):
    most = max(most, threads() - sum(reader.is_alive() for reader in readers))
assert first + sum(rows(batches) for batches in opened) == 60 * LEFT
print(json.dumps([paused - before, most - before]))
"""
)
REFUSED = (
    SETUP
    + """
# Starts what waits for storage; nothing has computed yet.
assert _core.FileIo({}).exists(data[0])
if os.getuid() == 0:
    # Limits of threads are for others than root.
    os.setresuid(54321, 54321, 54321)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
try:
    threading.Thread(target=print).start()
except RuntimeError:
    pass
else:
    sys.exit("threads are not refused")
first, second = iter(scan(threads=4)), iter(scan(threads=4))
got = sum(next(batches).num_rows for batches in (first, second))
print(json.dumps([got + rows(first) + rows(second), rows(scan(threads=1)), LEFT]))
"""
)

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted, and limited, as on Linux")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        # Another user reads it.
        Path(made).chmod(0o755)
        ids = arrow_field(1, "id", pa.int64())
        located = [
            write(Path(made) / f"data-{n}.parquet", {ids: range(n * ROWS, (n + 1) * ROWS)}, row_group_size=250)
            for n in range(FILES)
        ]
        for n in range(FILES):
            # A row of every file, and one of the first.
            keys = [file * ROWS + n for file in range(FILES)]
            write(Path(made) / f"keys-{n}.parquet", {ids: keys})
            position_deletes(Path(made) / f"positions-{n}.parquet", [(located[n], ROWS - 1)])
        yield Path(made)


def run(script: str, folder: Path, **environment: str) -> str:
    command = [sys.executable, "-c", script, str(folder)]
    found = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=found, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@linux
@pytest.mark.timeout(300)
def test_scans_share_a_bounded_number_of_threads(folder: Path) -> None:
    paused, most = json.loads(run(UNREAD, folder))
    # Running threads, waiting threads that were replaced, threads of the runtime and threads that wait for files.
    assert paused <= 8 + 64 + 64 + (os.cpu_count() or 1)
    assert most <= 8 + 64 + 64 + (os.cpu_count() or 1)


@linux
@pytest.mark.timeout(300)
@pytest.mark.parametrize("cores", ["1", "4"])
def test_scans_with_deletes_end_where_no_thread_can_be_started(folder: Path, cores: str) -> None:
    two_scans, one_scan, expected = json.loads(run(REFUSED, folder, OMP_NUM_THREADS=cores))
    assert two_scans == 2 * expected
    assert one_scan == expected > 0
