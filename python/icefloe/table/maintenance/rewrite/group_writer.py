"""Writing the rows of one group of data files into new data files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.rewrite.samples import curve_samples
from icefloe.table.properties.core import data_file_properties
from icefloe.table.properties.definitions import TARGET_FILE_SIZE, WRITE_MEMORY
from icefloe.table.properties.names import TableProperties
from icefloe.table.read_context import schema_json, sort_order_json, spec_json
from icefloe.table.write.file_writer import FileWriter
from icefloe.table.write.rows import unfiltered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.table.maintenance.rewrite.clustering import Clustering
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan

_CURVE_PAGE_ROWS = 2_500
"""Rows of a page along a curve. A filter on one of two columns selects one page of every `sqrt(pages)`, so small pages skip more."""
_CURVE_DICTIONARY_BYTES = 128 * 1024
"""The largest dictionary of a column chunk along a curve. A filter reads it as a whole, and the first rows, which are near each other in
every column, promise smaller dictionaries than the file needs."""


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

    def key_columns(self, schema: Schema) -> tuple[str, ...]:
        """Return the names of the columns that decide the place of a row, dotted for fields of structs."""
        ids = [field.source_id for field in self.spec.fields]
        if self.clustering.order is not None:
            ids += [field.source_id for field in self.clustering.order.fields]
        names = [name for name in map(schema.find_column_name, ids) if name is not None]
        return tuple(dict.fromkeys([*names, *self.clustering.columns]))

    def order(self, schema: Schema, samples: pa.Table | None) -> dict[str, Any]:
        """Return the order of rows, by partition and then by the clustering, as `_core.sort_rows` takes it.

        Args:
            schema: Schema of the rows, with the key columns at least.
            samples: Sampled rows of the columns of a curve; None without one.
        """
        clustering = self.clustering
        return {
            "schema": schema_json(schema),
            "spec": spec_json(self.spec),
            "sort_order": sort_order_json(clustering.order) if clustering.order is not None else None,
            "curve": clustering.strategy if clustering.is_curve else None,
            "curve_columns": [schema.find_field(name).field_id for name in clustering.columns],
            "samples": samples,
        }

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
        schema = self._metadata.schema()
        stream = replace(unfiltered(plan), projection=schema_json(schema)).stream()
        samples = curve_samples(plan, schema, layout.clustering.columns) if layout.clustering.is_curve else None
        return self.write_rows(CountedRows(stream.schema, stream, passed), layout, samples)

    def write_rows(self, rows: CountedRows, layout: GroupLayout, samples: pa.Table | None) -> pa.RecordBatch:
        """Write rows; return DataFile columns.

        Args:
            rows: Rows of the current schema.
            layout: The layout of the new files.
            samples: Sampled rows of the columns of a curve; None without one.
        """
        arranged: Any = rows.reader()
        if layout.is_sorted:
            order = layout.order(self._metadata.schema(), samples)
            arranged = _core.sort_rows(arranged, **order, memory_bytes=layout.memory_bytes)
        try:
            files = self._remember(self._write(arranged, layout))
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
            partition_id=self._partition_id,
            task_id=self._next_task(),
            presorted=layout.is_sorted,
        )


class CountedRows:
    """Batches as a reader, which counts the rows and keeps the exception that ended them.

    Args:
        schema: Schema of the batches.
        batches: The batches.
        passed: Called with each batch; an exception ends the rows.
    """

    def __init__(
        self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], passed: Callable[[pa.RecordBatch], None]
    ) -> None:
        self.failure: BaseException | None = None
        self.count = 0
        self._schema = schema
        self._batches = batches
        self._passed = passed

    def reader(self) -> pa.RecordBatchReader:
        """Return the reader, which can be read once."""
        return pa.RecordBatchReader.from_batches(self._schema, self._counted())

    def _counted(self) -> Iterator[pa.RecordBatch]:
        # The C stream interface turns an exception into text.
        try:
            for batch in self._batches:
                self._passed(batch)
                self.count += batch.num_rows
                yield batch
        except GeneratorExit:
            raise
        except BaseException as failure:
            self.failure = failure
            raise
