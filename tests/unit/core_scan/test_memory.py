"""What a scan holds in memory while its consumer takes its time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.unit.scan_tables import NAME, arrow_field, schema, task, write

ROWS = 120_000
ROW_BYTES = 3_000
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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is asked of Linux")
@pytest.mark.parametrize("views", [False, True])
def test_wide_rows_pass_through_little_memory(tmp_path: Path, views: bool) -> None:
    text = "".join(chr(97 + n * n % 26) for n in range(ROW_BYTES))
    column = {arrow_field(2, "name", pa.string()): [f"{n}{text}" for n in range(ROWS)]}
    location = write(tmp_path / "wide.parquet", column, use_dictionary=False, compression="zstd")
    del column
    arguments = json.dumps([[task(location)], schema(NAME), views])
    done = subprocess.run([sys.executable, "-c", READER, arguments], capture_output=True, text=True, check=True)
    rows, growth = json.loads(done.stdout)
    assert rows == ROWS
    assert growth < ROWS * ROW_BYTES / 2
