"""Appending three rows to a table of one snapshot, and of a thousand, in a SQL catalog: what a commit itself costs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from peers.case import Case, Setup, Work

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "text": ["a", "b", "c"]})
PREVIOUS = (1, 1_000)


def folder_of(data: Path, appends: int) -> Path:
    return data / f"commits-{appends}"


def catalog_properties(folder: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": str(folder)}


def prepare(appends: int) -> Setup:
    """Return a function that makes a table of `appends` snapshots, once; contenders append to copies of its catalog."""

    def make(data: Path) -> None:
        from icefloe.catalog import load_catalog

        folder = folder_of(data, appends)
        if (folder / "done").exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        catalog = load_catalog("commits", **catalog_properties(folder))
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", ROWS.schema)
        for _ in range(appends):
            table.append(ROWS)
        catalog.close()
        shutil.copy(folder / "catalog.db", folder / "before.db")
        (folder / "done").touch()

    return make


def icefloe(appends: int) -> Setup:
    def setup(data: Path) -> Work:
        from icefloe.catalog import load_catalog

        return appending(folder_of(data, appends), load_catalog)

    return setup


def pyiceberg(appends: int) -> Setup:
    def setup(data: Path) -> Work:
        from pyiceberg.catalog import load_catalog

        return appending(folder_of(data, appends), load_catalog)

    return setup


def appending(folder: Path, load_catalog: Callable[..., Any]) -> Work:
    """Return the append, and a reset that returns the catalog to the table before it.

    A reset syncs all files: a sync in the next append would also write what this one, or the other contender, left to the system.
    """
    tables: list[Any] = []

    def reset() -> None:
        for table in tables:
            table.catalog.close()
        tables.clear()
        shutil.copy(folder / "before.db", folder / "catalog.db")
        os.sync()
        tables.append(load_catalog("commits", **catalog_properties(folder)).load_table("db.t"))

    def work() -> int:
        tables[0].append(ROWS)
        return ROWS.num_rows

    reset()
    work.reset = reset
    return work


CASES = [
    Case(
        name=f"append_after_{appends}",
        what=f"append 3 rows to a table of {appends:,} snapshots in SQLite, synced to disk",
        prepare=prepare(appends),
        contenders={"icefloe append": icefloe(appends), "pyiceberg append": pyiceberg(appends)},
    )
    for appends in PREVIOUS
]
