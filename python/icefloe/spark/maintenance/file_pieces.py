"""Consecutive parts of a group of data files, one for each task."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.plan import ScanPlan

_MOST_RANGES = 1_024
"""The most byte ranges of a file. A manifest may state any file size."""


def consecutive_parts(scan: ScanPlan, count: int) -> Iterator[ScanPlan]:
    """Yield at most `count` consecutive parts of a plan's files.

    A part ends at the file whose middle is nearest to an even share of the bytes, so no row changes its place.
    """
    file_bytes = scan.files.column("length").to_numpy(zero_copy_only=False)
    total = int(file_bytes.sum())
    if count < 2 or len(file_bytes) < 2 or total <= 0:
        yield scan
        return
    middles = np.cumsum(file_bytes) - file_bytes / 2
    numbers = np.clip((middles * count / total).astype(np.int64), 0, count - 1)
    _, firsts = np.unique(numbers, return_index=True)
    for first, end in zip(firsts.tolist(), [*firsts.tolist()[1:], len(numbers)], strict=True):
        files, deletes = with_own_deletes(scan.files.slice(first, end - first), scan.deletes)
        yield replace(scan, files=files, deletes=deletes)


def with_byte_ranges(scan: ScanPlan, range_bytes: int) -> ScanPlan:
    """Return the plan with Parquet files of more than `range_bytes` cut into byte ranges. A range has the row groups that begin in it.

    Args:
        scan: Whole files.
        range_bytes: Target bytes of a range, >= 1.
    """
    files = scan.files
    sizes = files.column("file_size_in_bytes").to_numpy(zero_copy_only=False)
    is_parquet = pc.equal(pc.utf8_upper(files.column("file_format")), "PARQUET").to_numpy(zero_copy_only=False)
    counts = np.where(is_parquet, np.clip(-(-sizes // range_bytes), 1, _MOST_RANGES), 1)
    widths = np.maximum(-(-sizes // counts), 1)
    rows = np.repeat(np.arange(len(sizes)), counts)
    inside = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = inside * widths[rows]
    ends = np.minimum(starts + widths[rows], sizes[rows])
    # The last range of a file whose size is a little above a multiple may have no bytes left.
    kept = (ends > starts) | (inside == 0)
    files = files.take(pa.array(rows[kept]))
    for name, values in (("start", starts[kept]), ("length", (ends - starts)[kept])):
        place = files.schema.get_field_index(name)
        files = files.set_column(place, files.schema.field(place), pa.array(values, pa.int64()))
    return replace(scan, files=files)
