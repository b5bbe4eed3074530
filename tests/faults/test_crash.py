"""kill -9 between any two calls of storage: the table is readable, at the old or the new snapshot, and takes commits."""

import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

WORKER = Path(__file__).parent / "crashing_worker.py"
MOST_CALLS = 60


def test_append_that_is_killed_leaves_the_old_table_or_the_new_one(shared_catalog, kind, tmp_path):
    rows = {10, 11}
    outcomes = set()
    for call in range(1, MOST_CALLS):
        shared_catalog.create_table("db.t", pa.schema([("id", pa.int64())])).append(pa.table({"id": [1, 2]}))
        done = subprocess.run(
            [sys.executable, WORKER, kind, str(tmp_path), str(call)], check=False, capture_output=True, text=True
        )
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        table = shared_catalog.load_table("db.t")
        found = set(table.scan().to_arrow().column("id").to_pylist())
        assert found in ({1, 2}, {1, 2} | rows), f"killed at call {call}"
        outcomes.add(len(found))
        table.append(pa.table({"id": [3]}))
        assert set(shared_catalog.load_table("db.t").scan().to_arrow().column("id").to_pylist()) == found | {3}
        shared_catalog.drop_table("db.t")
        if kind == "sql":
            # A dropped table's files stay; the next one must not find them.
            subprocess.run(["rm", "-rf", f"{tmp_path}/warehouse/db"], check=True)
        if done.returncode == 0:
            break
    else:
        raise AssertionError("the append never ended by itself")
    assert outcomes == {2, 4}
