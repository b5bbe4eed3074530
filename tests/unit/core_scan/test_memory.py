"""The memory of a scan whose consumer is slow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.unit.scan_tables import NAME, arrow_field, field, schema, task, write

ROWS = 120_000
ROW_BYTES = 3_000
# Decoders of all columns side by side hold two pages of each and more, decoders of a few columns at a time one page.
COLUMNS = 96
PAGE_BYTES = 1 << 20
COLUMN_ROWS = 4 * PAGE_BYTES // 8
READER = """
import json, pathlib, re, sys
import pyarrow as pa
from tests.unit.scan_tables import stream

status = pathlib.Path("/proc/self/status")
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) * 1024
tasks, current, views = json.loads(sys.argv[1])
batches = iter(pa.RecordBatchReader.from_stream(stream(tasks, current, string_views=views, threads=2)))
before, rows = peak(), 0
for batch in batches:
    rows += batch.num_rows
    del batch
print(json.dumps([rows, peak() - before]))
"""


linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


@linux
@pytest.mark.parametrize("views", [False, True])
def test_wide_rows_pass_through_little_memory(tmp_path: Path, views: bool) -> None:
    text = "".join(chr(97 + n * n % 26) for n in range(ROW_BYTES))
    column = {arrow_field(2, "name", pa.string()): [f"{n}{text}" for n in range(ROWS)]}
    location = write(tmp_path / "wide.parquet", column, use_dictionary=False, compression="zstd")
    del column
    rows, growth = read(location, schema(NAME), views)
    assert rows == ROWS
    assert growth < ROWS * ROW_BYTES / 2


@linux
@pytest.mark.recent_pyarrow
@pytest.mark.parametrize("views", [False, True])
def test_many_columns_with_large_pages_pass_through_little_memory(tmp_path: Path, views: bool) -> None:
    noise = pa.Array.from_buffers(pa.float64(), COLUMN_ROWS, [None, pa.py_buffer(os.urandom(COLUMN_ROWS * 8))])
    columns = {arrow_field(n + 1, f"c{n}", pa.float64()): noise for n in range(COLUMNS)}
    pages = {"use_dictionary": False, "data_page_size": PAGE_BYTES, "max_rows_per_page": COLUMN_ROWS}
    location = write(tmp_path / "columns.parquet", columns, compression="zstd", **pages)
    del columns, noise
    rows, growth = read(location, schema(*(field(n + 1, f"c{n}", "double") for n in range(COLUMNS))), views)
    assert rows == COLUMN_ROWS
    assert growth < 1.7 * COLUMNS * PAGE_BYTES


def read(location: str, current: dict[str, Any], views: bool) -> tuple[int, int]:
    """Rows that a process of its own reads from a file, and by how much its peak memory grows."""
    arguments = json.dumps([[task(location)], current, views])
    done = subprocess.run([sys.executable, "-c", READER, arguments], capture_output=True, text=True, check=True)
    rows, growth = json.loads(done.stdout)
    return rows, growth
