"""Reading the rows of delete files, as files of a table of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core
from icefloe.io.arrow_values import int_scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLUMNS = ("file_path", "file_format", "record_count", "file_size_in_bytes", "data_sequence_number")


def delete_rows(
    io: _core.FileIo, deletes: pa.RecordBatch, scope: Mapping[str, pa.Array], *, context: str, projection: str
) -> _core.ScanStream:
    """Return the rows of delete files as a stream.

    Args:
        io: Storage.
        deletes: The delete files, with the columns of a plan's delete files.
        scope: Columns `spec_id` and `partition` of the files, of partition specs of the context.
        context: Read context, JSON.
        projection: Columns to read, schema JSON.
    """
    count = deletes.num_rows
    none = deletes.slice(0, 0)
    tasks = pa.RecordBatch.from_pydict(
        {
            **{name: deletes.column(name) for name in _COLUMNS},
            **scope,
            "start": pa.repeat(int_scalar(0, pa.int64()), count),
            "length": deletes.column("file_size_in_bytes"),
            "residual": pa.nulls(count, pa.string()),
        }
    )
    return _core.read(io, context, tasks, none, projection=projection)
