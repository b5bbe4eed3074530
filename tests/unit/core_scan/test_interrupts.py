"""A read that waits, interrupted."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys

import pytest

from tests.unit.scan_tables import ID, schema, task

PATIENCE = 300
READER = """
import json, sys
import pyarrow as pa
from icefloe.table.scan.task_group import batch_reader
from tests.unit.scan_tables import stream
{load}

tasks, current = json.loads(sys.argv[1])
rows = stream(tasks, current)
try:
    try:
        {read}
    except Exception as error:
        assert "interrupted" in str(error), error
        # The consumer of the rows raised an exception of its own; the interrupt comes after it.
        for _ in range(1000):
            pass
    print("read")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
READS = {
    "iterator": ("", "batch_reader(rows).read_all()"),
    "pyarrow": ("", "pa.table(rows)"),
    "polars": ("import polars", "polars.DataFrame(rows)"),
}


@pytest.mark.parametrize("reads", ["iterator", "pyarrow", pytest.param("polars", marks=pytest.mark.recent_pyarrow)])
def test_interrupt_ends_a_read_that_waits(reads: str) -> None:
    load, read = READS[reads]
    if load:
        pytest.importorskip(reads)
    # A server that takes a request and never answers: once it has one the reader waits, and nobody has to guess when.
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        location = f"http://127.0.0.1:{deaf.getsockname()[1]}/rows.parquet"
        request = {**task("absent"), "file_path": location, "length": 1000, "file_size_in_bytes": 1000}
        command = [sys.executable, "-c", READER.format(load=load, read=read), json.dumps([[request], schema(ID)])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                deaf.settimeout(PATIENCE)
                connection, _ = deaf.accept()
                with connection:
                    assert connection.recv(1) != b""
                    process.send_signal(signal.SIGINT)
                    said, _ = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
    assert (said, process.returncode) == ("interrupted\n", 0)
