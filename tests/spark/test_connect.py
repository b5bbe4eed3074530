"""Writes, changes, merges and reads over Spark Connect, whose sessions have no JVM gateway."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")

JOB = Path(__file__).parent / "connect_job.py"
DEFAULTS = Path(__file__).parent / "defaults"


def test_connect_session_writes_deletes_merges_and_reads(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    environment["SPARK_CONF_DIR"] = str(DEFAULTS)
    command = [sys.executable, str(JOB), str(tmp_path / "lake")]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=environment, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr[-3000:]
    assert "connected" in ran.stdout
