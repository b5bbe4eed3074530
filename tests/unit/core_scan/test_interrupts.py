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
from icefloe.table.scan.task_group import batch_reader
from tests.unit.scan_tables import stream

tasks, current = json.loads(sys.argv[1])
reader = batch_reader(stream(tasks, current))
try:
    print("reads", flush=True)
    reader.read_all()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe that is a file")
def test_an_interrupt_ends_a_read_that_waits(tmp_path: Path) -> None:
    # Nobody ever writes: whoever opens the pipe to read waits.
    location = tmp_path / "pipe.parquet"
    os.mkfifo(location)
    arguments = json.dumps([[{**task("absent"), "file_path": str(location), "length": 1000}], schema(ID)])
    with subprocess.Popen([sys.executable, "-c", READER, arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reads\n"
        process.send_signal(signal.SIGINT)
        try:
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (said, process.returncode) == ("interrupted\n", 0)
