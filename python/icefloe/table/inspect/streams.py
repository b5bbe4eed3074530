"""Streams of rows that are already in memory, or that Python filters batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core
from icefloe.table.inspect.schemas import arrow_schema
from icefloe.table.read_context import schema_json
from icefloe.table.scan.row_stream import STREAM_BATCH_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.expressions.filter import Filter
    from icefloe.schema import Schema
    from icefloe.table.scan.row_stream import RowStream


@dataclass(frozen=True)
class BatchStream:
    """Batches that every consumer reads from the beginning.

    Attributes:
        schema: Schema of every batch.
        batches: Returns the batches.
    """

    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]

    def named(self, origin: str) -> BatchStream:
        """Return the stream: failures of reading are named by the reader of the files."""
        return self

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()


@dataclass(frozen=True)
class StreamSource:
    """A source of rows that ignores how large its batches should be: rows about files and snapshots are few.

    Attributes:
        open: Returns the stream.
    """

    open: Callable[[], RowStream]

    @property
    def max_rows(self) -> int | None:
        """None: manifests are counted as they are read."""
        return None

    def stream(
        self,
        *,
        string_views: bool = False,
        extension_types: bool = False,
        batch_size: int = 65536,
        batch_bytes: int = STREAM_BATCH_BYTES,
    ) -> RowStream:
        """Return the rows as a stream; every argument is ignored."""
        return self.open()


def selected_rows(
    stream: Callable[[], Iterator[pa.RecordBatch]], schema: Schema, kept: Filter, projection: Schema
) -> BatchStream:
    """Return the rows that match a filter, with the columns of a projection.

    Args:
        stream: Returns batches with all columns of `schema`.
        schema: Schema of the metadata table.
        kept: Filter on its columns.
        projection: A selection from `schema`.
    """
    target = arrow_schema(projection)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in stream():
            matching = batch.filter(
                _core.filter_rows(schema_json(schema), kept.json, batch, case_sensitive=kept.case_sensitive)
            )
            columns = [_narrowed(matching.column(field.name), field.type) for field in target]
            yield pa.RecordBatch.from_arrays(columns, schema=target)

    return BatchStream(target, batches)


def _narrowed(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column with only those fields of a struct that a type has."""
    if column.type.equals(kind) or not pa.types.is_struct(kind):
        return column
    parts = [_narrowed(column.field(field.name), field.type) for field in kind]
    return pa.StructArray.from_arrays(parts, fields=list(kind), mask=column.is_null())
