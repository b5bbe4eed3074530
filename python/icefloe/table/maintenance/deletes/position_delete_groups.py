"""Choosing the position delete files to rewrite, over columns of manifest entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.referenced_files import referenced_paths
from icefloe.table.maintenance.groups.file_groups import SMALL, size_reasons

if TYPE_CHECKING:
    from icefloe.table.maintenance.groups.options import FileSizes, RewriteOptions


def chosen_files(
    files: pa.Table, live: pa.Array, sizes: FileSizes, options: RewriteOptions, *, by_file: bool
) -> pa.Table:
    """Return the position delete files to rewrite, with a column `reason`.

    Args:
        files: Entries of the live position delete files.
        live: Paths of the live data files.
        sizes: Sizes of delete files.
        options: The options.
        by_file: Whether each data file has a delete file of its own; otherwise each partition has.
    """
    if files.num_rows == 0:
        return files.append_column("reason", pa.array([], pa.string()))
    keys = pc.binary_join_element_wise(files.column("spec_id").cast(pa.string()), files.column("partition"), "|")
    files = files.append_column("key", keys).append_column("data_file", referenced_paths(files))
    reasons = _by_file(files, live) if by_file else _by_partition(files, sizes, options)
    if options.rewrite_all:
        reasons = pc.coalesce(reasons, pa.scalar("every file is rewritten"))
    files = files.append_column("reason", reasons)
    return files.filter(pc.is_valid(files.column("reason"))).drop_columns(["key", "data_file"])


def _by_file(files: pa.Table, live: pa.Array) -> pa.ChunkedArray:
    data_files = files.column("data_file")
    several = pc.is_null(data_files)
    gone = pc.and_kleene(pc.is_valid(data_files), pc.invert(pc.is_in(data_files, value_set=live)))
    counts = pc.value_counts(data_files.combine_chunks())
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    repeats = pc.and_(pc.is_valid(data_files), pc.is_in(data_files, value_set=repeated))
    # Splitting the files of several data files adds delete files to data files that have one already.
    split = pc.is_in(files.column("key"), value_set=pc.unique(files.column("key").filter(several)))
    return pc.case_when(
        pc.make_struct(
            pc.fill_null(several, False),
            pc.fill_null(gone, False),
            pc.fill_null(repeats, False),
            pc.fill_null(split, False),
            field_names=["several", "gone", "repeats", "split"],
        ),
        pa.scalar("several data files in one delete file"),
        pa.scalar("the data file was removed"),
        pa.scalar("several delete files of one data file"),
        pa.scalar("delete files of the partition are split"),
    )


def _by_partition(files: pa.Table, sizes: FileSizes, options: RewriteOptions) -> pa.ChunkedArray:
    bits = size_reasons(files.column("file_size_in_bytes"), sizes)
    files = files.append_column("outside", pc.greater(bits, 0)).append_column(
        "candidate_bytes", pc.if_else(pc.greater(bits, 0), files.column("file_size_in_bytes"), 0)
    )
    totals = files.group_by("key").aggregate([("outside", "sum"), ("candidate_bytes", "sum")])
    rows = totals.to_pylist()
    worth = [
        row["key"]
        for row in rows
        if row["outside_sum"] > sizes.outputs(row["candidate_bytes_sum"])
        and (row["outside_sum"] >= options.min_input_files or row["candidate_bytes_sum"] > sizes.target)
    ]
    chosen = pc.and_(files.column("outside"), pc.is_in(files.column("key"), value_set=pa.array(worth, pa.string())))
    small = pc.if_else(pc.equal(bits, SMALL), "small files", "large files")
    return pc.if_else(chosen, small, pa.scalar(None, pa.string()))
