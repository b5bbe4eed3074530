"""A planned scan: its tasks as columns, and what planning skipped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe import _core
from icefloe.table.scan.task import (
    DEFAULT_GROUP_SIZE_BYTES,
    FileScanTask,
    TaskGroup,
    batch_to_ipc,
    grouped,
    tasks_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe.io import FileIO


@dataclass(frozen=True)
class ScanPlan:
    """What a scan will read.

    Attributes:
        files: One row per task (see `icefloe._core.ScanPlan.files`).
        deletes: One row per delete file; `files.deletes` holds row numbers of it.
        counters: What planning looked at and skipped.
        context: Read context, JSON.
        projection: Wanted columns, schema JSON.
        io: Storage.
        limit: Most rows that will be read, None for all.
    """

    files: pa.RecordBatch
    deletes: pa.RecordBatch
    counters: dict[str, int]
    context: str
    projection: str
    io: FileIO = field(repr=False)
    limit: int | None = None

    def tasks(self) -> Iterator[FileScanTask]:
        """Yield the tasks one by one."""
        return tasks_of(self.files, self.deletes)

    def groups(self, target_size_bytes: int = DEFAULT_GROUP_SIZE_BYTES) -> list[TaskGroup]:
        """Return the tasks in groups of about `target_size_bytes`, for readers elsewhere. The limit is not part of them."""
        return [
            TaskGroup(
                self.context, self.projection, dict(self.io.core.properties), batch_to_ipc(files), batch_to_ipc(deletes)
            )
            for files, deletes in grouped(self.files, self.deletes, target_size_bytes)
        ]

    def stream(self, *, string_views: bool = False, batch_size: int = 65536) -> _core.ScanStream:
        """Return the rows as a stream that any Arrow consumer reads, each from the beginning."""
        return _core.read(
            self.io.core,
            self.context,
            self.files,
            self.deletes,
            projection=self.projection,
            batch_size=batch_size,
            limit=self.limit,
            string_views=string_views,
        )
