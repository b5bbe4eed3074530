"""Concurrent commits of several processes to one table lose no row and no commit."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa

WORKER = Path(__file__).parent / "append_worker.py"
WRITERS = 4
COMMITS = 6


def test_no_commit_is_lost(shared_catalog, kind, tmp_path):
    schema = pa.schema([("writer", pa.int64()), ("commit", pa.int64())])
    retries = {"commit.retry.num-retries": "100", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "200"}
    shared_catalog.create_table("db.t", schema, properties=retries)
    workers = [
        subprocess.Popen(
            [sys.executable, WORKER, kind, str(tmp_path), str(writer), str(COMMITS)], stderr=subprocess.PIPE
        )
        for writer in range(WRITERS)
    ]
    errors = [worker.communicate(timeout=600)[1].decode() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WRITERS, errors
    table = shared_catalog.load_table("db.t")
    rows = table.scan().to_arrow().to_pylist()
    expected = {(writer, commit) for writer in range(WRITERS) for commit in range(COMMITS)}
    assert {(row["writer"], row["commit"]) for row in rows} == expected
    assert len(rows) == len(expected)
    assert len(table.snapshots()) == len(expected)
    assert [snapshot.sequence_number for snapshot in table.snapshots()] == list(range(1, len(expected) + 1))
    assert table.current_snapshot().summary["total-records"] == str(len(expected))


def test_failed_commits_leave_no_metadata(shared_catalog, kind, tmp_path):
    schema = pa.schema([("writer", pa.int64()), ("commit", pa.int64())])
    retries = {"commit.retry.num-retries": "100", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "200"}
    shared_catalog.create_table("db.t", schema, properties=retries)
    workers = [subprocess.Popen([sys.executable, WORKER, kind, str(tmp_path), str(writer), "4"]) for writer in range(2)]
    assert [worker.wait(timeout=600) for worker in workers] == [0, 0]
    table = shared_catalog.load_table("db.t")
    lists = {snapshot.manifest_list for snapshot in table.snapshots()}
    present = {str(path) for path in (Path(table.location()) / "metadata").glob("snap-*.avro")}
    assert present == lists
