"""Writing data and delete files of one table, and recording their locations for the clean-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.table.properties.core import (
    data_file_properties,
    delete_file_properties,
    equality_delete_properties,
)
from icefloe.table.read_context import schema_json, sort_order_json, spec_json, specs_json
from icefloe.table.write.arrow_input import stream_to_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from icefloe.io import FileIO
    from icefloe.partitioning import PartitionSpec
    from icefloe.table.metadata import TableMetadata


class FileWriter:
    """Writes the files of one operation.

    Args:
        io: Storage.
        metadata: The version of the table that the operation reads.
        operation_id: The UUID in the names of the files.
        task_ids: The partition and the first task in the names of the files, where several writers have one operation id.
    """

    def __init__(
        self, io: FileIO, metadata: TableMetadata, operation_id: str, task_ids: tuple[int, int] = (0, 0)
    ) -> None:
        self.written: list[str] = []
        self._io = io
        self._metadata = metadata
        self._operation_id = operation_id
        self._partition_id, self._task_id = task_ids

    def abandon(self) -> None:
        """Delete the files written so far, which no snapshot refers to. Deletion is best effort."""
        if self.written:
            self._io.core.delete_many(self.written)
            self.written.clear()

    def keep(self) -> None:
        """Forget the files written so far: a snapshot refers to them, or may refer to them."""
        self.written.clear()

    def copied_rows(self) -> _core.CopiedRows:
        """Return an empty set of pages to copy, for `data_files`."""
        order = self._metadata.sort_order()
        return _core.CopiedRows(
            self._io.core,
            schema=schema_json(self._metadata.schema()),
            spec=spec_json(self._metadata.spec()),
            sort_order=sort_order_json(order) if order.fields else None,
            properties=data_file_properties(self._metadata.properties),
        )

    def data_files(self, data: object, copied: _core.CopiedRows | None = None) -> pa.RecordBatch:
        """Write rows with the current schema, default spec and sort order; return DataFile columns.

        Args:
            data: The rows, anything that exports Arrow.
            copied: Pages to write after all rows; a stream of rows may add to it until it ends.

        Raises:
            SchemaMismatchError: The rows do not fit the table. Only nulls in required columns are found after files have been
                written.
        """
        order = self._metadata.sort_order()
        with stream_to_write(data, self._metadata.schema().column_names) as stream:
            files = _core.write_data_files(
                self._io.core,
                stream,  # type: ignore[arg-type] # checked to export a stream
                schema=schema_json(self._metadata.schema()),
                spec=spec_json(self._metadata.spec()),
                sort_order=sort_order_json(order) if order.fields else None,
                table_location=self._metadata.location,
                properties=data_file_properties(self._metadata.properties),
                operation_id=self._operation_id,
                partition_id=self._partition_id,
                task_id=self._next_task(),
                copied=copied,
            )
        return self._remember(files)

    def position_deletes(self, positions: pa.Table | pa.RecordBatchReader, targets: pa.Table) -> pa.RecordBatch:
        """Write position delete files; return DataFile columns.

        Args:
            positions: Columns `file_path` and `pos`.
            targets: Columns `file_path`, `spec_id` and `partition` of all files in `positions`.
        """
        return self._remember(
            _core.write_position_deletes(
                self._io.core,
                positions,
                targets=targets,
                schema=schema_json(self._metadata.schema()),
                specs=specs_json(self._metadata),
                table_location=self._metadata.location,
                properties=delete_file_properties(self._metadata.properties),
                operation_id=self._operation_id,
                partition_id=self._partition_id,
                task_id=self._next_task(),
            )
        )

    def equality_deletes(self, keys: object, equality_ids: Sequence[int], spec_id: int | None = None) -> pa.RecordBatch:
        """Write keys of deleted rows to equality delete files; return DataFile columns.

        Args:
            keys: Rows with the key columns and the source columns of the spec.
            equality_ids: Field ids of the key columns.
            spec_id: Partition spec of the files; None for the default spec.

        Raises:
            ValidationError: The ids are not a key, or the table has no such spec.
            SchemaMismatchError: The rows lack a column or have other types.
        """
        order = self._metadata.sort_order()
        with stream_to_write(keys, self._metadata.schema().column_names) as stream:
            files = _core.write_equality_deletes(
                self._io.core,
                stream,  # type: ignore[arg-type] # checked to export a stream
                equality_ids=list(equality_ids),
                schema=schema_json(self._metadata.schema()),
                spec=spec_json(self._spec(spec_id)),
                sort_order=sort_order_json(order) if order.fields else None,
                table_location=self._metadata.location,
                properties=equality_delete_properties(self._metadata.properties),
                operation_id=self._operation_id,
                partition_id=self._partition_id,
                task_id=self._next_task(),
            )
        return self._remember(files)

    def _spec(self, spec_id: int | None) -> PartitionSpec:
        specs = self._metadata.specs()
        spec = specs.get(spec_id) if spec_id is not None else self._metadata.spec()
        if spec is None:
            raise ValidationError(
                f"spec_id: the table has no partition spec {spec_id}; expected one of {sorted(specs)}"
            )
        return spec

    def _next_task(self) -> int:
        """Return a new task id, so that no two calls of one operation write a file of the same name."""
        self._task_id += 1
        return self._task_id - 1

    def _remember(self, files: pa.RecordBatch) -> pa.RecordBatch:
        self.written += files.column("file_path").to_pylist()
        return files
