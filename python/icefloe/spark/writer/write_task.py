"""Tasks that write the rows of one Spark partition on an executor and return the metadata of the written files.

Tasks are picklable values. The result of a task is one row whose only column has the DataFile columns of the written files as an
Arrow IPC stream; :func:`collected` concatenates the results of all tasks. A task that fails leaves files that no snapshot
refers to, which are deleted if the job fails. Their names include the task attempt, so a retry writes files of other names.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.spark.types.stored_types import to_stored_types
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.layout import WriteLayout
from icefloe.table.environment import SYSTEM
from icefloe.table.properties.core import data_file_properties
from icefloe.table.properties.definitions import WRITE_MEMORY
from icefloe.table.read_context import spec_json
from icefloe.table.scan.task_group import batch_from_ipc, batch_to_ipc
from icefloe.table.write.position_deletes import deleted_positions, of_data_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from icefloe.io import FileIO
    from icefloe.table import Table
    from icefloe.table.metadata import TableMetadata

RESULT_SCHEMA = "files binary"
SEVERAL_MATCHES = (
    "merge: several source rows change the same target row; expected one source row for each target row, got several: make the "
    "keys unique in the source, or add a condition that one of the source rows meets"
)
UNPLANNED_FILE = (
    "position deletes: a row to delete belongs to no planned data file; expected files of the sizes that their manifests state: check "
    "that no file was overwritten"
)
_POSITIONS_PER_BATCH = 65_536
_POSITIONS = "positions"


@dataclass(frozen=True, kw_only=True)
class TableTask:
    """The table of a writing task.

    Args:
        io_properties: Storage properties. Tasks have them instead of options because plans and logs show options.
        schema: Table schema JSON.
        table_location: Location of the table.
        properties: Table properties.
        operation_id: UUID in the names of the operation's files.
    """

    io_properties: dict[str, str]
    schema: str
    table_location: str
    properties: dict[str, str]
    operation_id: str


@dataclass(frozen=True, kw_only=True)
class WriteDataFiles(TableTask):
    """Write rows to data files, for ``DataFrame.mapInArrow`` and for the data source.

    Args:
        spec: Partition spec JSON.
        sort_order: Sort order JSON; None for an unsorted table.
        presorted: The rows of each Spark partition are sorted by table partition and sort order.
    """

    spec: str
    sort_order: str | None
    presorted: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all batches; yield one result, or none for an empty partition."""
        files = self.write(iter(batches))
        if files is not None:
            yield task_result(files)

    def write(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        """Write all batches and return DataFile columns; None without a batch."""
        reduce_fixed_costs()
        first = next(batches, None)
        if first is None:
            return None
        return self.write_stream(to_stored_types(first, batches, self.schema), task_ids())

    def write_unsorted(self, rows: Any, ids: tuple[int, int]) -> pa.RecordBatch:
        """Sort rows by partition and sort order, if the table has a sort order, and write them; return DataFile columns.

        Rows over the memory limit of a write spill to disk while they are sorted.

        Args:
            rows: Rows as an Arrow stream, in the types of data files.
            ids: Numbers of the partition and of the task's attempt, parts of the names of the files.
        """
        if self.sort_order is None:
            return self.write_stream(rows, ids)
        memory = WRITE_MEMORY.of(self.properties)
        properties = {**self.properties, WRITE_MEMORY.name: str(max(1, memory // 2))}
        arranged = _core.sort_rows(
            rows, schema=self.schema, spec=self.spec, sort_order=self.sort_order, memory_bytes=memory
        )
        return replace(self, presorted=True, properties=properties).write_stream(arranged, ids)

    def write_stream(self, rows: Any, ids: tuple[int, int]) -> pa.RecordBatch:
        """Write rows in the types of data files and return DataFile columns.

        Args:
            rows: Rows as an Arrow stream.
            ids: Numbers of the partition and of the task's attempt, parts of the names of the files.
        """
        partition_id, task_id = ids
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
    """Write position deletes from rows of ``file`` (int, row number in ``targets``) and ``pos`` (long).

    One task must get all deletes of a file. A position that occurs twice raises ValidationError. A new delete file repeats the
    positions of the older delete files of the same data file, which it replaces; :func:`written_positions` counts the others.

    Args:
        specs: JSON array of all partition specs.
        targets: Arrow IPC stream of ``file_path``, ``spec_id`` and ``partition`` of the data files.
        older: Arrow IPC stream of the plan's delete files that new ones may replace.
    """

    specs: str
    targets: bytes
    older: bytes

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write all batches; yield one result, or none for an empty partition."""
        reduce_fixed_costs()
        received = list(batches)
        if not received:
            return
        positions = pa.Table.from_batches(received).combine_chunks()
        _check_positions(positions)
        targets = batch_from_ipc(self.targets)
        partition_id, task_id = task_ids()
        io = _core.FileIo(self.io_properties)
        paths = targets.column("file_path")
        older = of_data_files(batch_from_ipc(self.older), paths.take(positions.column("file").unique()))
        files = _core.write_position_deletes(
            io,
            _with_older(
                _with_paths(positions.to_batches(max_chunksize=_POSITIONS_PER_BATCH), paths),
                deleted_positions(io, older),
            ),
            targets=targets,
            schema=self.schema,
            specs=self.specs,
            table_location=self.table_location,
            properties=self.properties,
            operation_id=self.operation_id,
            partition_id=partition_id,
            task_id=task_id,
        )
        yield task_result(files.replace_schema_metadata({_POSITIONS: str(positions.num_rows)}))


def data_task(
    table: Table, *, presorted: bool, operation_id: str | None = None, layout: WriteLayout | None = None
) -> WriteDataFiles:
    """Return the task that writes rows to a table.

    Args:
        table: Table.
        presorted: The rows of each Spark partition are sorted by table partition and sort order.
        operation_id: UUID in the names of the files; a new one if None.
        layout: Definition of the new files, if it is not the table's own.
    """
    table.catalog.check_location(table)
    return files_task(
        table.io, layout or WriteLayout.of(table.metadata), presorted=presorted, operation_id=operation_id
    )


def files_task(io: FileIO, layout: WriteLayout, *, presorted: bool, operation_id: str | None = None) -> WriteDataFiles:
    """Return the task that writes rows to files of a layout.

    Args:
        io: Storage of the table.
        layout: Definition of the files.
        presorted: The rows of each Spark partition are sorted by table partition and sort order.
        operation_id: UUID in the names of the files; a new one if None.
    """
    order = layout.sort_order
    return WriteDataFiles(
        io_properties=dict(io.core.properties),
        schema=layout.schema.model_dump_json(),
        spec=spec_json(layout.spec),
        sort_order=order.model_dump_json() if order.fields else None,
        table_location=layout.location,
        properties=data_file_properties(layout.properties),
        operation_id=operation_id or SYSTEM.new_uuid(),
        presorted=presorted,
    )


def task_ids() -> tuple[int, int]:
    """Return the running task's partition number and its attempt id, unique in the application; zeros outside a task."""
    context = TaskContext.get()
    return (0, 0) if context is None else (context.partitionId(), context.taskAttemptId())


def without_history(metadata: TableMetadata) -> TableMetadata:
    """Return a version of a table without snapshots and older metadata files, which tasks do not need."""
    return metadata.with_(snapshots=type(metadata.snapshots)(), metadata_log=type(metadata.metadata_log)())


def task_result(files: pa.RecordBatch) -> pa.RecordBatch:
    """Return one row that has DataFile columns as an Arrow IPC stream."""
    return pa.RecordBatch.from_arrays([pa.array([batch_to_ipc(files)], pa.binary())], names=["files"])


def collected(results: Sequence[bytes]) -> pa.RecordBatch | None:
    """Return the DataFile columns of all tasks' results as one batch; None if no file was written."""
    batches = [batch_from_ipc(data) for data in results]
    batches = [batch for batch in batches if batch.num_rows > 0]
    if not batches:
        return None
    table = pa.Table.from_batches(batches).combine_chunks()
    return table.to_batches()[0]


def row_count(files: pa.RecordBatch | None) -> int:
    """Return the number of rows of some files, DataFile columns or None."""
    return 0 if files is None else pc.sum(files.column("record_count")).as_py() or 0


def written_positions(results: Sequence[bytes]) -> int:
    """Return the number of new positions in the results of tasks that write position deletes."""
    schemas = (batch_from_ipc(data).schema for data in results)
    return sum(int(schema.metadata[_POSITIONS.encode()]) for schema in schemas)


def _check_positions(rows: pa.Table) -> None:
    if rows.column("file").null_count > 0:
        raise ValidationError(UNPLANNED_FILE)
    files = rows.column("file").to_numpy()
    positions = rows.column("pos").to_numpy()
    order = np.lexsort((positions, files))
    files, positions = files[order], positions[order]
    if bool(np.any((files[1:] == files[:-1]) & (positions[1:] == positions[:-1]))):
        raise ValidationError(SEVERAL_MATCHES)


def _with_older(new: pa.RecordBatchReader, older: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    """Return the positions of a task, then the positions of older delete files."""
    schema = new.schema
    repeated = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in older)
    return pa.RecordBatchReader.from_batches(schema, itertools.chain(new, repeated))


def _with_paths(batches: Iterable[pa.RecordBatch], paths: pa.Array) -> pa.RecordBatchReader:
    schema = pa.schema(
        [pa.field("file_path", pa.string(), nullable=False), pa.field("pos", pa.int64(), nullable=False)]
    )

    def converted() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([paths.take(batch.column("file")), batch.column("pos")], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, converted())
