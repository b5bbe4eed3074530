"""Merge-on-read updates in one pass: a task writes the position deletes of rows together with their new versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.spark.dml.written_files import DATA, DELETES
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.types.stored_types import to_stored_types
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.write_task import RESULT_SCHEMA, task_ids, task_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.spark.writer.write_task import WriteDataFiles, WritePositionDeletes

REPLACED_SCHEMA = f"{RESULT_SCHEMA}, kind string"


@dataclass(frozen=True, kw_only=True)
class ReplaceRows:
    """Write the position deletes and the new versions of rows, for ``DataFrame.mapInArrow``.

    One task must get all rows of a data file. Rows have the number of the file, the position of the old version, and the table's columns.

    Args:
        deletes: The task that writes position deletes.
        rows: The task that writes rows.
    """

    deletes: WritePositionDeletes
    rows: WriteDataFiles

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the result of each writing task, or none for an empty partition."""
        reduce_fixed_costs()
        positions: list[pa.RecordBatch] = []
        values = _values(batches, positions)
        first = next(values, None)
        if first is None:
            return
        rows = to_stored_types(first, values, self.rows.schema)
        yield _of_kind(task_result(self.rows.write_unsorted(rows, task_ids())), DATA)
        for result in self.deletes(positions):
            yield _of_kind(result, DELETES)


def _values(batches: Iterable[pa.RecordBatch], positions: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the table's columns, and add the places of the rows to a list."""
    for batch in batches:
        if batch.num_rows > 0:
            positions.append(
                pa.RecordBatch.from_arrays([batch.column(FILE), batch.column(POSITION)], names=["file", "pos"])
            )
            yield batch.drop_columns([FILE, POSITION])


def _of_kind(result: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*result.columns, pa.array([kind])], names=[*result.schema.names, "kind"])
