"""Files below a table's directories, listed by executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.spark.session import active_session
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.arrow_map import worker_errors
from icefloe.table.maintenance.locations import table_roots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.io import FileIO
    from icefloe.table import Table

_LEVELS = 2
_MOST_TASKS = 256
_SCHEMA = "file_path string, last_modified timestamp, size bigint"
_COLUMNS = pa.schema([("file_path", pa.string()), ("last_modified", pa.timestamp("us", "UTC")), ("size", pa.int64())])


@dataclass(frozen=True)
class ListPrefixes:
    """List directories, for ``DataFrame.mapInArrow`` over the numbers of the directories.

    Args:
        io: Storage of the table.
        prefixes: The directories.
    """

    io: FileIO
    prefixes: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the files below each directory."""
        reduce_fixed_costs()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _listing(self.io, self.prefixes[number])


def listed_by_executors(spark: Any, table: Table, location: str | None) -> pa.Table:
    """Return the files below a table's directories, as an inventory of ``remove_orphan_files``.

    The driver divides the directories, down to two levels, as long as a directory has only directories in it. Executors list
    everything below each part.

    Args:
        spark: Session.
        table: The table.
        location: The only directory to list, without the table's own.
    """
    roots = table_roots(table.metadata) if location is None else (location.rstrip("/"),)
    prefixes = tuple(one for root in roots for one in _divided(table.io, root, _LEVELS))
    count = len(prefixes)
    session = active_session(spark)
    frame = session.range(0, count, 1, min(count, _MOST_TASKS)).mapInArrow(ListPrefixes(table.io, prefixes), _SCHEMA)
    with worker_errors():
        listed: pa.Table = frame.toArrow()
    return listed.cast(_COLUMNS)


def _divided(io: FileIO, directory: str, levels: int) -> Iterator[str]:
    """Yield directories that together have all files of a directory."""
    directories, files = io.core.children(directory) if levels > 0 else ([], [])
    if files or not directories:
        yield directory
        return
    for name in directories:
        yield from _divided(io, f"{directory}/{name}", levels - 1)


def _listing(io: FileIO, directory: str) -> pa.RecordBatch:
    files = io.core.list(f"{directory}/")
    modified = files.column("last_modified_ms").cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))
    return pa.RecordBatch.from_arrays([files.column("location"), modified, files.column("size")], schema=_COLUMNS)
