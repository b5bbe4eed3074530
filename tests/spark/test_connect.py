"""Writes, changes, merges and reads over Spark Connect, whose sessions have no JVM gateway."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")

FOLDER = Path(__file__).parent
SERVER = FOLDER / "connect_server.py"
DEFAULTS = FOLDER / "defaults"


@contextmanager
def server(folder, environment):
    """Yield the port of a Spark Connect server, which several runs on one machine must not share."""
    log = folder / "server.log"
    with log.open("w") as errors:
        started = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            cwd=folder,
        )
    with started:  # the end of the block closes standard input, which ends the server, and waits for it
        printed = started.stdout.readline().split()
        assert printed[:1] == ["port"], log.read_text()[-3000:]
        yield int(printed[1])


@pytest.fixture(scope="module")
def environment():
    """The environment of the server and of its clients."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return {**own, "SPARK_CONF_DIR": str(DEFAULTS)}


@pytest.fixture(scope="module")
def port(tmp_path_factory, environment):
    with server(tmp_path_factory.mktemp("server"), environment) as opened:
        yield opened


@pytest.mark.parametrize("job", ["connect_job.py", "connect_statements_job.py"])
def test_jobs_run_in_a_connect_session(tmp_path, environment, port, job):
    command = [sys.executable, str(FOLDER / job), f"sc://127.0.0.1:{port}", str(tmp_path / "lake")]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=environment, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr[-3000:]
    assert "connected" in ran.stdout
