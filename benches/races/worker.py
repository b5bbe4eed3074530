"""Append rows in a process of its own, one commit per row, after a start line on standard input. Prints the number of repeats."""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

import pyarrow as pa


def icefloe_table(
    name: str, properties: dict[str, str], identifier: list[str]
) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return a table and the exceptions after which a commit is repeated."""
    from icefloe.catalog import load_catalog
    from icefloe.exceptions import CommitFailedException

    with load_catalog("warm-up", type="in-memory") as catalog:
        warm_up(catalog)
    return load_catalog(name, **properties).load_table(tuple(identifier)), (CommitFailedException,)


def pyiceberg_table(
    name: str, properties: dict[str, str], identifier: list[str]
) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return a table and the exceptions after which a commit is repeated: SQLite reports a lock as an error of its own."""
    from pyiceberg.catalog import load_catalog
    from pyiceberg.exceptions import CommitFailedException
    from sqlalchemy.exc import OperationalError

    with tempfile.TemporaryDirectory() as directory:
        warm_up(load_catalog("warm-up", type="in-memory", warehouse=directory))
    return load_catalog(name, **properties).load_table(tuple(identifier)), (CommitFailedException, OperationalError)


def warm_up(catalog: Any) -> None:
    """Make the first commit of a process elsewhere: it imports modules and starts threads."""
    rows = pa.table({"writer": [0], "commit": [0]})
    catalog.create_namespace("warm")
    catalog.create_table("warm.up", rows.schema).append(rows)


def main() -> None:
    library, name, properties, identifier, writer, commits = json.loads(sys.stdin.readline())
    load = icefloe_table if library == "icefloe" else pyiceberg_table
    table, conflicts = load(name, properties, identifier)
    print("ready", flush=True)
    sys.stdin.readline()
    repeated = 0
    for commit in range(commits):
        rows = pa.table({"writer": pa.array([writer], pa.int64()), "commit": pa.array([commit], pa.int64())})
        while True:
            try:
                table.append(rows)
            except conflicts:
                repeated += 1
                table.refresh()
                continue
            break
    print(repeated)


if __name__ == "__main__":
    main()
