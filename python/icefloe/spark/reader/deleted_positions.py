"""The positions of deleted rows, read on the driver: a broadcast needs them there, and a Spark job would take longer.

The Rust reader reads position delete files as tables of two columns with reserved field ids. A position is returned only if its
delete file applies to the data file: the plan has compared sequence numbers and partitions.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import CorruptFileError
from icefloe.spark.reader.position_cache import PositionCache
from icefloe.table.scan.task_group import batch_to_ipc

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
_CACHE = PositionCache()
_DELETE_FILE_COLUMNS = ("file_path", "file_format", "record_count", "file_size_in_bytes", "data_sequence_number")


def deleted_positions(io: Any, files: pa.RecordBatch, deletes: pa.RecordBatch, keys: pa.Array) -> pa.Table:
    """Return the positions of the deleted rows of a plan's files.

    Args:
        io: Storage, a `_core.FileIo`.
        files: The plan's files.
        deletes: The plan's delete files, all of them position deletes.
        keys: int64 array with a key for each of the files.

    Returns:
        Columns `key` and `pos`, both int64 without nulls; a row that two delete files delete may occur twice.

    Raises:
        CorruptFileError: A position is no row of its data file.
    """
    files, deletes = _core.own_deletes(files, deletes)
    found = _CACHE.get(_key(io, files, deletes), lambda: _positions(io, files, deletes))
    return found.set_column(0, "key", keys.take(found.column("file").combine_chunks()))


def _key(io: Any, files: pa.RecordBatch, deletes: pa.RecordBatch) -> bytes:
    """Return a digest of the files, their delete files and the access to both."""
    digest = hashlib.sha256(json.dumps(sorted(dict(io.properties).items())).encode())
    for batch in (files.select(["file_path", "deletes"]), deletes.select(list(_DELETE_FILE_COLUMNS))):
        digest.update(batch_to_ipc(batch))
    return digest.digest()


def _positions(io: Any, files: pa.RecordBatch, deletes: pa.RecordBatch) -> pa.Table:
    """Return columns ``file``, the row of ``files``, and ``pos``."""
    pairs = _Pairs(files.column("deletes"), deletes.num_rows)
    delete_paths, data_paths = deletes.column("file_path"), files.column("file_path")
    parts = []
    for batch in _rows(io, deletes):
        paths = batch.column("file_path").cast(pa.string()).dictionary_encode()
        # Delete files of some writers have relative paths of data files.
        absolute = pa.array([io.absolute(path) for path in paths.dictionary.to_pylist()], pa.string())
        data_file = pc.index_in(absolute, value_set=data_paths).take(paths.indices).cast(pa.int64())
        delete_file = pc.index_in(batch.column("_file"), value_set=delete_paths).cast(pa.int64())
        applies = pairs.contain(data_file, delete_file)
        deleted = pa.table({"file": data_file.filter(applies), "pos": batch.column("pos").filter(applies)})
        _check_positions(deleted, files)
        parts.append(deleted)
    empty = pa.schema([("file", pa.int64()), ("pos", pa.int64())]).empty_table()
    return pa.concat_tables([empty, *parts])


def _check_positions(deleted: pa.Table, files: pa.RecordBatch) -> None:
    """Raise if a position is no row of its data file; a negative count of rows is unknown."""
    positions, counts = deleted.column("pos"), files.column("record_count").take(deleted.column("file"))
    beyond = pc.and_(pc.greater_equal(counts, 0), pc.greater_equal(positions, counts))
    wrong = deleted.filter(pc.or_(beyond, pc.less(positions, 0)))
    if wrong.num_rows > 0:
        file = wrong.column("file")[0].as_py()
        path, rows = files.column("file_path")[file], files.column("record_count")[file]
        raise CorruptFileError(
            f"position deletes: expected one of the {rows} rows of {path}, got position {wrong.column('pos')[0]}"
        )


class _Pairs:
    """Pairs of a data file and a delete file that applies to it, as ascending ranges of pair numbers."""

    def __init__(self, runs: pa.Array, deletes: int) -> None:
        values = pc.list_flatten(runs)
        data_file = pc.list_parent_indices(runs).to_numpy().astype(np.int64)
        self._deletes = deletes
        self._starts = data_file * deletes + pc.struct_field(values, "first").to_numpy()
        self._ends = self._starts + pc.struct_field(values, "count").to_numpy()

    def contain(self, data_file: pa.Array, delete_file: pa.Array) -> pa.Array:
        """Return a boolean array: whether each pair is one of these; false where the data file is null."""
        known = pc.is_valid(data_file).to_numpy(zero_copy_only=False)
        if len(self._starts) == 0:
            return pa.array(np.zeros(len(known), dtype=bool))
        numbers = pc.fill_null(data_file, 0).to_numpy() * self._deletes + delete_file.to_numpy()
        run = np.searchsorted(self._starts, numbers, side="right") - 1
        return pa.array(known & (run >= 0) & (numbers < self._ends[run]))


def _rows(io: Any, deletes: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the rows of delete files, each with the location of its delete file."""
    count = deletes.num_rows
    columns = {name: deletes.column(name) for name in _DELETE_FILE_COLUMNS}
    zeros = pa.array(np.zeros(count, dtype=np.int64))
    tasks = pa.RecordBatch.from_pydict(
        {
            **columns,
            "spec_id": zeros.cast(pa.int32()),
            "partition": pa.array(["[]"] * count, pa.string()),
            "start": zeros,
            "length": deletes.column("file_size_in_bytes"),
            "residual": pa.nulls(count, pa.string()),
        }
    )
    yield from _core.read(io, _CONTEXT, tasks, deletes.slice(0, 0), projection=_PROJECTION)
