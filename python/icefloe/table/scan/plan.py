"""Plans of scans: tasks as columns, and the counters of pruning."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.io import FileIO
from icefloe.io.arrow_values import int_scalar
from icefloe.table.scan.metadata_columns import NO_COLUMNS, POSITION, with_metadata_columns
from icefloe.table.scan.row_stream import STREAM_BATCH_BYTES
from icefloe.table.scan.task import FileScanTask, ScanSource, tasks_of
from icefloe.table.scan.task_group import TaskGroup, batch_to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator


FIRST_BYTE = 4
"""Offset of the first row group of a Parquet file, behind its magic `PAR1`."""

# Sums of this type do not overflow, whatever counts manifests state.
_EXACT = pa.decimal128(19)


@dataclass(frozen=True)
class Packing:
    """The limits by which tasks are packed into groups.

    The weight of a task is the bytes of its data file and delete files, and at least the cost of opening them.

    Attributes:
        target_size_bytes: Target weight of a group, >= 1.
        lookback: Number of groups filled at the same time, >= 1; a task goes to the first group with room for it.
        open_file_cost_bytes: Weight of opening a file, >= 0.
    """

    target_size_bytes: int = 128 * 1024 * 1024
    lookback: int = 10
    open_file_cost_bytes: int = 4 * 1024 * 1024


@dataclass(frozen=True)
class ScanPlan:
    """The plan of a scan: the tasks to read.

    Attributes:
        files: One row per task (see `icefloe._core.ScanPlan.files`).
        deletes: One row per delete file; `files.deletes` holds runs of its rows.
        counters: Manifests, files, rows and bytes that planning read and skipped.
        context: Read context, JSON.
        projection: Selected columns, schema JSON.
        io: Storage.
        limit: Most rows to read, None for all.
    """

    files: pa.RecordBatch
    deletes: pa.RecordBatch
    counters: dict[str, int]
    context: str
    projection: str
    io: FileIO = field(repr=False)
    limit: int | None = None

    @property
    def max_rows(self) -> int | None:
        """Rows of the planned files, before deletes and the filter; None if the plan does not count them."""
        return self.counters.get("records_planned")

    def tasks(self) -> Iterator[FileScanTask]:
        """Yield the tasks one by one."""
        return tasks_of(self._source(), self.files, self.deletes)

    @staticmethod
    def of_group(group: TaskGroup) -> ScanPlan:
        """Return the plan of a group's files, with the group's access to storage."""
        return ScanPlan(
            files=group.files,
            deletes=group.deletes,
            counters={},
            context=group.context,
            projection=group.projection,
            io=FileIO(group.io_properties),
        )

    def groups(self, packing: Packing | None = None) -> Iterator[TaskGroup]:
        """Yield the tasks packed into groups of similar weight, for readers elsewhere. Groups do not apply the limit.

        Raises:
            ValidationError: The target or the lookback is not positive.
        """
        packing = packing or Packing()
        packed = _core.pack_tasks(
            self.files,
            self.deletes,
            target_size=packing.target_size_bytes,
            lookback=packing.lookback,
            open_file_cost=packing.open_file_cost_bytes,
        )
        properties = dict(self.io.core.properties)
        for files, deletes in packed:
            yield TaskGroup(self.context, self.projection, properties, batch_to_ipc(files), batch_to_ipc(deletes))

    def stream(  # noqa: PLR0913 - options of one read
        self,
        *,
        string_views: bool = False,
        extension_types: bool = False,
        batch_size: int = 65536,
        batch_bytes: int = STREAM_BATCH_BYTES,
        rows: pa.Table | None = None,
        keep: bool = True,
    ) -> _core.ScanStream:
        """Return the rows as an Arrow stream; each consumer reads it from the beginning.

        Args:
            string_views: Return strings and binaries as views.
            extension_types: Return uuids as Arrow's extension type; else as fixed_size_binary(16), which Arrow's kernels compare,
                group and join.
            batch_size: Most rows of a batch.
            batch_bytes: Most bytes of a batch.
            rows: Rows to select, columns `__file_row` int32 (the file's row in the plan) and `_pos` int64, or `__file_row`, `first`
                int64 and `count` int64 for runs of rows; None for all rows.
            keep: Return the rows of `rows` only; False returns all others.
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
            rows=rows,
            keep=keep,
        )

    def drop_files_past_limit(self) -> ScanPlan:
        """Return the plan without the files that the limit leaves unread, by metadata alone."""
        if self.limit is None or self.files.num_rows == 0:
            return self
        files = self.files
        end = pc.add(files.column("start"), files.column("length"))
        is_whole_file = pc.and_(
            pc.less_equal(files.column("start"), FIRST_BYTE),
            pc.greater_equal(end, files.column("file_size_in_bytes")),
        )
        has_known_rows = pc.and_(is_whole_file, self._has_countable_rows())
        # A manifest may state any count: no file counts more than the limit, so that the sum does not overflow.
        counts = pc.min_element_wise(files.column("record_count"), self.limit)
        rows = pc.cumulative_sum(pc.if_else(has_known_rows, counts, 0))
        needed = pc.sum(pc.less(rows, self.limit)).as_py() + 1
        return replace(self, files=files.slice(0, needed if self.limit > 0 else 0))

    def count_rows(self) -> int:
        """Return the number of rows of a plan of whole files, at most its limit.

        Files without deletes whose rows all match the filter are counted from metadata and not opened.
        """
        is_countable = self._has_countable_rows()
        counts = self.files.filter(is_countable).column("record_count")
        total = int(pc.sum(counts.cast(_EXACT)).as_py() or 0)
        remaining = None if self.limit is None else self.limit - total
        if remaining is not None and remaining <= 0:
            return self.limit or 0
        opened = replace(
            self,
            files=self.files.filter(pc.invert(is_countable)),
            projection=with_metadata_columns(NO_COLUMNS, [POSITION]),
            limit=remaining,
        )
        return total + (sum(batch.num_rows for batch in opened.stream()) if opened.files.num_rows > 0 else 0)

    def states_rows(self) -> pa.Array:
        """Return for each file whether all its rows match the filter and its entry states their number: a negative one is unknown."""
        files = self.files
        unfiltered = pc.or_(files.column("must_match"), pc.is_null(files.column("residual")))
        return pc.and_(pc.greater_equal(files.column("record_count"), int_scalar(0, pa.int64())), unfiltered)

    def _has_countable_rows(self) -> pa.Array:
        """Return for each file whether a scan returns as many rows as its entry states."""
        without_deletes = pc.invert(has_deletes(self.files))
        if "marks" in self.files.schema.names:
            without_deletes = pc.and_(without_deletes, pc.is_null(self.files.column("marks")))
        return pc.and_(self.states_rows(), without_deletes)

    def _source(self) -> ScanSource:
        properties = dict(self.io.core.properties)
        return ScanSource(self.context, self.projection, properties, self.files.schema, self.deletes.schema)


def has_deletes(files: pa.RecordBatch) -> pa.Array:
    """Return for each of a plan's files whether some delete file applies to it."""
    none = int_scalar(0, pa.int32())
    return pc.greater(pc.coalesce(pc.list_value_length(files.column("deletes")), none), none)


def with_own_deletes(files: pa.RecordBatch, deletes: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return some of a plan's files and the delete files that apply to them, with runs that refer to those rows."""
    return _core.own_deletes(files, deletes)
