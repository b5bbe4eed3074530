"""The jobs of a row-level change, whose tasks write its files."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.spark.reader.native import FILE, POSITION
from icefloe.spark.types.conform import conform
from icefloe.spark.writer.arrow_map import map_in_arrow
from icefloe.spark.writer.distribution import distribute
from icefloe.spark.writer.failed_job import deleted_if_job_fails
from icefloe.spark.writer.write_task import RESULT_SCHEMA, data_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, Row

    from icefloe.spark.dml.row_changes import RowChanges
    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.spark.writer.layout import WriteLayout

DATA, DELETES = "data", "deletes"
"""Kinds of results."""


def new_rows(changes: RowChanges) -> DataFrame | None:
    """Return the new versions of updated rows and the inserted rows; None without any."""
    schema = changes.target.table.schema()
    frames = []
    if changes.updated is not None:
        frames.append(conform(changes.updated.drop(FILE, POSITION), schema))
    if changes.inserted is not None:
        frames.append(conform(changes.inserted, schema))
    return functools.reduce(lambda left, right: left.unionByName(right), frames) if frames else None


def written_rows(rows: DataFrame, target: PlannedTarget, layout: WriteLayout, operation_id: str) -> DataFrame:
    """Return the results of tasks that write rows as data files."""
    distribution = distribute(rows, layout)
    task = data_task(target.table, presorted=distribution.presorted, operation_id=operation_id, layout=layout)
    return map_in_arrow(distribution.frame, task, RESULT_SCHEMA).withColumn("kind", F.lit(DATA))


def run(target: PlannedTarget, parts: Sequence[DataFrame], operation_id: str) -> list[Row]:
    """Run the writing tasks in one job and return their results."""
    if not parts:
        return []
    table = target.table
    with deleted_if_job_fails(table.io, table.metadata, operation_id):
        return functools.reduce(lambda left, right: left.union(right), parts).collect()


def results_of(results: Sequence[Row], kind: str) -> list[bytes]:
    """Return the results of one kind."""
    return [row["files"] for row in results if row["kind"] == kind]


def row_count(files: pa.RecordBatch | None) -> int:
    """Return the number of rows of some files."""
    return 0 if files is None else pc.sum(files.column("record_count")).as_py()
