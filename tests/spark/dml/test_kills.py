"""Drivers and workers killed in each phase of a row-level change: the table has the rows of before or of after, and can be changed again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform
from icefloe.types import LongType, NestedField
from py4j.protocol import Py4JError
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

JOB = Path(__file__).parent / "kill_job.py"
SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "n", LongType()))
BEFORE = dict.fromkeys(range(100), 0)
AFTER = {
    "delete": {one: 0 for one in range(100) if one % 10 != 3},
    "update": {one: int(one % 10 == 3) for one in range(100)},
    "merge": {one: -1 if one >= 90 else 0 for one in range(110)},
}


def rows_of(table):
    found = table.refresh().scan().to_arrow().to_pydict()
    assert len(set(found["id"])) == len(found["id"])
    return dict(zip(found["id"], found["n"], strict=True))


@pytest.mark.parametrize(
    ("verb", "mode", "phase", "commits"),
    [
        ("delete", "merge-on-read", "staging", False),
        ("update", "copy-on-write", "before", False),
        ("merge", "merge-on-read", "after", True),
    ],
)
def test_driver_killed_in_a_phase_leaves_the_rows_of_before_or_after(tmp_path, verb, mode, phase, commits):
    catalog = load_catalog(
        "lake", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path / "warehouse")
    )
    catalog.create_namespace("db")
    modes = {f"write.{one}.mode": mode for one in AFTER}
    spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(2), "id_bucket"))
    table = catalog.create_table("db.t", SCHEMA, partition_spec=spec, properties=modes)
    table.append(pa.table({"id": list(BEFORE), "n": list(BEFORE.values())}))
    done = subprocess.run(
        [sys.executable, str(JOB), str(tmp_path), verb, phase],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout.strip()) == (-signal.SIGKILL, "ready"), done.stderr[-3000:]
    assert rows_of(table) == (AFTER[verb] if commits else BEFORE)
    assert len(table.history()) == 1 + commits
    table.delete("id >= 0 and id < 5")
    assert len(rows_of(table)) == len(AFTER[verb] if commits else BEFORE) - 5


def killed(marker, times):
    """Return a UDF that adds 1, and kills its worker as long as fewer than ``times`` workers were killed."""

    @F.udf("bigint")
    def value(n):
        killed = len(list(marker.iterdir()))
        if killed < times:
            (marker / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return n + 1

    return value


@pytest.fixture
def table(new_table):
    """A table of ids 0 to 99 in two files."""
    fields = [T.StructField("id", T.LongType()), T.StructField("n", T.LongType())]
    made = new_table(T.StructType(fields))
    for ids in (range(50), range(50, 100)):
        made.append(pa.table({"id": list(ids), "n": [0] * 50}))
    return made


def test_update_with_a_killed_worker_changes_each_row_once(spark, table, tmp_path):
    result = icefloe.spark.update(table, {"n": killed(tmp_path, 1)("n")}, "id % 10 = 3", spark=spark)
    assert (len(list(tmp_path.iterdir())), result.rows_updated) == (1, 10)
    assert rows_of(table) == AFTER["update"]


def test_update_whose_workers_are_all_killed_leaves_the_table(spark, table, tmp_path):
    with pytest.raises(Py4JError):
        icefloe.spark.update(table, {"n": killed(tmp_path, 100)("n")}, "id % 10 = 3", spark=spark)
    assert rows_of(table) == BEFORE
    assert len(table.history()) == 2
