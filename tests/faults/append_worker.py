"""Append rows in a separate process, one commit per row. Arguments: kind of catalog, directory, writer number, commits."""

import sys

import pyarrow as pa
from icefloe.catalog import load_catalog

kind, directory, writer, commits = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
properties = {"type": kind, "warehouse": f"{directory}/warehouse"}
if kind == "sql":
    properties["uri"] = f"sqlite:///{directory}/catalog.db"
table = load_catalog("cat", **properties).load_table("db.t")
for commit in range(commits):
    table.append(pa.table({"writer": pa.array([writer], pa.int64()), "commit": pa.array([commit], pa.int64())}))
