"""What a scan hands out: tasks to look at, and groups of tasks to send to whoever reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_GROUP_SIZE_BYTES = 128 * 1024 * 1024
OPEN_FILE_COST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class FileScanTask:
    """One data file, or a part of it, with the delete files that apply. A view of one row of a plan; it pickles.

    Attributes:
        file_path: The data file's location, as the manifests spell it.
        file_format: `PARQUET`, `AVRO` or `ORC`.
        spec_id: The partition spec it was written with.
        partition: Its partition tuple, JSON array of single values.
        record_count: Rows of the whole file, deleted ones included.
        file_size_in_bytes: Bytes of the whole file.
        start: First byte of the part.
        length: Bytes of the part.
        residual: What is left to filter row by row, predicate JSON; None when nothing is.
        delete_files: Locations of the delete files that apply.
    """

    file_path: str
    file_format: str
    spec_id: int
    partition: str
    record_count: int
    file_size_in_bytes: int
    start: int
    length: int
    residual: str | None
    delete_files: tuple[str, ...]


_TASK_COLUMNS = [
    "file_path",
    "file_format",
    "spec_id",
    "partition",
    "record_count",
    "file_size_in_bytes",
    "start",
    "length",
    "residual",
]


def tasks_of(files: pa.RecordBatch, deletes: pa.RecordBatch) -> Iterator[FileScanTask]:
    """Yield the tasks of a plan one by one; nothing is made before it is asked for."""
    paths = deletes.column("file_path")
    columns = {name: files.column(name) for name in _TASK_COLUMNS}
    applying = files.column("deletes")
    for row in range(files.num_rows):
        values: dict[str, Any] = {name: column[row].as_py() for name, column in columns.items()}
        rows = applying[row].as_py()
        yield FileScanTask(**values, delete_files=tuple(paths[one].as_py() for one in rows or ()))


@dataclass(frozen=True)
class TaskGroup:
    """Tasks that one reader works through, everything that reading needs included. It pickles and travels.

    Attributes:
        context: Read context, JSON.
        projection: Wanted columns, schema JSON.
        io_properties: Storage properties, credentials included: for readers alone, never for logs.
        files_ipc: The plan's files of this group, Arrow IPC stream.
        deletes_ipc: The delete files that apply to them, Arrow IPC stream.
    """

    context: str
    projection: str
    io_properties: dict[str, str]
    files_ipc: bytes
    deletes_ipc: bytes

    def read(self, batch_size: int = 65536) -> pa.RecordBatchReader:
        """Return the group's rows as a stream of record batches.

        Args:
            batch_size: Most rows of a batch.
        """
        stream = _core.read(
            _core.FileIo(self.io_properties),
            self.context,
            batch_from_ipc(self.files_ipc),
            batch_from_ipc(self.deletes_ipc),
            projection=self.projection,
            batch_size=batch_size,
        )
        return batch_reader(stream)

    @property
    def num_tasks(self) -> int:
        """How many tasks the group has."""
        return int(batch_from_ipc(self.files_ipc).num_rows)

    def __repr__(self) -> str:
        return f"TaskGroup({self.num_tasks} tasks)"


def batch_reader(stream: _core.ScanStream) -> pa.RecordBatchReader:
    """Return a scan's rows as a reader that raises icefloe's own exceptions.

    Through the C stream interface every failure would arrive as pyarrow's.
    """
    return pa.RecordBatchReader.from_batches(stream.schema, iter(stream))


def batch_to_ipc(batch: pa.RecordBatch) -> bytes:
    """Return one record batch as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def batch_from_ipc(data: bytes) -> pa.RecordBatch:
    """Return the record batch of an Arrow IPC stream that `batch_to_ipc` made."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


def grouped(
    files: pa.RecordBatch, deletes: pa.RecordBatch, target_size_bytes: int
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Cut a plan into runs of tasks of about equal weight, each with the delete files it needs.

    A task weighs its bytes and those of its deletes, and never less than it costs to open the files.

    Args:
        files: A plan's files.
        deletes: A plan's deletes.
        target_size_bytes: Weight of a run, >= 1.

    Raises:
        ValidationError: The target is not positive.
    """
    if target_size_bytes < 1:
        raise ValidationError(f"target size {target_size_bytes} must be at least one byte")
    if files.num_rows == 0:
        return
    weights = _weights(files, deletes)
    before = pc.subtract(pc.cumulative_sum(weights), weights)
    group = pc.divide(before, target_size_bytes)
    starts = pc.run_end_encode(group, run_end_type=pa.int64()).run_ends.to_pylist()
    first = 0
    for end in starts:
        part = files.slice(first, end - first)
        yield with_own_deletes(part, deletes)
        first = end


def with_own_deletes(files: pa.RecordBatch, deletes: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return some of a plan's files with only the deletes they need, row numbers changed accordingly."""
    column = files.column("deletes")
    lists = pa.concat_arrays([column])
    # An encoding numbers values in the order of their first appearance: just the new row numbers wanted here.
    encoded = pc.dictionary_encode(pc.list_flatten(lists))
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths).cast(pa.int32())])
    renumbered = pa.ListArray.from_arrays(offsets, encoded.indices.cast(pa.int32())).cast(column.type)
    position = files.schema.get_field_index("deletes")
    own_files = files.set_column(position, files.schema.field(position), renumbered)
    return own_files, deletes.take(encoded.dictionary)


def _weights(files: pa.RecordBatch, deletes: pa.RecordBatch) -> pa.Array:
    lists = files.column("deletes")
    flat = pa.table(
        {
            "task": pc.list_parent_indices(lists),
            "size": deletes.column("file_size_in_bytes").take(pc.list_flatten(lists)),
        }
    )
    sums = flat.group_by("task").aggregate([("size", "sum")])
    sizes = pc.fill_null(
        sums.column("size_sum")
        .combine_chunks()
        .take(
            pc.index_in(pa.array(range(files.num_rows), flat.column("task").type), sums.column("task").combine_chunks())
        ),
        0,
    )
    bytes_read = pc.add(files.column("length"), sizes)
    opened = pc.add(pc.fill_null(pc.list_value_length(lists), 0), 1).cast(pa.int64())
    return pc.max_element_wise(bytes_read, pc.multiply(opened, OPEN_FILE_COST_BYTES))
