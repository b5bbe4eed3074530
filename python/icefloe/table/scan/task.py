"""Tasks of a scan: one data file, or a part of one, as a view of a row of a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe import _core
from icefloe.expressions.rest_json import expression_from_json
from icefloe.expressions.tree import AlwaysTrue
from icefloe.manifest import DataFile
from icefloe.table.read_context import partition_types
from icefloe.table.scan.task_group import TaskGroup, batch_to_ipc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.expressions import BooleanExpression
    from icefloe.types import IcebergType

# Rows are converted to Python objects in chunks of this size, column by column.
_CHUNK_ROWS = 1024
_RUNS = ("deletes", "marks")


@dataclass(frozen=True)
class ScanSource:
    """The parts of a read that all tasks of a scan share.

    Attributes:
        context: Read context, JSON.
        projection: Selected columns, schema JSON.
        io_properties: Storage properties, credentials included.
        files_schema: Columns of the plan's files.
        deletes_schema: Columns of the plan's deletes.
    """

    context: str
    projection: str
    io_properties: dict[str, str] = field(repr=False)
    files_schema: pa.Schema
    deletes_schema: pa.Schema


class _Chunk:
    """Some rows of a plan's files, whose columns are converted to lists at first use."""

    __slots__ = ("_lists", "_types", "deletes", "files", "source")

    def __init__(self, source: ScanSource, files: pa.RecordBatch, deletes: pa.RecordBatch) -> None:
        self.source = source
        self.files = files
        self.deletes = deletes
        self._lists: dict[str, list[Any]] = {}
        self._types: dict[int, list[IcebergType]] = {}

    def data_file(self, values: dict[str, Any]) -> DataFile:
        """Return the data file of a row's values, its partition tuple in the types of its spec."""
        spec_id = values["spec_id"]
        if spec_id not in self._types:
            self._types[spec_id] = partition_types(self.source.context, spec_id)
        return DataFile.from_row(values, self._types[spec_id])

    def values(self, name: str) -> list[Any]:
        found = self._lists.get(name)
        if found is None:
            found = self._lists[name] = _values(self.files.column(name))
        return found

    def row(self, row: int) -> dict[str, Any]:
        return {name: self.values(name)[row] for name in self.source.files_schema.names}

    def delete_rows(self, row: int) -> list[int]:
        runs = self.values("deletes")[row] or ()
        return list(chain.from_iterable(range(run["first"], run["first"] + run["count"]) for run in runs))

    def delete_values(self, row: int) -> list[dict[str, Any]]:
        rows = self.delete_rows(row)
        values: list[dict[str, Any]] = self.deletes.take(pa.array(rows, pa.int32())).to_pylist() if rows else []
        return values


def _values(column: pa.Array) -> list[Any]:
    """Return a column as a list. Rows with the same dictionary entry share one object."""
    if not isinstance(column, pa.DictionaryArray):
        return column.to_pylist()  # type: ignore[no-any-return]
    indices = column.indices.to_pylist()
    texts = {index: column.dictionary[index].as_py() for index in set(indices) if index is not None}
    return [texts.get(index) for index in indices]


