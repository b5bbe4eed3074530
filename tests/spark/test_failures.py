"""Killed Python workers, and executors that get the wheel from the job's archive."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import icefloe
import icefloe.spark
import psutil
import pyarrow as pa
import pyspark
import pytest
from icefloe.exceptions import NotInstalledError
from icefloe.spark.data_source import FilesWritten
from icefloe.spark.writer import failed_job
from icefloe.spark.writer.wap import AuditSettings
from icefloe.spark.writer.write_task import data_task
from icefloe.table.scan.task_group import batch_to_ipc
from pyspark import TaskContext
from pyspark.errors import PySparkException
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


def whole_files(directory: str):
    """Return the Parquet files below a directory that end with their footer."""
    return [path for path in Path(directory).rglob("*.parquet") if path.read_bytes()[-4:] == b"PAR1"]


def failing(directory: str):
    """Return a ``mapInArrow`` function that fails in the second task, when a file of the first one is complete."""

    def step(batches):
        fails = TaskContext.get().partitionId() == 1
        end = time.monotonic() + 300
        while fails and not whole_files(directory) and time.monotonic() < end:
            time.sleep(0.05)
        for batch in batches:
            if fails:
                raise ValueError("no more rows")
            yield batch

    return step


@pytest.mark.parametrize("way", ["write", "data source"])
def test_failed_job_leaves_no_file(spark, catalog, new_table, way):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]), **{"write.distribution-mode": "none"})
    data = Path(table.location().removeprefix("file://")) / "data"
    rows = spark.range(0, 2_000, 1, 2).mapInArrow(failing(str(data)), "id long")
    icefloe.spark.register(spark)
    given = {"catalog.type": "sql", **{f"catalog.{key}": catalog.properties[key] for key in ("uri", "warehouse")}}
    source = rows.write.format("icefloe").mode("append").options(catalog="lake", **given)
    write = functools.partial(icefloe.spark.write, rows, table)
    with pytest.raises(PySparkException, match="no more rows"):
        write() if way == "write" else source.save(".".join(table.name()))
    assert list(data.rglob("*.parquet")) == []
    assert table.history() == []


def test_job_of_a_table_with_many_files_is_not_listed_when_it_fails(spark, new_table, monkeypatch):
    monkeypatch.setattr(failed_job, "MOST_LISTED_FILES", -1)
    table = new_table(T.StructType([T.StructField("id", T.LongType())]), **{"write.distribution-mode": "none"})
    data = Path(table.location().removeprefix("file://")) / "data"
    with pytest.raises(PySparkException, match="no more rows"):
        icefloe.spark.write(spark.range(0, 2_000, 1, 2).mapInArrow(failing(str(data)), "id long"), table)
    assert list(data.rglob("*.parquet")) != []


def test_abort_after_a_failed_commit_keeps_the_files(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]))
    task = data_task(table, presorted=False)
    files = batch_to_ipc(task.write(iter([pa.record_batch({"id": [1]})])))
    message = FilesWritten(files, AuditSettings())
    data = Path(table.location().removeprefix("file://")) / "data"
    failed_job.delete_files_of_failed_job(task, [message], lambda: table)
    assert len(list(data.rglob("*.parquet"))) == 1
    failed_job.delete_files_of_failed_job(task, [message, None], lambda: table)
    assert list(data.rglob("*.parquet")) == []


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
