"""Append rows in a separate process, one commit per row. Arguments: URL, warehouse, writer number, commits."""

import sys

import pyarrow as pa
from icefloe.catalog import load_catalog

uri, warehouse, writer, commits = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
table = load_catalog("cat", type="sql", uri=uri, warehouse=warehouse).load_table("db.t")
for commit in range(commits):
    table.append(pa.table({"writer": pa.array([writer], pa.int64()), "commit": pa.array([commit], pa.int64())}))
