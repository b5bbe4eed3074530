"""A read that waits, interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.scan_tables import ID, schema, task

READER = """
import json, sys
import pyarrow as pa
from icefloe.table.scan.task_group import batch_reader
from tests.unit.scan_tables import stream

tasks, current = json.loads(sys.argv[1])
rows = stream(tasks, current)
try:
    print("reads", flush=True)
    {read}
    print("read")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
# Others raise an exception of their own first.
WAITING = """
    try:
        {}
    except Exception as error:
        assert "interrupted" in str(error)
        for _ in range(1000):
            pass
"""
READS = {
    "iterator": "batch_reader(rows).read_all()",
    # Which takes the interrupt that is noted again, and shows it.
    "pyarrow": WAITING.format("pa.table(rows)") + "        raise KeyboardInterrupt from error",
    "polars": WAITING.format("import polars; polars.DataFrame(rows)"),
    "duckdb": WAITING.format("import duckdb; duckdb.sql('SELECT count(*) FROM rows').fetchall()"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe that is a file")
@pytest.mark.parametrize("reads", READS)
def test_an_interrupt_ends_a_read_that_waits(tmp_path: Path, reads: str) -> None:
    if reads in ("polars", "duckdb"):
        pytest.importorskip(reads)
    # Nobody ever writes: whoever opens the pipe to read waits.
    location = tmp_path / "pipe.parquet"
    os.mkfifo(location)
    arguments = json.dumps([[{**task("absent"), "file_path": str(location), "length": 1000}], schema(ID)])
    reader = READER.format(read=READS[reads])
    with subprocess.Popen([sys.executable, "-c", reader, arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reads\n"
        process.send_signal(signal.SIGINT)
        try:
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (said, process.returncode) == ("interrupted\n", 0)
