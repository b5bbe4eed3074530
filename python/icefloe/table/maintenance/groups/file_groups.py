"""Choosing the files to rewrite and packing them into groups, over columns of a scan plan."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from icefloe.table.maintenance.groups.options import FileSizes, RewriteOptions

SMALL, LARGE, DELETES, SPEC, ORDER, ALL = (1 << bit for bit in range(6))
REASONS = {
    SMALL: "small files",
    LARGE: "large files",
    DELETES: "deleted rows",
    SPEC: "older partition spec",
    ORDER: "other sort order",
    ALL: "every file is rewritten",
}
_LASTING = DELETES | SPEC | ORDER | ALL
"""Reasons that a rewrite removes whatever the number of its files is."""

GROUPS = pa.schema(
    [
        ("partition", pa.string()),
        ("files", pa.int64()),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("new_files", pa.int64()),
        ("reason", pa.string()),
    ]
)
"""Columns of a plan's groups; `partition` is the tuple in JSON, and it and the number of new files are null for files of several
partitions."""


@dataclass(frozen=True)
class Candidates:
    """Files that may be rewritten, in the order of the scan plan.

    Attributes:
        rows: Row numbers in the plan, int64.
        keys: The group of each file: files of different keys are never rewritten together, int32.
        labels: Partition tuples of the groups in JSON, by key; null for files of several partitions.
        sizes: Bytes of each file, int64.
        records: Rows of each file, int64.
        ages: Data sequence number of each file, int64: older rows come first.
        origins: Number of the rewrite that wrote each file for the same sizes, else -1, int64.
        reasons: Bits of `REASONS`, int64.
    """

    rows: pa.Array
    keys: pa.Array
    labels: list[str | None]
    sizes: pa.Array
    records: pa.Array
    ages: pa.Array
    origins: pa.Array
    reasons: pa.Array


@dataclass(frozen=True)
class Packed:
    """Groups of files.

    Attributes:
        groups: One row for each group, columns of `GROUPS`.
        rows: Row numbers of the files in the scan plan, group after group.
    """

    groups: pa.Table
    rows: pa.Array


def size_reasons(sizes: pa.Array, limits: FileSizes) -> pa.Array:
    """Return `SMALL` or `LARGE` for each file whose size is out of range, else 0."""
    small = pc.less(sizes, limits.smallest)
    large = pc.greater(sizes, limits.largest)
    return pc.add(pc.multiply(small.cast(pa.int64()), SMALL), pc.multiply(large.cast(pa.int64()), LARGE))


def deletes_of(files: pa.RecordBatch, values: pa.Array) -> pa.Array:
    """Return for each of a plan's files the sum of a value of the delete files that apply.

    Args:
        files: The plan's files; `deletes` holds runs of delete files.
        values: One int64 for each of the plan's delete files.
    """
    sums = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(values)])
    lists = files.column("deletes")
    runs = lists.flatten()
    first = pc.struct_field(runs, "first")
    of_run = pc.subtract(sums.take(pc.add(first, pc.struct_field(runs, "count"))), sums.take(first))
    of_runs = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(of_run)])
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    ends = pc.cumulative_sum(lengths.cast(pa.int64()))
    return pc.subtract(of_runs.take(ends), of_runs.take(pc.subtract(ends, lengths)))


def pack(candidates: Candidates, sizes: FileSizes, options: RewriteOptions) -> Packed:
    """Return the groups that are worth rewriting, in the order of `rewrite_job_order`."""
    table = pa.table(
        {
            "row": candidates.rows,
            "key": candidates.keys,
            "size": candidates.sizes,
            "records": candidates.records,
            "age": candidates.ages,
            "origin": candidates.origins,
            "reasons": candidates.reasons,
        }
    )
    table = table.filter(pc.greater(table.column("reasons"), 0))
    if table.num_rows == 0:
        return Packed(GROUPS.empty_table(), pa.array([], pa.int64()))
    table = table.sort_by([(name, "ascending") for name in ("key", "age", "row")])
    table = table.append_column("bin", _bins(table, options))
    table = table.append_column("at", pa.array(range(table.num_rows), pa.int64()))
    found = _worth(_totals(table), sizes, options).sort_by(_order(options))
    most = options.max_files_to_rewrite
    if most is not None and most < (pc.sum(found.column("size_count")).as_py() or 0):
        table = _first_files(table, found, most)
        # A group that was cut may have fewer files than the least of a whole one.
        found = _worth(_totals(table), sizes, replace(options, min_input_files=1)).sort_by(_order(options))
    return _packed(table, found, candidates.labels)


def _bins(table: pa.Table, options: RewriteOptions) -> pa.Array:
    """Return the number of each file's bin: a key's files in order, up to the limits of a group."""
    most_bytes, most_files = options.max_file_group_size_bytes, options.max_file_group_input_files
    per_key = table.group_by("key", use_threads=False).aggregate([("size", "sum"), ("size", "count")])
    per_key = per_key.sort_by("key")
    totals = zip(*(per_key.column(name).to_pylist() for name in ("size_sum", "size_count")), strict=True)
    ends: list[int] = []
    start = 0
    for total, count in totals:
        if total <= most_bytes and count <= most_files:
            ends.append(start + count)
        else:
            ends.extend(start + end for end in _cuts(table.column("size").slice(start, count), most_bytes, most_files))
        start += count
    starts = pa.array([0, *ends[:-1]], pa.int64())
    marks = pc.is_in(pa.array(range(table.num_rows), pa.int64()), value_set=starts.slice(1))
    return pc.cumulative_sum(marks.cast(pa.int64()))


def _cuts(sizes: pa.ChunkedArray, most_bytes: int, most_files: int) -> list[int]:
    sums = pc.cumulative_sum(sizes).to_pylist()
    cuts: list[int] = []
    start = 0
    while start < len(sums):
        before = sums[start - 1] if start > 0 else 0
        end = min(bisect_right(sums, before + most_bytes), start + most_files)
        start = max(end, start + 1)
        cuts.append(start)
    return cuts


def _totals(table: pa.Table) -> pa.Table:
    for bit in REASONS:
        has_reason = pc.greater(pc.bit_wise_and(table.column("reasons"), bit), 0)
        table = table.append_column(f"reason_{bit}", has_reason)
    names = [(f"reason_{bit}", "any") for bit in REASONS]
    grouped = table.group_by("bin", use_threads=False)
    totals = [("size", "sum"), ("size", "count"), ("records", "sum"), ("key", "min"), ("origin", "min_max")]
    return grouped.aggregate([*totals, *names])


def _worth(bins: pa.Table, sizes: FileSizes, options: RewriteOptions) -> pa.Table:
    """Return the bins whose rewrite helps, with the number of their new files."""
    totals, counts = bins.column("size_sum"), bins.column("size_count")
    outputs = pa.array([sizes.outputs(total) for total in totals.to_pylist()], pa.int64())
    several = pc.greater_equal(counts, 2)
    many = pc.and_(several, pc.greater_equal(counts, options.min_input_files))
    enough = pc.and_(several, pc.greater(totals, sizes.target))
    # A rewrite into as many files as before would be repeated for ever, and so would one of the files of one rewrite, which are as
    # large as the writer makes them.
    fewer = pc.less(outputs, counts)
    oversize = pc.and_(bins.column(f"reason_{LARGE}_any"), pc.greater(outputs, counts))
    origins = bins.column("origin_min_max").combine_chunks()
    least, most = pc.struct_field(origins, "min"), pc.struct_field(origins, "max")
    rewritten = pc.and_(pc.greater_equal(least, 0), pc.equal(least, most))
    keep = pc.and_(pc.or_(pc.and_(pc.or_(many, enough), fewer), oversize), pc.invert(rewritten))
    for bit in REASONS:
        if bit & _LASTING:
            keep = pc.or_(keep, bins.column(f"reason_{bit}_any"))
    return bins.append_column("outputs", outputs).filter(keep)


def _order(options: RewriteOptions) -> list[tuple[str, str]]:
    kind, _, direction = options.rewrite_job_order.partition("-")
    column = {"bytes": "size_sum", "files": "size_count"}.get(kind)
    first = [] if column is None else [(column, "ascending" if direction == "asc" else "descending")]
    return [*first, ("bin", "ascending")]


def _first_files(table: pa.Table, bins: pa.Table, most: int) -> pa.Table:
    """Return the first files of bins, bin after bin."""
    numbers = bins.column("bin").combine_chunks()
    table = table.filter(pc.is_in(table.column("bin"), value_set=numbers))
    places = pc.index_in(table.column("bin"), value_set=numbers)
    ordered = table.append_column("place", places).sort_by([("place", "ascending"), ("at", "ascending")])
    return ordered.slice(0, most).drop_columns(["place"])


def _packed(table: pa.Table, bins: pa.Table, labels: list[str | None]) -> Packed:
    ordered = _first_files(table, bins, table.num_rows)
    partitions = pa.array([labels[key] for key in bins.column("key_min").to_pylist()], pa.string())
    outputs = bins.column("outputs").combine_chunks()
    columns: dict[str, Any] = {
        "partition": partitions,
        "files": bins.column("size_count"),
        "bytes": bins.column("size_sum"),
        "rows": bins.column("records_sum"),
        "new_files": pc.if_else(pc.is_valid(partitions), outputs, pa.scalar(None, pa.int64())),
        "reason": _reasons(bins),
    }
    groups = pa.table({name: columns[name] for name in GROUPS.names}, schema=GROUPS)
    return Packed(groups, ordered.column("row").combine_chunks())


def _reasons(bins: pa.Table) -> list[str]:
    flags = zip(*(bins.column(f"reason_{bit}_any").to_pylist() for bit in REASONS), strict=True)
    texts = REASONS.values()
    return [", ".join(text for text, flag in zip(texts, row, strict=True) if flag) for row in flags]
