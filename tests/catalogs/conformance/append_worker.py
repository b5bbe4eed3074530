"""Append rows in a separate process, one commit per row, after a start line on standard input. Prints the number of repeats."""

import json
import sys

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.exceptions import CommitFailedException

name, properties, identifier, writer, commits = json.loads(sys.stdin.readline())
table = load_catalog(name, **properties).load_table(tuple(identifier))
print("ready", flush=True)
sys.stdin.readline()
repeated = 0
for commit in range(commits):
    rows = pa.table({"writer": pa.array([writer], pa.int64()), "commit": pa.array([commit], pa.int64())})
    while True:
        try:
            table.append(rows)
        except CommitFailedException:
            repeated += 1
            table.refresh()
            continue
        break
print(repeated)
