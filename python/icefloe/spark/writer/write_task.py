"""What executors run: write the rows of one Spark partition, and say what was written.

Tasks are plain picklable values. A task's answer is one row whose only column holds the written files' DataFile columns as an
Arrow IPC stream; :func:`collected` puts the answers of all tasks together. A task that fails leaves its files behind, unreferenced:
their names carry the task attempt, so a retry never meets them.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.spark.types.stored_types import to_stored_types
from icefloe.table.scan.task_group import batch_from_ipc, batch_to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from icefloe.table import Table

ANSWER_SCHEMA = "files binary"
SEVERAL_MATCHES = "Several source rows change the same target row: make the source's keys unique"
_POSITIONS_PER_BATCH = 65_536


@dataclass(frozen=True, kw_only=True)
class TableTask:
    """What every writing task knows of its table.

    Args:
        io_properties: Storage properties; they travel here and not in options, which show up in plans and logs.
        schema: Table schema JSON.
        table_location: Location of the table.
        properties: Table properties.
        operation_id: UUID that names the files of this operation.
    """

    io_properties: dict[str, str]
    schema: str
    table_location: str
    properties: dict[str, str]
    operation_id: str


@dataclass(frozen=True, kw_only=True)
class WriteDataFiles(TableTask):
    """Write rows to data files; for ``DataFrame.mapInArrow`` and the data source alike.

    Args:
        spec: Partition spec JSON.
        sort_order: Sort order JSON, None if unsorted.
        presorted: Each partition's rows are sorted by (table partition, sort order).
    """

    spec: str
    sort_order: str | None
    presorted: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all batches; yield one answer, or none for an empty partition."""
        files = self.write(iter(batches))
        if files is not None:
            yield answer(files)

    def write(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        """Write all batches and return DataFile columns, None if there was not one batch."""
        first = next(batches, None)
        if first is None:
            return None
        rows = to_stored_types(first, batches, self.schema)
        partition_id, task_id = task_ids()
        return _core.write_data_files(
            _core.FileIo(self.io_properties),
            rows,
            schema=self.schema,
            spec=self.spec,
            sort_order=self.sort_order,
            table_location=self.table_location,
            properties=self.properties,
            operation_id=self.operation_id,
            partition_id=partition_id,
            task_id=task_id,
            presorted=self.presorted,
        )


@dataclass(frozen=True, kw_only=True)
class WritePositionDeletes(TableTask):
    """Write position deletes: rows of ``file`` (row number in ``targets``, int) and ``pos`` (long).

    All deletes of a file must come to one task; a place that comes twice is refused.

    Args:
        specs: JSON array of all partition specs.
        targets: Arrow IPC stream of ``file_path``, ``spec_id`` and ``partition`` of the files that rows may be deleted from.
    """

    specs: str
    targets: bytes

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all batches; yield one answer, or none for an empty partition."""
        arrived = list(batches)
        if not arrived:
            return
        places = pa.Table.from_batches(arrived).combine_chunks()
        _check_places(places)
        targets = batch_from_ipc(self.targets)
        partition_id, task_id = task_ids()
        files = _core.write_position_deletes(
            _core.FileIo(self.io_properties),
            _positions(places.to_batches(max_chunksize=_POSITIONS_PER_BATCH), targets.column("file_path")),
            targets=targets,
            schema=self.schema,
            specs=self.specs,
            table_location=self.table_location,
            properties=self.properties,
            operation_id=self.operation_id,
            partition_id=partition_id,
            task_id=task_id,
        )
        yield answer(files)


def data_task(table: Table, *, presorted: bool, operation_id: str | None = None) -> WriteDataFiles:
    """Return the executors' part of a write to a table."""
    table.catalog.check_location(table)
    order = table.sort_order()
    return WriteDataFiles(
        io_properties=dict(table.io.core.properties),
        schema=table.schema().model_dump_json(),
        spec=table.spec().model_dump_json(),
        sort_order=order.model_dump_json() if order.fields else None,
        table_location=table.location(),
        properties=dict(table.properties),
        operation_id=operation_id or str(uuid.uuid4()),
        presorted=presorted,
    )


def task_ids() -> tuple[int, int]:
    """Return the running task's partition number and its attempt id, unique in the application; zeros outside of a task."""
    context = TaskContext.get()
    return (0, 0) if context is None else (context.partitionId(), context.taskAttemptId())


def answer(files: pa.RecordBatch) -> pa.RecordBatch:
    """Return a task's answer: one row that holds DataFile columns."""
    return pa.RecordBatch.from_arrays([pa.array([batch_to_ipc(files)], pa.binary())], names=["files"])


def collected(answers: Sequence[bytes]) -> pa.RecordBatch | None:
    """Return the DataFile columns of all tasks' answers together, None if nothing was written."""
    batches = [batch_from_ipc(data) for data in answers]
    batches = [batch for batch in batches if batch.num_rows > 0]
    if not batches:
        return None
    table = pa.Table.from_batches(batches).combine_chunks()
    return table.to_batches()[0]


def _check_places(places: pa.Table) -> None:
    if places.column("file").null_count > 0:
        raise ValidationError("A row to be deleted is in none of the files of the plan")
    files = places.column("file").to_numpy()
    positions = places.column("pos").to_numpy()
    order = np.lexsort((positions, files))
    files, positions = files[order], positions[order]
    if bool(np.any((files[1:] == files[:-1]) & (positions[1:] == positions[:-1]))):
        raise ValidationError(SEVERAL_MATCHES)


def _positions(batches: Iterable[pa.RecordBatch], paths: pa.Array) -> pa.RecordBatchReader:
    schema = pa.schema(
        [pa.field("file_path", pa.string(), nullable=False), pa.field("pos", pa.int64(), nullable=False)]
    )

    def located() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([paths.take(batch.column("file")), batch.column("pos")], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, located())
