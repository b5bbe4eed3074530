"""Rewrites of data files that take over whole pages instead of encoding their rows again."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.metadata_columns import FILE_ROW
from icefloe.table.scan.plan import has_deletes
from icefloe.table.write.rows import POS, POSITIONS, Positions, other_rows, rows_at, touched_files, with_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe import _core
    from icefloe.table.scan.plan import ScanPlan


LEAST_ROWS = 100_000
"""The core copies no fewer rows, so the footers of smaller files are not read for their pages."""


def rewritten_pages(
    plan: ScanPlan, schema: str, without: Positions, copied: _core.CopiedRows
) -> tuple[pa.Array, Iterator[pa.RecordBatch]]:
    """Return the paths of the files that hold any of the positions, and their other live rows that are not copied as pages.

    Args:
        plan: A plan of whole files.
        schema: Schema JSON of the columns to read.
        without: Positions to exclude.
        copied: The pages to copy; those of the files without deletes are added to it.
    """
    touched, positions = touched_files(plan, without)
    remaining = _added(touched, positions, copied)
    is_copied = pa.array([row in remaining for row in range(touched.files.num_rows)], pa.bool_())
    streams: list[Iterator[pa.RecordBatch]] = []
    if remaining:
        streams.append(iter(rows_at(touched, schema, _positions(remaining))))
    if len(remaining) < touched.files.num_rows:
        is_read = pc.invert(is_copied)
        of_read = Positions(positions.rows.filter(is_read.take(positions.rows.column(FILE_ROW).combine_chunks())))
        streams.append(iter(other_rows(with_files(touched, is_read), schema, of_read.renumbered(is_read))))
    return touched.files.column("file_path"), itertools.chain.from_iterable(streams)


def _added(touched: ScanPlan, positions: Positions, copied: _core.CopiedRows) -> dict[int, pa.Array]:
    """Add the pages of each file, and return the positions of the other remaining rows of the files with pages to copy."""
    paths = touched.files.column("file_path").to_pylist()
    is_small = pc.less(touched.files.column("record_count"), LEAST_ROWS)
    is_encoded = pc.or_(has_deletes(touched.files), is_small).to_pylist()
    remaining: dict[int, pa.Array] = {}
    for row, (start, count) in positions.runs().items():
        if is_encoded[row]:
            continue
        removed = pa.RecordBatch.from_arrays(
            [positions.rows.column(POS).slice(start, count).combine_chunks()], names=[POS]
        )
        others = copied.add(paths[row], removed)
        if others is not None:
            remaining[row] = others
    return remaining


def _positions(rows: dict[int, pa.Array]) -> Positions:
    """Return positions by the number of their file."""
    numbers = [pa.repeat(pa.scalar(row, pa.int32()), len(positions)) for row, positions in rows.items()]
    return Positions(pa.table([pa.chunked_array(numbers), pa.chunked_array(list(rows.values()))], schema=POSITIONS))
