"""SIGKILL between any two calls of storage: the table has its old or its new snapshot, is readable and accepts commits."""

import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

WORKER = Path(__file__).parent / "crashing_worker.py"
TABLES = 36


def test_killed_append_leaves_the_old_version_or_the_new_one(shared_catalog, kind, tmp_path):
    numbers = range(1, TABLES + 1)
    for number in numbers:
        table = shared_catalog.create_table(f"db.t{number}", pa.schema([("id", pa.int64())]))
        table.append(pa.table({"id": [1, 2]}))
    done = subprocess.run(
        [sys.executable, WORKER, kind, str(tmp_path), str(TABLES)], check=True, capture_output=True, text=True
    )
    codes = [int(line) for line in done.stdout.split()]
    assert set(codes) == {0, -signal.SIGKILL}, done.stderr
    assert codes[-1] == 0, "the append makes more calls than there are tables"
    outcomes = []
    for number in numbers:
        table = shared_catalog.load_table(f"db.t{number}")
        found = set(table.scan().to_arrow().column("id").to_pylist())
        assert found in ({1, 2}, {1, 2, 10, 11}), f"killed before call {number}"
        outcomes.append(len(found))
        table.append(pa.table({"id": [3]}))
        assert set(shared_catalog.load_table(f"db.t{number}").scan().to_arrow().column("id").to_pylist()) == found | {3}
    # One call commits: crashes before it leave the old table, crashes after it leave the new table.
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {2, 4}
