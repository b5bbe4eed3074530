"""Deleted rows, read on the driver: small enough to broadcast, they need no Spark job of their own.

The Rust reader reads the delete files as the tables they are, two columns of reserved field ids. A position counts for a data file
only if its delete file applies to that data file: sequence numbers and partitions have been judged by the plan.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE_PATH = {"id": 2147483546, "name": "file_path", "type": "string", "required": True}
_POS = {"id": 2147483545, "name": "pos", "type": "long", "required": True}
_DELETE_FILE = {"id": 2147483646, "name": "_file", "type": "string", "required": True}
_SCHEMA = {"type": "struct", "schema-id": 0, "fields": [_FILE_PATH, _POS]}
_PROJECTION = json.dumps({**_SCHEMA, "fields": [_FILE_PATH, _POS, _DELETE_FILE]})
_CONTEXT = json.dumps(
    {
        "schema": _SCHEMA,
        "schemas": [_SCHEMA],
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "case-sensitive": True,
        "properties": {},
    }
)
_CARRIED = ("file_path", "file_format", "record_count", "file_size_in_bytes", "data_sequence_number")


def deleted_positions(io: Any, files: pa.RecordBatch, deletes: pa.RecordBatch, keys: pa.Array) -> pa.Table:
    """Return the deleted rows of a plan's files.

    Args:
        io: Storage, a `_core.FileIo`.
        files: The plan's files.
        deletes: The plan's delete files, all of them position deletes.
        keys: int64, what names each of the files.

    Returns:
        Columns `key` and `pos`, both int64; a row deleted twice may stand twice.
    """
    lists = files.column("deletes")
    numbers = pc.list_flatten(lists).cast(pa.int64())
    pairs = pc.add(pc.multiply(numbers, files.num_rows), pc.list_parent_indices(lists).cast(pa.int64()))
    needed = deletes.take(pc.unique(numbers))
    delete_paths, data_paths = deletes.column("file_path"), files.column("file_path")
    parts = []
    for batch in _rows(io, needed):
        data_file = pc.index_in(batch.column("file_path"), value_set=data_paths).cast(pa.int64())
        delete_file = pc.index_in(batch.column("_file"), value_set=delete_paths).cast(pa.int64())
        pair = pc.add(pc.multiply(delete_file, files.num_rows), data_file)
        applies = pc.is_in(pair, value_set=pairs)
        key = keys.take(data_file.filter(applies))
        parts.append(pa.table({"key": key, "pos": batch.column("pos").filter(applies)}))
    empty = pa.schema([("key", pa.int64()), ("pos", pa.int64())]).empty_table()
    return pa.concat_tables([empty, *parts])


def _rows(io: Any, deletes: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the rows of delete files, each with the location of its delete file."""
    count = deletes.num_rows
    columns = {name: deletes.column(name) for name in _CARRIED}
    zeros = pa.array(np.zeros(count, dtype=np.int64))
    tasks = pa.RecordBatch.from_pydict(
        {
            **columns,
            "spec_id": zeros.cast(pa.int32()),
            "partition": pa.array(["[]"] * count, pa.string()),
            "start": zeros,
            "length": deletes.column("file_size_in_bytes"),
            "residual": pa.nulls(count, pa.string()),
            "deletes": pa.array([[]] * count, pa.list_(pa.int32())),
        }
    )
    yield from _core.read(io, _CONTEXT, tasks, deletes.slice(0, 0), projection=_PROJECTION)