class _Restored(_Chunk):
    """An unpickled row, which is converted to batches only for a reader."""

    __slots__ = ("_deletes",)

    def __init__(self, source: ScanSource, values: dict[str, Any], deletes: list[dict[str, Any]]) -> None:
        self.source = source
        self._lists = {name: [value] for name, value in values.items()}
        self._types = {}
        self._deletes = deletes

    @property
    def files(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_pydict(self._lists, schema=self.source.files_schema)

    @property
    def deletes(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_pylist(self._deletes, schema=self.source.deletes_schema)

    def delete_values(self, row: int) -> list[dict[str, Any]]:
        return [self._deletes[one] for one in self.delete_rows(row)]


class FileScanTask:
    """A data file, or a part of it, with the delete files that apply.

    A task is a view of one row of a plan, whose values are looked up at first use. Tasks compare by their values. A task pickles
    with everything that reading needs, credentials included.

    Examples:
        >>> [(task.record_count, len(task.delete_files)) for task in scan.plan_files()]
        [(3, 0)]
    """

    __slots__ = ("_chunk", "_row")

    def __init__(self, chunk: _Chunk, row: int) -> None:
        self._chunk = chunk
        self._row = row

    @property
    def file(self) -> DataFile:
        """The data file, with column statistics if the plan has them."""
        return self._chunk.data_file({"content": 0, **self._chunk.row(self._row)})

    @property
    def file_path(self) -> str:
        """The data file's location, as in its manifest."""
        return self._text("file_path")

    @property
    def file_format(self) -> str:
        """`PARQUET`, `AVRO` or `ORC`."""
        return self._text("file_format")

    @property
    def spec_id(self) -> int:
        """The partition spec that the data file was written with."""
        return self._number("spec_id")

    @property
    def partition(self) -> str:
        """The data file's partition tuple, a JSON array of single values."""
        return self._text("partition")

    @property
    def record_count(self) -> int:
        """Rows of the whole data file, including deleted rows."""
        return self._number("record_count")

    @property
    def file_size_in_bytes(self) -> int:
        """Bytes of the whole data file."""
        return self._number("file_size_in_bytes")

    @property
    def start(self) -> int:
        """Offset of the first byte of the task in the data file."""
        return self._number("start")

    @property
    def length(self) -> int:
        """Bytes of the data file that belong to the task."""
        return self._number("length")

    @property
    def residual(self) -> BooleanExpression:
        """The residual of the scan's filter for the data file's partition; `AlwaysTrue` if every row matches."""
        text = self._chunk.values("residual")[self._row]
        return AlwaysTrue() if text is None else expression_from_json(text)

    @property
    def delete_files(self) -> frozenset[DataFile]:
        """The delete files that apply."""
        return frozenset(map(self._chunk.data_file, self._chunk.delete_values(self._row)))

    def group(self) -> TaskGroup:
        """Return a group of this task alone."""
        chunk = self._chunk
        files, deletes = _core.own_deletes(chunk.files.slice(self._row, 1), chunk.deletes)
        source = chunk.source
        return TaskGroup(
            source.context, source.projection, source.io_properties, batch_to_ipc(files), batch_to_ipc(deletes)
        )

    def read(self, batch_size: int = 65536) -> pa.RecordBatchReader:
        """Return the task's rows, after deletes and the filter, as a reader of record batches of at most `batch_size` rows."""
        return self.group().read(batch_size)

    def _text(self, name: str) -> str:
        value: str = self._chunk.values(name)[self._row]
        return value

    def _number(self, name: str) -> int:
        value: int = self._chunk.values(name)[self._row]
        return value

    def _facts(self) -> tuple[object, ...]:
        deletes = frozenset(values["file_path"] for values in self._chunk.delete_values(self._row))
        residual = self._chunk.values("residual")[self._row]
        return (self.file_path, self.start, self.length, self.record_count, residual, deletes)

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, FileScanTask) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.file_path, self.start))

    def __repr__(self) -> str:
        deletes = len(self._chunk.delete_rows(self._row))
        part = f"bytes {self.start} to {self.start + self.length} of {self.file_size_in_bytes}"
        return f"FileScanTask({self.file_path!r}, {part}, {self.record_count} rows, {deletes} delete files)"

    def __reduce__(self) -> tuple[Any, ...]:
        chunk = self._chunk
        values, deletes = chunk.row(self._row), []
        if any(values.get(name) for name in _RUNS):
            own_files, own_deletes = _core.own_deletes(chunk.files.slice(self._row, 1), chunk.deletes)
            values, deletes = own_files.to_pylist()[0], [tuple(one.values()) for one in own_deletes.to_pylist()]
        return _restored, (chunk.source, tuple(values.values()), deletes)


def _restored(source: ScanSource, values: tuple[Any, ...], deletes: list[tuple[Any, ...]]) -> FileScanTask:
    row = dict(zip(source.files_schema.names, values, strict=True))
    chunk = _Restored(source, row, [dict(zip(source.deletes_schema.names, one, strict=True)) for one in deletes])
    return FileScanTask(chunk, 0)


def tasks_of(source: ScanSource, files: pa.RecordBatch, deletes: pa.RecordBatch) -> Iterator[FileScanTask]:
    """Yield the tasks of a plan. Values are looked up at their first use."""
    starts = range(0, files.num_rows, _CHUNK_ROWS)
    return chain.from_iterable(_tasks(source, files.slice(start, _CHUNK_ROWS), deletes) for start in starts)


def _tasks(source: ScanSource, files: pa.RecordBatch, deletes: pa.RecordBatch) -> Iterator[FileScanTask]:
    return map(FileScanTask, repeat(_Chunk(source, files, deletes)), range(files.num_rows))
