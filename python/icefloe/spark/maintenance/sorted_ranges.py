"""A group of data files that is sorted by several tasks: each gets a range of the rows in their order.

Rows cross Spark's shuffle as Arrow IPC in a binary column, so that types without a counterpart in Spark stay as they are. The files
of the group are read once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.spark.maintenance.file_pieces import consecutive_parts, with_byte_ranges
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.shuffle_slots import slots
from icefloe.spark.writer.write_task import RESULT_SCHEMA, task_ids, task_result
from icefloe.table.maintenance.rewrite.group_writer import CountedRows, GroupWriter
from icefloe.table.maintenance.rewrite.samples import leaves, sampled_rows
from icefloe.table.scan.task_group import batch_to_ipc
from icefloe.table.write.rows import unfiltered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from icefloe.io import FileIO
    from icefloe.table.maintenance.groups.options import FileSizes
    from icefloe.table.maintenance.rewrite.group_writer import GroupLayout
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan

SHUFFLE_SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "16"}
"""Records of the shuffle are rows in IPC form, up to 1 MiB each; Spark's default is a batch of 10,000 records."""

_PART_BYTES = 128 * 1024 * 1024
_RECORD_BYTES = 1024 * 1024
_MEMORY_SHARE = 4
"""The part of the memory limit that waits to be cut. Cutting copies the rows twice."""
_RECORDS = "slot int, range int, part int, chunk int, rows binary"
_COLUMNS = pa.schema(
    [
        ("slot", pa.int32()),
        ("range", pa.int32()),
        ("part", pa.int32()),
        ("chunk", pa.int32()),
        ("rows", pa.binary()),
    ]
)


