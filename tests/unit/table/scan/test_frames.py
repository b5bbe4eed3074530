"""Scans as frames of libraries that may be missing."""

from __future__ import annotations

import sys

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import NotInstalledError


@pytest.mark.parametrize(
    ("library", "read"),
    [
        ("pandas", lambda scan: scan.to_pandas()),
        ("polars", lambda scan: scan.to_polars()),
        ("duckdb", lambda scan: scan.to_duckdb("t")),
    ],
)
def test_a_missing_library_is_named_with_its_extra(monkeypatch, library, read):
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]))
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(NotInstalledError, match=rf"{library} is not installed: pip install 'icefloe\[{library}\]'"):
            read(table.scan())
