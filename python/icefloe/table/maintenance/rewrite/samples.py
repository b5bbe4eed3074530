"""Sampled rows of a group of data files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.read_context import schema_json
from icefloe.table.write.rows import unfiltered

if TYPE_CHECKING:
    from icefloe.schema import Schema
    from icefloe.table.scan.plan import ScanPlan

_SAMPLE_ROWS = 32_768
_SAMPLE_FILES = 64


def sampled_rows(plan: ScanPlan, schema: Schema) -> pa.Table:
    """Return live rows of a plan's files at even distances. The rows do not depend on the columns of the schema.

    Args:
        plan: Whole files.
        schema: The columns to read.
    """
    files = plan.files
    step = -(-files.num_rows // _SAMPLE_FILES)
    chosen = pa.array(range(0, files.num_rows, step), pa.int64())
    some = replace(unfiltered(plan), files=files.take(chosen), projection=schema_json(schema))
    total = pc.sum(some.files.column("record_count")).as_py() or 0
    distance = max(1, total // _SAMPLE_ROWS)
    parts = []
    seen = 0
    stream = some.stream()
    for batch in stream:
        rows = pa.array(range(-seen % distance, batch.num_rows, distance), pa.int64())
        parts.append(batch.take(rows))
        seen += batch.num_rows
    return pa.Table.from_batches(parts, stream.schema)


def curve_samples(plan: ScanPlan, schema: Schema, columns: tuple[str, ...]) -> pa.Table:
    """Return sampled rows of a plan's files, one column for each name."""
    return leaves(sampled_rows(plan, schema.select(*columns)), columns)


def leaves(rows: pa.Table, columns: tuple[str, ...]) -> pa.Table:
    """Return columns by their names, which are dotted for fields of structs; the names of the result are numbers."""
    return pa.table([_leaf(rows, name) for name in columns], names=[str(place) for place in range(len(columns))])


def _leaf(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name in table.column_names:
        return table.column(name)
    first, *rest = name.split(".")
    return pc.struct_field(table.column(first), rest) if rest else table.column(first)
