"""The core works in a child that was forked after the parent used it, as Spark's daemon forks its workers."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os, sys
import pyarrow as pa
from icefloe.catalog import load_catalog

catalog = load_catalog("m", type="hadoop", warehouse=sys.argv[1])
catalog.create_namespace("db")
table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
table.append(pa.table({"id": list(range(100_000))}))
assert table.scan().to_arrow().num_rows == 100_000
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        rows = table.scan("id < 1000").to_arrow().num_rows
        table.append(pa.table({"id": [number]})) if number == 0 else None
        os._exit(0 if rows == 1000 else 1)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert codes == [0, 0, 0], codes
assert table.refresh().scan().to_arrow().num_rows == 100_001
print("done")
"""


def test_forked_children_read_and_write(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "lake")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout
