"""Writing the rows of one group of data files into new data files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.table.properties.core import data_file_properties
from icefloe.table.properties.definitions import TARGET_FILE_SIZE, WRITE_MEMORY
from icefloe.table.properties.names import TableProperties
from icefloe.table.read_context import schema_json, sort_order_json, spec_json
from icefloe.table.write.file_writer import FileWriter
from icefloe.table.write.rows import unfiltered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.partitioning import PartitionSpec
    from icefloe.table.maintenance.rewrite.clustering import Clustering
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan

_CURVE_PAGE_ROWS = 2_500
"""Rows of a page along a curve. A filter on one of two columns selects one page of every `sqrt(pages)`, so small pages skip more."""
_CURVE_DICTIONARY_BYTES = 128 * 1024
"""The largest dictionary of a column chunk along a curve. A filter reads it as a whole, and the first rows, which are near each other in
every column, promise smaller dictionaries than the file needs."""
_SAMPLE_ROWS = 32_768
_SAMPLE_FILES = 64


@dataclass(frozen=True)
class GroupLayout:
    """The layout of the new files of a group.

    Attributes:
        spec: The partition spec.
        clustering: The arrangement of rows.
        one_partition: Whether all rows belong to one partition.
        file_bytes: The size at which a file is closed.
        memory_bytes: Rows in memory while they are sorted and written.
    """

    spec: PartitionSpec
    clustering: Clustering
    one_partition: bool
    file_bytes: int
    memory_bytes: int

    @property
    def is_sorted(self) -> bool:
        """Whether rows are rearranged: by partition at least."""
        return not self.one_partition or self.clustering.order is not None or self.clustering.is_curve

    @property
    def writer_bytes(self) -> int:
        """Bytes of the open row group: sorted rows are merged in the rest of the memory."""
        return max(1, self.memory_bytes // 2) if self.is_sorted else self.memory_bytes


class GroupWriter(FileWriter):
    """Writes the live rows of a group of data files."""

    @property
    def metadata(self) -> TableMetadata:
        """The version of the table whose schema the files get."""
        return self._metadata

    def rewrite(self, plan: ScanPlan, layout: GroupLayout, passed: Callable[[pa.RecordBatch], None]) -> pa.RecordBatch:
        """Write the live rows of a plan's files; return DataFile columns.

        Args:
            plan: Whole files, with the delete files that apply.
            layout: The layout of the new files.
            passed: Called with each batch that was read; an exception ends the write.
        """
        rows = _Rows(plan, schema_json(self._metadata.schema()), passed)
        try:
            files = self._remember(self._write(self._arranged(rows.reader(), plan, layout), layout))
        except BaseException:
            if rows.failure is not None:
                raise rows.failure from None
            raise
        written = pc.sum(files.column("record_count")).as_py() or 0
        if written != rows.count:
            self.abandon()
            raise ValidationError(
                f"rewrite_data_files: expected {rows.count} rows in the new files, got {written}; nothing was changed"
            )
        return files

    def _arranged(self, rows: pa.RecordBatchReader, plan: ScanPlan, layout: GroupLayout) -> Any:
        if not layout.is_sorted:
            return rows
        clustering, metadata = layout.clustering, self._metadata
        schema = metadata.schema()
        columns = [schema.find_field(name).field_id for name in clustering.columns]
        return _core.sort_rows(
            rows,
            schema=schema_json(schema),
            spec=spec_json(layout.spec),
            sort_order=sort_order_json(clustering.order) if clustering.order is not None else None,
            curve=clustering.strategy if clustering.is_curve else None,
            curve_columns=columns,
            samples=sampled(plan, metadata, clustering.columns) if clustering.is_curve else None,
            memory_bytes=layout.memory_bytes,
        )

    def _write(self, rows: Any, layout: GroupLayout) -> pa.RecordBatch:
        order = layout.clustering.order
        recorded = order is not None and order.order_id > 0
        properties = data_file_properties(self._metadata.properties)
        properties[TARGET_FILE_SIZE.name] = str(layout.file_bytes)
        properties[WRITE_MEMORY.name] = str(layout.writer_bytes)
        if layout.clustering.is_curve:
            properties.setdefault(TableProperties.PARQUET_PAGE_ROW_LIMIT, str(_CURVE_PAGE_ROWS))
            properties.setdefault(TableProperties.PARQUET_DICT_SIZE_BYTES, str(_CURVE_DICTIONARY_BYTES))
        return _core.write_data_files(
            self._io.core,
            rows,
            schema=schema_json(self._metadata.schema()),
            spec=spec_json(layout.spec),
            sort_order=sort_order_json(order) if order is not None and recorded else None,
            table_location=self._metadata.location,
            properties=properties,
            operation_id=self._operation_id,
            partition_id=0,
            task_id=self._next_task(),
            presorted=layout.is_sorted,
        )


class _Rows:
    """The live rows of a plan as a reader, which keeps the exception that ended it."""

    def __init__(self, plan: ScanPlan, schema: str, passed: Callable[[pa.RecordBatch], None]) -> None:
        self.failure: BaseException | None = None
        self.count = 0
        self._stream = replace(unfiltered(plan), projection=schema).stream()
        self._passed = passed

    def reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self._stream.schema, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        # The C stream interface turns an exception into text.
        try:
            for batch in self._stream:
                self._passed(batch)
                self.count += batch.num_rows
                yield batch
        except GeneratorExit:
            raise
        except BaseException as failure:
            self.failure = failure
            raise


def sampled(plan: ScanPlan, metadata: TableMetadata, columns: tuple[str, ...]) -> pa.Table:
    """Return rows of a plan's files at even distances, one column for each name."""
    files = plan.files
    step = -(-files.num_rows // _SAMPLE_FILES)
    chosen = pa.array(range(0, files.num_rows, step), pa.int64())
    some = replace(unfiltered(plan), files=files.take(chosen), projection=_projection(metadata, columns))
    total = pc.sum(some.files.column("record_count")).as_py() or 0
    distance = max(1, total // _SAMPLE_ROWS)
    parts = []
    seen = 0
    stream = some.stream()
    for batch in stream:
        rows = pa.array(range(-seen % distance, batch.num_rows, distance), pa.int64())
        parts.append(batch.take(rows))
        seen += batch.num_rows
    table = pa.Table.from_batches(parts, stream.schema)
    return pa.table([_leaf(table, name) for name in columns], names=[str(place) for place in range(len(columns))])


def _projection(metadata: TableMetadata, columns: tuple[str, ...]) -> str:
    return schema_json(metadata.schema().select(*columns))


def _leaf(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name in table.column_names:
        return table.column(name)
    first, *rest = name.split(".")
    return pc.struct_field(table.column(first), rest) if rest else table.column(first)
