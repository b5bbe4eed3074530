"""Groups of tasks, which pickle and are read anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from icefloe import _core

# Before version 21, the IPC writer of pyarrow writes a slice of a list's child with the offsets of the whole child.
_WRITES_OFFSETS_FROM_ZERO = int(pa.__version__.split(".")[0]) >= 21


@dataclass(frozen=True)
class TaskGroup:
    """Tasks that one reader reads, with everything that reading needs. A group pickles.

    Attributes:
        context: Read context, JSON.
        projection: Selected columns, schema JSON.
        io_properties: Storage properties, credentials included; they must not be logged.
        files_ipc: The plan's files of this group, Arrow IPC stream.
        deletes_ipc: The delete files that apply to them, Arrow IPC stream.
    """

    context: str
    projection: str
    io_properties: dict[str, str] = field(repr=False)
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
            self.files,
            self.deletes,
            projection=self.projection,
            batch_size=batch_size,
            extension_types=True,
        )
        return batch_reader(stream)

    @property
    def files(self) -> pa.RecordBatch:
        """One row per task (see `icefloe._core.ScanPlan.files`)."""
        return batch_from_ipc(self.files_ipc)

    @property
    def deletes(self) -> pa.RecordBatch:
        """One row per delete file."""
        return batch_from_ipc(self.deletes_ipc)

    @property
    def num_tasks(self) -> int:
        """Number of tasks in the group."""
        return int(self.files.num_rows)

    def __repr__(self) -> str:
        return f"TaskGroup({self.num_tasks} tasks)"


def batch_reader(stream: _core.ScanStream) -> pa.RecordBatchReader:
    """Return a scan's rows as a reader that raises icefloe's exceptions.

    The C stream interface would turn every failure into an exception of pyarrow.
    """
    return pa.RecordBatchReader.from_batches(stream.schema, iter(stream))


def batch_to_ipc(batch: pa.RecordBatch) -> bytes:
    """Return one record batch as an Arrow IPC stream."""
    if not _WRITES_OFFSETS_FROM_ZERO:
        batch = batch.take(pa.array(range(batch.num_rows), pa.int64()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def batch_from_ipc(data: bytes) -> pa.RecordBatch:
    """Return the record batch of an Arrow IPC stream of `batch_to_ipc`."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()
