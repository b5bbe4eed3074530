"""The rows of the tables of the conformance suite."""

from __future__ import annotations

import pyarrow as pa

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", None]}, schema=SCHEMA)
MORE = pa.table({"id": [4], "name": ["d"]}, schema=SCHEMA)


def ids(table) -> list[int]:
    """Return the ids of the rows of a table, sorted."""
    return sorted(table.scan().to_arrow().column("id").to_pylist())
