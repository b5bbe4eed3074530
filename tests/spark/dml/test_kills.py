"""Drivers and workers killed in each phase of each operation: the table has the rows of before or of after, and can be changed again."""

from __future__ import annotations

import itertools
import os
import random
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

JOB = Path(__file__).parent / "kill_job.py"
SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "n", LongType()))
BEFORE = dict.fromkeys(range(100), 0)
OVERWRITTEN = dict.fromkeys(range(90, 110), -1)
AFTER = {
    "delete": {one: 0 for one in range(100) if one % 10 != 3},
    "update": {one: int(one % 10 == 3) for one in range(100)},
    "merge": {one: -1 if one >= 90 else 0 for one in range(110)},
    "append": {one: -1 if one >= 100 else 0 for one in range(110)},
    "overwrite": OVERWRITTEN,
    "overwrite-partitions": OVERWRITTEN,
}
ROW_MODES = ("copy-on-write", "merge-on-read")
VERBS = [
    *itertools.product(("delete", "update", "merge"), ROW_MODES),
    *(("write", mode) for mode in ("append", "overwrite", "overwrite-partitions")),
]
PHASES = ("plan", "tasks", "before", "after")
"""Before the first job of Spark; while tasks write files; before the commit; after it."""
LONGEST = 3.0
"""Longest time in seconds from the start of an operation to a kill at a random moment."""


def pytest_generate_tests(metafunc):
    """Kill each verb in one phase, each phase several times; all of them and random moments by option."""
    if "phase" in metafunc.fixturenames:
        some = [(*verb, PHASES[number % len(PHASES)]) for number, verb in enumerate(VERBS)]
        every = [(*verb, phase) for verb in VERBS for phase in PHASES]
        metafunc.parametrize(("verb", "mode", "phase"), every if metafunc.config.getoption("--all-kills") else some)
    if "moment" in metafunc.fixturenames:
        chance = random.Random(metafunc.config.getoption("--first-history"))
        moments = range(metafunc.config.getoption("--moment-kills"))
        metafunc.parametrize(
            ("verb", "mode", "moment"), [(*VERBS[one % len(VERBS)], chance.uniform(0, LONGEST)) for one in moments]
        )


def rows_of(table):
    found = table.refresh().scan().to_arrow().to_pydict()
    assert len(set(found["id"])) == len(found["id"])
    return dict(zip(found["id"], found["n"], strict=True))


class Killed:
    """A table of ids 0 to 99 in two partitions, and an operation on it in a driver that is killed."""

    def __init__(self, spark, folder, verb, mode):
        self.folder, self.verb, self.mode = folder, verb, mode
        self.after = AFTER[mode if verb == "write" else verb]
        self.gateway = spark.sparkContext._gateway.gateway_parameters
        catalog = load_catalog(
            "lake", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"{folder}/warehouse"
        )
        catalog.create_namespace("db")
        modes = {f"write.{one}.mode": mode for one in ("delete", "update", "merge") if mode in ROW_MODES}
        spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(2), "id_bucket"))
        self.table = catalog.create_table("db.t", SCHEMA, partition_spec=spec, properties=modes)
        self.table.append(pa.table({"id": list(BEFORE), "n": list(BEFORE.values())}))

    def start(self, phase):
        """Start the driver and wait until its operation begins."""
        jvm = {
            "PYSPARK_GATEWAY_PORT": str(self.gateway.port),
            "PYSPARK_GATEWAY_SECRET": self.gateway.auth_token,
        }
        command = [sys.executable, str(JOB), str(self.folder), self.verb, self.mode, phase]
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, cwd=self.folder, env={**os.environ, **jvm}
            )
        assert process.stdout.readline().strip() == b"ready", (self.folder / "log").read_text()[-3000:]
        return process

    def check(self, *, committed):
        """Check that all of the operation is in the table, or nothing, and that the table can be changed."""
        expected = self.after if committed else BEFORE
        assert rows_of(self.table) == expected
        assert len(self.table.history()) == 1 + committed
        self.table.delete("id % 10 = 5")
        assert rows_of(self.table) == {one: n for one, n in expected.items() if one % 10 != 5}


def test_driver_killed_in_a_phase_leaves_the_rows_of_before_or_after(spark, tmp_path, verb, mode, phase):
    killed = Killed(spark, tmp_path, verb, mode)
    assert killed.start(phase).wait() == -signal.SIGKILL, (tmp_path / "log").read_text()[-3000:]
    killed.check(committed=phase == "after")


def test_driver_killed_at_a_moment_leaves_the_rows_of_before_or_after(spark, tmp_path, verb, mode, moment):
    killed = Killed(spark, tmp_path, verb, mode)
    process = killed.start("moment")
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    killed.check(committed=len(killed.table.refresh().history()) == 2)


def killer(marker, times):
    """Return a UDF that returns its argument, and kills its worker as long as fewer than ``times`` workers were killed."""

    @F.udf("bigint")
    def value(n):
        # Workers that run side by side claim the numbered files one by one, so none is killed beyond the count.
        for number in range(times):
            try:
                (marker / str(number)).touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return n

    return value


def change(spark, table, verb, mode, value):
    """Run an operation one of whose columns a UDF computes."""
    source = spark.range(90, 110, numPartitions=1).select("id", value(F.lit(-1)).alias("n"))
    if verb == "delete":
        icefloe.spark.delete_from(table, value("id") % 10 == 3, spark=spark)
    elif verb == "update":
        icefloe.spark.update(table, {"n": value("n") + 1}, "id % 10 = 3", spark=spark)
    elif verb == "merge":
        merge = icefloe.spark.merge_into(table, source, on=["id"])
        merge.when_matched_update_all().when_not_matched_insert_all().execute()
    else:
        icefloe.spark.write(source.where("id >= 100") if mode == "append" else source, table, mode)


@pytest.mark.parametrize(("verb", "mode"), VERBS[1::2])
def test_killed_worker_is_replaced_and_each_row_changes_once(spark, tmp_path, verb, mode):
    killed = Killed(spark, tmp_path, verb, mode)
    marker = tmp_path / "marker"
    marker.mkdir()
    change(spark, killed.table, verb, mode, killer(marker, 1))
    assert len(list(marker.iterdir())) == 1
    killed.check(committed=True)


@pytest.mark.parametrize(("verb", "mode"), VERBS[::2])
def test_operation_whose_workers_are_all_killed_leaves_the_table(spark, tmp_path, verb, mode):
    killed = Killed(spark, tmp_path, verb, mode)
    marker = tmp_path / "marker"
    marker.mkdir()
    with pytest.raises(Py4JError):
        change(spark, killed.table, verb, mode, killer(marker, 100))
    killed.check(committed=False)
