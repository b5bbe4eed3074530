"""Deletion of the files that finished tasks of a failed or interrupted job wrote."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import IcebergError
from icefloe.spark.writer.write_task import collected
from icefloe.table.locations import SimpleLocationProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from icefloe.io import FileIO
    from icefloe.spark.writer.write_task import TableTask
    from icefloe.table import Table
    from icefloe.table.metadata import TableMetadata

MOST_LISTED_FILES = 100_000
"""Storage lists 1,000 files in a request, so that the files of a larger table would delay the error by more than seconds."""


@contextmanager
def deleted_if_job_fails(io: FileIO, metadata: TableMetadata, operation_id: str) -> Iterator[None]:
    """Delete the files of an operation whose job fails or is interrupted in the block: nothing has committed them yet.

    Spark drops the results of the tasks that finished before, so the directory of data files is listed for names with the id of the
    operation. Deletion is best effort: files that a task completes later, and those of tables of more than 100,000 data files, are left
    to `remove_orphan_files`.

    Args:
        io: Storage of the table.
        metadata: The version of the table that the files are written for.
        operation_id: The UUID in the names of the files.
    """
    try:
        yield
    except BaseException:
        with suppress(IcebergError):
            if _data_files(metadata) <= MOST_LISTED_FILES:
                _delete_files(io, metadata, operation_id)
        raise


def delete_files_of_failed_job(task: TableTask, messages: Sequence[Any], load: Callable[[], Table]) -> None:
    """Delete the files of a job that failed, where Spark calls the `abort` of a Python data source.

    Spark aborts after a failed job and after a failed commit, and commits only if every task has a message. Without the message of a
    task, no commit was sent. Deletion is best effort, as in :func:`deleted_if_job_fails`.

    Args:
        task: The task that wrote the files.
        messages: A message with `files`, DataFile columns as an Arrow IPC stream or None, for each finished task; None for the others.
        load: Loads the table.
    """
    finished = [one for one in messages if one is not None]
    if len(finished) == len(messages):
        return
    files = collected([one.files for one in finished if one.files is not None])
    with suppress(IcebergError):
        if files is not None:
            _core.FileIo(task.io_properties).delete_many(files.column("file_path").to_pylist())
        table = load()
        if _data_files(table.metadata) <= MOST_LISTED_FILES:
            _delete_files(table.io, table.metadata, task.operation_id)


def _data_files(metadata: TableMetadata) -> int:
    """Return the number of the table's data files, as far as its snapshot records it."""
    snapshot = metadata.current_snapshot()
    recorded = None if snapshot is None or snapshot.summary is None else snapshot.summary.get("total-data-files")
    return int(recorded) if recorded is not None and recorded.isdecimal() else 0


def _delete_files(io: FileIO, metadata: TableMetadata, operation_id: str) -> None:
    directory = SimpleLocationProvider(metadata.location, metadata.properties).data_path
    locations = io.core.list(f"{directory}/").column("location")
    names = pc.replace_substring_regex(locations, "^.*/", "")
    written = locations.filter(pc.match_substring(names, operation_id))
    io.core.delete_many(written.to_pylist())
