"""Results of the tasks of maintenance jobs, and the table version that tasks get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.spark.writer.arrow_map import worker_errors

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata

NUMBERED_RESULT = "number int, result binary"
"""Columns of a job's results: the number of the work, and its result."""


def numbered_result(number: int, result: bytes) -> pa.RecordBatch:
    """Return the result of a piece of work as one row."""
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int32()), pa.array([result], pa.binary())], names=["number", "result"]
    )


def results_in_order(frame: Any) -> list[bytes]:
    """Run a job and return its results by ascending numbers."""
    with worker_errors():
        rows = frame.collect()
    return [bytes(row[1]) for row in sorted(rows, key=lambda row: row[0])]


def without_history(metadata: TableMetadata) -> TableMetadata:
    """Return a version of a table without snapshots and older metadata files, which tasks do not need."""
    return metadata.with_(snapshots=type(metadata.snapshots)(), metadata_log=type(metadata.metadata_log)())
