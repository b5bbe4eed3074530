"""Replaced partitions beside commits of others: the Java reference and icefloe refuse the same ones and leave the same data files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from icefloe.catalog import load_catalog
from icefloe.table import StaticTable

from tests.interop.java.concurrent_histories import HISTORIES, history, our_outcome
from tests.interop.java.our_steps import BY_PART, SCHEMA

pytestmark = pytest.mark.interop


def ours(warehouse: Path, seed: int) -> dict[str, Any]:
    catalog = load_catalog("ours", type="hadoop", warehouse=str(warehouse))
    catalog.create_namespace_if_not_exists("histories")
    table = catalog.create_table(f"histories.h{seed}", SCHEMA, partition_spec=BY_PART)
    return our_outcome(table, history(seed))


def outcome(found: dict[str, Any]) -> dict[str, Any]:
    """Return whether the change was committed, and the names of the live data files."""
    paths = StaticTable.from_metadata(found["location"]).inspect.data_files().column("file_path").to_pylist()
    return {"committed": found["committed"], "files": sorted(path.rsplit("/", 1)[-1] for path in paths)}


def test_replaced_partitions_conflict_with_the_commits_that_conflict_in_java(java, tmp_path):
    theirs = [outcome(found) for found in java.record("histories", "replacements")]
    assert [outcome(ours(tmp_path, seed)) for seed in range(HISTORIES)] == theirs


def test_compared_histories_commit_and_conflict(java):
    committed = [found["committed"] for found in java.record("histories", "replacements")]
    assert (committed.count(True), committed.count(False)) == (10, 30)
