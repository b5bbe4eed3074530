"""A planned scan: its tasks as columns, and what planning skipped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.scan.task import FileScanTask, ScanSource, tasks_of
from icefloe.table.scan.task_group import TaskGroup, batch_to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe.io import FileIO

PASSING_BYTES = 3 * 512 * 1024
"""Bytes of a batch of a stream: batches that a consumer lets go of hold little memory however wide rows are."""

KEPT_BYTES = 5 * 1024 * 1024
"""Bytes of a batch where all rows are kept: fewer and larger ones cost less."""


@dataclass(frozen=True)
class Packing:
    """How tasks are packed into groups.

    A task weighs its bytes and those of its deletes, and never less than it costs to open the files.

    Attributes:
        target_size_bytes: Wanted weight of a group, >= 1.
        lookback: How many groups are open at once, >= 1; a task goes to the first that has room for it.
        open_file_cost_bytes: What opening a file weighs, >= 0.
    """

    target_size_bytes: int = 128 * 1024 * 1024
    lookback: int = 10
    open_file_cost_bytes: int = 4 * 1024 * 1024


@dataclass(frozen=True)
class ScanPlan:
    """What a scan will read.

    Attributes:
        files: One row per task (see `icefloe._core.ScanPlan.files`).
        deletes: One row per delete file; `files.deletes` holds runs of its rows.
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
        return tasks_of(self._source(), self.files, self.deletes)

    def groups(self, packing: Packing | None = None) -> Iterator[TaskGroup]:
        """Yield the tasks packed into groups of about equal weight, for readers elsewhere. The limit is not part of them.

        Raises:
            ValidationError: The target or the lookback is not positive.
        """
        wanted = packing or Packing()
        packed = _core.pack_tasks(
            self.files,
            self.deletes,
            target_size=wanted.target_size_bytes,
            lookback=wanted.lookback,
            open_file_cost=wanted.open_file_cost_bytes,
        )
        properties = dict(self.io.core.properties)
        for files, deletes in packed:
            yield TaskGroup(self.context, self.projection, properties, batch_to_ipc(files), batch_to_ipc(deletes))

    def stream(
        self,
        *,
        string_views: bool = False,
        extension_types: bool = False,
        batch_size: int = 65536,
        batch_bytes: int = PASSING_BYTES,
    ) -> _core.ScanStream:
        """Return the rows as a stream that any Arrow consumer reads, each from the beginning.

        Args:
            string_views: Strings and binaries as views.
            extension_types: UUIDs as Arrow's extension type, as users get them; else as fixed_size_binary(16), which
                Arrow's kernels compare, group and join.
            batch_size: Most rows of a batch.
            batch_bytes: Most bytes of a batch.
        """
        return _core.read(
            self.io.core,
            self.context,
            self.files,
            self.deletes,
            projection=self.projection,
            batch_size=batch_size,
            batch_bytes=batch_bytes,
            limit=self.limit,
            string_views=string_views,
            extension_types=extension_types,
        )

    def _source(self) -> ScanSource:
        properties = dict(self.io.core.properties)
        return ScanSource(self.context, self.projection, properties, self.files.schema, self.deletes.schema)


def has_deletes(files: pa.RecordBatch) -> pa.Array:
    """Return for each of a plan's files whether some delete file applies to it."""
    return pc.greater(pc.fill_null(pc.list_value_length(files.column("deletes")), 0), 0)


def with_own_deletes(files: pa.RecordBatch, deletes: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return some of a plan's files with only the deletes they need, runs of rows changed accordingly."""
    return _core.own_deletes(files, deletes)