@dataclass(frozen=True)
class RowRanges:
    """The order of a group's rows, and the bounds of its ranges.

    Attributes:
        layout: The layout of the new files.
        bounds: The least keys of all ranges but the first, ascending.
        samples: Sampled rows of the columns of a curve; None without one.
    """

    layout: GroupLayout
    bounds: tuple[bytes, ...]
    samples: pa.Table | None

    @classmethod
    def of(cls, scan: ScanPlan, layout: GroupLayout, metadata: TableMetadata, sizes: FileSizes) -> RowRanges:
        """Return ranges with even numbers of rows, by sampled rows: at most as many as the files that the group is expected to have.

        A range whose rows have more bytes than expected is written to one file up to the largest size of new files, and to several
        beyond.

        Args:
            scan: Whole files, with the delete files that apply.
            layout: The layout of the new files.
            metadata: The version of the table whose schema the files get.
            sizes: Sizes of files.
        """
        count = sizes.outputs(total_bytes(scan))
        columns = layout.key_columns(metadata.schema())
        schema = metadata.schema().select(*columns)
        rows = sampled_rows(scan, schema)
        samples = leaves(rows, layout.clustering.columns) if layout.clustering.is_curve else None
        keys = _core.RowOrder(**layout.order(schema, samples)).keys(rows)
        keys = keys.take(pc.sort_indices(keys))
        places = pa.array(
            [number * len(keys) // count for number in range(1, count)] if len(keys) > 0 else [], pa.int64()
        )
        return cls(
            replace(layout, file_bytes=sizes.largest_output), tuple(pc.unique(keys.take(places)).to_pylist()), samples
        )

    @property
    def count(self) -> int:
        """The number of ranges."""
        return len(self.bounds) + 1


@dataclass(frozen=True)
class CutRows:
    """Read parts of a group and cut their rows by range, for ``DataFrame.mapInArrow`` over the numbers of the parts.

    Args:
        metadata: The version of the table whose schema the rows have.
        parts: Scan of the files of each part.
        ranges: The ranges.
        slots: The value of column ``slot`` for each range.
    """

    metadata: TableMetadata
    parts: tuple[ScanPlan, ...]
    ranges: RowRanges
    slots: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the parts of the given numbers, range by range."""
        reduce_fixed_costs()
        order = _core.RowOrder(**self.ranges.layout.order(self.metadata.schema(), self.ranges.samples))
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for chunk, rows in enumerate(self._chunks(self.parts[number])):
                    yield self._cut(order, rows, number, chunk)

    def _chunks(self, scan: ScanPlan) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part in batches of a share of the memory limit."""
        most = self.ranges.layout.memory_bytes // _MEMORY_SHARE
        waiting: list[pa.RecordBatch] = []
        size = 0
        for batch in unfiltered(scan).stream():
            waiting.append(batch)
            size += batch.nbytes
            if size >= most:
                yield _joined(waiting)
                waiting, size = [], 0
        if any(batch.num_rows > 0 for batch in waiting):
            yield _joined(waiting)

    def _cut(self, order: _core.RowOrder, rows: pa.RecordBatch, part: int, chunk: int) -> pa.RecordBatch:
        numbers = order.ranges(rows, list(self.ranges.bounds))
        # The sort is stable: rows of a range keep their order.
        places = pc.sort_indices(numbers)
        rows, numbers = rows.take(places), numbers.take(places).to_numpy()
        most = max(1, rows.num_rows * _RECORD_BYTES // max(1, rows.nbytes))
        records: list[tuple[int, bytes]] = []
        firsts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
        for first, end in zip(firsts, [*firsts[1:], len(numbers)], strict=True):
            records += [
                (int(numbers[first]), batch_to_ipc(rows.slice(start, min(most, end - start))))
                for start in range(first, end, most)
            ]
        of = [number for number, _ in records]
        columns: list[Any] = [
            [self.slots[number] for number in of],
            of,
            [part] * len(of),
            [chunk] * len(of),
            [data for _, data in records],
        ]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, _COLUMNS, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_COLUMNS)


@dataclass(frozen=True)
class WriteRanges:
    """Sort and write the rows of ranges, for ``DataFrame.mapInArrow`` over the records of :class:`CutRows`, range by range.

    A task that fails deletes its files; those of a killed task are files that no snapshot refers to.

    Args:
        io: Storage of the table.
        metadata: The version of the table whose schema the files get.
        operation_id: The UUID in the names of the files.
        ranges: The ranges.
    """

    io: FileIO
    metadata: TableMetadata
    operation_id: str
    ranges: RowRanges

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the rows; yield one result for each range."""
        reduce_fixed_costs()
        writers: list[GroupWriter] = []
        try:
            for number, records in groupby(_records(batches), key=lambda record: record[0]):
                writer = GroupWriter(self.io, self.metadata, self.operation_id, (number, task_ids()[1]))
                writers.append(writer)
                rows = (batch for _, data in records for batch in _opened(data))
                first = next(rows)
                counted = CountedRows(first.schema, chain([first], rows), _ignore)
                yield task_result(writer.write_rows(counted, self.ranges.layout, self.ranges.samples))
        except BaseException:
            for writer in writers:
                writer.abandon()
            raise


def range_results(session: Any, write: WriteRanges, parts: tuple[ScanPlan, ...]) -> DataFrame:
    """Return the results of tasks that sort and write a group's rows, each task a range of them.

    Args:
        session: Session.
        write: The task that sorts and writes.
        parts: Consecutive parts of the group's files, which are read in one task each.
    """
    ranges = write.ranges
    cut = CutRows(write.metadata, parts, ranges, tuple(slots(ranges.count)))
    frame: DataFrame = (
        session.range(0, len(parts), 1, len(parts))
        .mapInArrow(cut, _RECORDS)
        .repartition(ranges.count, "slot")
        .sortWithinPartitions("range", "part", "chunk")
        .mapInArrow(write, RESULT_SCHEMA)
    )
    return frame


def parts_to_cut(scan: ScanPlan, sizes: FileSizes) -> tuple[ScanPlan, ...]:
    """Return consecutive parts of a group's files, at most 128 MiB each where files can be cut."""
    part_bytes = min(sizes.target, _PART_BYTES)
    return tuple(consecutive_parts(with_byte_ranges(scan, part_bytes), -(-total_bytes(scan) // part_bytes)))


def total_bytes(scan: ScanPlan) -> int:
    """Return the bytes of a plan's whole files."""
    return int(pc.sum(scan.files.column("file_size_in_bytes")).as_py() or 0)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _records(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.Buffer]]:
    for batch in batches:
        rows = batch.column(4)
        for place, number in enumerate(batch.column(1).to_pylist()):
            yield number, rows[place].as_buffer()


def _opened(data: pa.Buffer) -> Iterator[pa.RecordBatch]:
    with pa.ipc.open_stream(data) as reader:
        yield from reader


def _ignore(_: pa.RecordBatch) -> None:
    """A task has no progress to show."""
