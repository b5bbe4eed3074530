"""The jobs of a row-level change, whose tasks write its files."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.types.conform import conform
from icefloe.spark.writer.arrow_map import map_in_arrow
from icefloe.spark.writer.distribution import distribute
from icefloe.spark.writer.failed_job import deleted_if_job_fails
from icefloe.spark.writer.write_task import RESULT_SCHEMA, data_task, task_result
from icefloe.table.scan.task_group import batch_from_ipc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, Row

    from icefloe.spark.dml.row_changes import RowChanges
    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.spark.writer.layout import WriteLayout
    from icefloe.spark.writer.write_task import WriteDataFiles

DATA, DELETES = "data", "deletes"
"""Kinds of results."""
_MARK = "__icefloe_mark"
_UPDATED, _INSERTED = b"updated_rows", b"inserted_rows"


@dataclass(frozen=True)
class WriteMarkedRows:
    """Write marked rows, and state how many are new versions of rows and inserted rows, for ``DataFrame.mapInArrow``.

    Args:
        write: The task that writes rows.
    """

    write: WriteDataFiles

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all batches; yield one result, or none for an empty partition."""
        marks: Counter[bool | None] = Counter()

        def rows() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                mark = batch.column(_MARK)
                marks.update({True: mark.true_count, False: mark.false_count})
                yield batch.drop_columns([_MARK])

        files = self.write.write(rows())
        if files is not None:
            stated = {_UPDATED: str(marks[True]), _INSERTED: str(marks[False])}
            yield task_result(files.replace_schema_metadata(stated))


def updated_and_inserted(results: Sequence[bytes]) -> tuple[int, int]:
    """Return the numbers of new versions of rows and of inserted rows among the marked rows that tasks have written."""
    stated = [batch_from_ipc(data).schema.metadata for data in results]
    return sum(int(one[_UPDATED]) for one in stated), sum(int(one[_INSERTED]) for one in stated)


def marked(rows: DataFrame, is_updated: bool | None) -> DataFrame:
    """Return rows with a mark: true for new versions of rows, false for inserted rows, null for remaining rows."""
    return rows.withColumn(_MARK, F.lit(is_updated).cast("boolean"))


def new_rows(changes: RowChanges) -> DataFrame | None:
    """Return the new versions of updated rows and the inserted rows, marked; None without any."""
    schema = changes.target.table.schema()
    frames = []
    if changes.updated is not None:
        frames.append(marked(conform(changes.updated.drop(FILE, POSITION), schema), True))
    if changes.inserted is not None:
        frames.append(marked(conform(changes.inserted, schema), False))
    return functools.reduce(lambda left, right: left.unionByName(right), frames) if frames else None


def written_rows(rows: DataFrame, target: PlannedTarget, layout: WriteLayout, operation_id: str) -> DataFrame:
    """Return the results of tasks that write rows, or marked rows, as data files."""
    distribution = distribute(rows, layout)
    task = data_task(target.table, presorted=distribution.presorted, operation_id=operation_id, layout=layout)
    write = WriteMarkedRows(task) if _MARK in rows.columns else task
    return map_in_arrow(distribution.frame, write, RESULT_SCHEMA).withColumn("kind", F.lit(DATA))


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
