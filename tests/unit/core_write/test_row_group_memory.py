"""The pages of an open row group, which wait in a temporary file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.core_write.write_cases import field, schema_of, write

COLUMNS = ("a", "b", "c")
SCHEMA = schema_of(*(field(number + 1, name, "long") for number, name in enumerate(COLUMNS)))
BATCH_ROWS = 64 * 1024
BATCH_BYTES = len(COLUMNS) * 8 * BATCH_ROWS
BATCHES = 64
WRITER = """
import json, pathlib, re, sys
from tests.unit.core_write import test_row_group_memory as here

status = pathlib.Path("/proc/self/status")
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) * 1024
here.write(sys.argv[1], here.noise(1), here.SCHEMA)
before = peak()
(written,) = here.write(sys.argv[2], here.noise(here.BATCHES), here.SCHEMA)
print(peak() - before, written["file_path"])
"""


def noise(batches: int) -> pa.RecordBatchReader:
    """Return batches of numbers that no encoding makes smaller."""
    schema = pa.schema([pa.field(name, pa.int64()) for name in COLUMNS])
    column = pa.Array.from_buffers(pa.int64(), BATCH_ROWS, [None, pa.py_buffer(os.urandom(8 * BATCH_ROWS))])

    def rows() -> Iterator[pa.RecordBatch]:
        for _ in range(batches):
            yield pa.record_batch([column] * len(COLUMNS), schema)

    return pa.RecordBatchReader.from_batches(schema, rows())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_large_row_group_passes_through_little_memory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "small"), str(tmp_path / "large")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    growth, path = done.stdout.split()
    metadata = pq.ParquetFile(path).metadata
    assert (metadata.num_row_groups, metadata.num_rows) == (1, BATCHES * BATCH_ROWS)
    assert int(growth) < BATCHES * BATCH_BYTES / 2


@pytest.mark.parametrize("has_directory", [True, False])
def test_file_is_the_same_where_pages_cannot_leave_memory(tmp_path: Path, monkeypatch, has_directory: bool) -> None:
    rows = pa.Table.from_batches(noise(12))
    (expected,) = write(tmp_path / "expected", rows, SCHEMA)
    temporary = tmp_path / "temporary"
    monkeypatch.setenv("TMPDIR", str(temporary))
    if has_directory:
        temporary.mkdir()
    (written,) = write(tmp_path / "written", rows, SCHEMA)
    assert Path(written["file_path"]).read_bytes() == Path(expected["file_path"]).read_bytes()
    assert pq.read_table(written["file_path"]).equals(rows.cast(pq.read_schema(written["file_path"])))
    assert temporary.exists() == has_directory
    assert not has_directory or not list(temporary.iterdir())
