"""Rewrites of data files that take over whole pages instead of encoding their rows again."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.io.pyarrow import schema_to_pyarrow
from icefloe.table.read_context import schema_json
from icefloe.table.scan.metadata_columns import FILE_ROW
from icefloe.table.scan.plan import has_deletes
from icefloe.table.write.rows import Positions, RowRuns, other_rows, rows_at, touched_files, with_files
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe import _core
    from icefloe.schema import Schema
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.write.file_writer import FileWriter


def rewrite_without(
    writer: FileWriter, plan: ScanPlan, schema: Schema, without: Positions
) -> tuple[pa.Array, pa.RecordBatch]:
    """Write the files that hold any of the positions again, without these rows.

    Args:
        writer: The writer of the new files.
        plan: A plan of whole files.
        schema: The table's current schema.
        without: Positions of the rows to remove.

    Returns:
        The paths of the old files, and DataFile columns of the new files.
    """
    copied = writer.copied_rows()
    paths, rows = rewritten_pages(plan, schema_json(schema), without, copied)
    return paths, write_rows(writer, storage_schema(schema_to_pyarrow(schema)), rows, copied)


def write_rows(
    writer: FileWriter, schema: pa.Schema, batches: Iterator[pa.RecordBatch], copied: _core.CopiedRows | None = None
) -> pa.RecordBatch:
    """Write batches whose columns may have nulls, with pages to copy after them; return DataFile columns."""
    schema = pa.schema([field.with_nullable(True) for field in schema])
    nullable = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in batches)
    return writer.data_files(pa.RecordBatchReader.from_batches(schema, nullable), copied)


def rewritten_pages(
    plan: ScanPlan, schema: str, without: Positions, copied: _core.CopiedRows
) -> tuple[pa.Array, Iterator[pa.RecordBatch]]:
    """Return the paths of the files that hold any of the positions, and their other live rows that are not copied as pages.

    Args:
        plan: A plan of whole files.
        schema: Schema JSON of the columns to read.
        without: Positions to exclude.
        copied: The pages to copy; those of the files are added to it.
    """
    touched, positions = touched_files(plan, without)
    files = touched.files.select(["file_path", "spec_id", "partition", "record_count"])
    files = files.append_column("has_deletes", has_deletes(touched.files))
    is_copied, others = copied.add(files, positions.rows)
    streams: list[Iterator[pa.RecordBatch]] = []
    if others.num_rows > 0:
        streams.append(iter(rows_at(touched, schema, RowRuns(pa.table(others)))))
    if is_copied.true_count < len(is_copied):
        is_read = pc.invert(is_copied)
        of_read = Positions(positions.rows.filter(is_read.take(positions.rows.column(FILE_ROW).combine_chunks())))
        streams.append(iter(other_rows(with_files(touched, is_read), schema, of_read.renumbered(is_read))))
    return touched.files.column("file_path"), itertools.chain.from_iterable(streams)
