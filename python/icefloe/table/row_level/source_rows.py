"""The rows of a source, read once: in memory, or in a temporary file over a limit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.write.arrow_input import to_reader
from icefloe.types.arrow import storage_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def source_table(data: object, convert: Callable[[pa.Table], pa.Table], memory_limit: int) -> pa.Table:
    """Return the rows of a source as a table.

    A stream is read once. Over the limit its rows go to a temporary file, which the table maps into memory; the file is deleted with
    the table.

    Args:
        data: Anything that exports Arrow.
        convert: Conversion of a part of the rows, applied to each part.
        memory_limit: Most bytes of a stream's rows to hold in memory.
    """
    if isinstance(data, pa.Table):
        return convert(storage_table(data))
    reader = to_reader(data)
    empty = convert(storage_table(reader.schema.empty_table()))
    return _collected(_converted(reader, convert), empty.schema, memory_limit)


def _converted(reader: pa.RecordBatchReader, convert: Callable[[pa.Table], pa.Table]) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        yield from convert(storage_table(pa.Table.from_batches([batch]))).to_batches()


def _collected(batches: Iterator[pa.RecordBatch], schema: pa.Schema, memory_limit: int) -> pa.Table:
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size > memory_limit:
            return _spooled(held, batches, schema)
    return pa.Table.from_batches(held, schema)


def _spooled(held: list[pa.RecordBatch], batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    with tempfile.TemporaryDirectory(prefix="icefloe-") as directory:
        path = Path(directory) / "source.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
            for batch in held:
                writer.write_batch(batch)
            held.clear()
            for batch in batches:
                writer.write_batch(batch)
        # A mapped file outlives its name.
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
