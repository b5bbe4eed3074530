"""Killed Python workers, and executors that get the wheel from the job's archive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import icefloe
import icefloe.spark
import psutil
import pyspark
import pytest
from icefloe.exceptions import NotInstalledError
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

PACKAGE = Path(icefloe.__file__).parent
CLUSTER = Path(__file__).parent / "cluster_job.py"


def killing(marker: str):
    """Return a ``mapInArrow`` function that once kills all other Python workers, among them the writer."""

    def step(batches):
        for number, batch in enumerate(batches):
            yield batch
            if number == 3 and not Path(marker).exists():
                Path(marker).touch()
                for worker in psutil.Process(os.getppid()).children():
                    if worker.pid != os.getpid():
                        os.kill(worker.pid, signal.SIGKILL)

    return step


def test_write_survives_a_killed_worker(spark, new_table, tmp_path):
    marker = tmp_path / "killed"
    table = new_table(T.StructType([T.StructField("id", T.LongType()), T.StructField("s", T.StringType())]))
    rows = spark.range(0, 200_000, 1, 2).select("id", F.concat(F.lit("value "), F.col("id").cast("string")).alias("s"))
    icefloe.spark.write(rows.mapInArrow(killing(str(marker)), "id long, s string"), table)
    assert marker.exists()
    found = icefloe.spark.read(table, spark=spark)
    assert found.agg(F.count("*"), F.count_distinct("id"), F.sum("id")).first()[:] == (
        200_000,
        200_000,
        sum(range(200_000)),
    )
    assert len(table.history()) == 1


def test_workers_of_another_python_are_told_what_to_install(spark, new_table, tmp_path, monkeypatch):
    bare = tmp_path / "python3"
    packages = Path(pyspark.__file__).parent / "python" / "lib"
    path = os.pathsep.join(str(one) for one in packages.glob("*.zip"))
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    table = new_table(T.StructType([T.StructField("id", T.LongType())]))
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    with pytest.raises(NotInstalledError, match=f"no package icefloe; .* set .* PYSPARK_PYTHON to {sys.executable}"):
        icefloe.spark.write(spark.range(5), table)
    assert table.history() == []


def test_executors_use_the_wheel_of_the_job(tmp_path):
    if not (PACKAGE / "_core.abi3.so").exists():
        pytest.skip("the extension is not in the package's directory")
    wheel = tmp_path / "icefloe.zip"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in sorted(PACKAGE.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(PACKAGE.parent))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, str(CLUSTER), str(PACKAGE.parent), str(wheel), str(tmp_path / "lake")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "read 1000 rows, merged 30" in done.stdout
