"""Choosing the small data files and equality delete files to fold, over columns of manifest entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.io.arrow_values import row_numbers

if TYPE_CHECKING:
    from icefloe.partitioning import PartitionSpec

EQUALITY = 2


def partition_keys(files: pa.Table | pa.RecordBatch) -> pa.Array:
    """Return a text for each file, equal for files of one partition of one spec."""
    keys = pc.binary_join_element_wise(files.column("spec_id").cast(pa.string()), files.column("partition"), "|")
    return keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys


def key_texts(deletes: pa.Table) -> pa.ChunkedArray:
    """Return the field ids of the key of each equality delete file, separated by commas."""
    texts = pc.binary_join(deletes.column("equality_ids").cast(pa.list_(pa.string())), ",")
    return pc.coalesce(texts, "")


def size_tiers(keys: pa.Array, sizes: pa.Array, least: int) -> pa.Array:
    """Return the row numbers of the files to fold.

    The files of a key are taken in the order of their sizes, up to the last file that is no larger than all smaller files together. Each
    fold then at least doubles the size of a row's file, so that a row is folded a logarithmic number of times.

    Args:
        keys: The group of each file; files of different groups are not folded together.
        sizes: Bytes of each file.
        least: The number of files of a group from which they are folded.
    """
    files = pa.table({"key": keys, "size": sizes.cast(pa.int64()), "row": row_numbers(len(keys))})
    files = files.take(pc.sort_indices(files, sort_keys=[("key", "ascending"), ("size", "ascending")]))
    files = files.append_column("at", row_numbers(files.num_rows))
    before = pc.subtract(pc.cumulative_sum(files.column("size")), files.column("size"))
    firsts = files.group_by("key").aggregate([("at", "min")])
    smaller = pc.subtract(before, before.take(_of_keys(files, firsts, "at_min")))
    lasts = files.filter(pc.less_equal(files.column("size"), smaller)).group_by("key").aggregate([("at", "max")])
    chosen = files.filter(pc.fill_null(pc.less_equal(files.column("at"), _of_keys(files, lasts, "at_max")), False))
    counts = chosen.group_by("key").aggregate([("at", "count")])
    enough = pc.greater_equal(_of_keys(chosen, counts, "at_count"), least)
    return chosen.column("row").filter(enough).combine_chunks()


def delete_runs(deletes: pa.Table, data: pa.RecordBatch, specs: dict[int, PartitionSpec]) -> pa.Table:
    """Return equality delete files with the columns `run` and `is_unused`.

    Two files of a run have the same scope and apply to the same data files, so that one file with the keys of both and the greater
    data sequence number deletes the same rows. Spec: Scan Planning.

    Args:
        deletes: Entries of equality delete files.
        data: The data files that stay.
        specs: The table's partition specs by id.
    """
    everywhere = [spec_id for spec_id, spec in specs.items() if spec.is_unpartitioned()]
    is_global = pc.is_in(deletes.column("spec_id"), value_set=pa.array(everywhere, pa.int32()))
    anywhere, local = deletes.filter(is_global), deletes.filter(pc.invert(is_global))
    parts = [
        _with_runs(local, partition_keys(local), data, partition_keys(data)),
        _with_runs(anywhere, pa.repeat("", anywhere.num_rows), data, pa.repeat("", data.num_rows)),
    ]
    return pa.concat_tables(parts)


def _with_runs(deletes: pa.Table, own: pa.Array, data: pa.RecordBatch, scopes: pa.Array) -> pa.Table:
    """Append `run` and `is_unused` to delete files, where `own` and `scopes` are the scopes of delete files and data files.

    In the order of sequence numbers, the delete files of a run have no data file between them. A delete file without a data file before it
    applies to none.
    """
    count = deletes.num_rows
    both = pa.table(
        {
            "scope": pa.concat_arrays([own, scopes]),
            "sequence_number": pa.chunked_array(
                [*deletes.column("sequence_number").chunks, data.column("data_sequence_number")], pa.int64()
            ).combine_chunks(),
            # A delete file does not apply to the data files of its own commit.
            "is_data": pa.concat_arrays([pa.repeat(0, count), pa.repeat(1, data.num_rows)]),
            "row": row_numbers(count + data.num_rows),
        }
    )
    order = [(name, "ascending") for name in ("scope", "sequence_number", "is_data")]
    both = both.take(pc.sort_indices(both, sort_keys=order)).combine_chunks()
    passed = pc.cumulative_sum(both.column("is_data"))
    both = both.append_column("passed", passed).append_column("at", row_numbers(both.num_rows))
    starts = both.group_by("scope").aggregate([("at", "min")])
    first = _of_keys(both, starts, "at_min", key="scope")
    before_scope = pc.subtract(passed, both.column("is_data")).take(first)
    both = both.append_column("is_unused", pc.equal(passed, before_scope))
    found = both.filter(pc.equal(both.column("is_data"), 0))
    found = found.take(pc.sort_indices(found, sort_keys=[("row", "ascending")]))
    texts = (found.column("passed").cast(pa.string()), partition_keys(deletes), key_texts(deletes))
    runs = pc.binary_join_element_wise(*texts, "|")
    return deletes.append_column("run", runs).append_column("is_unused", found.column("is_unused"))


def groups_of_runs(deletes: pa.Table) -> list[pa.Table]:
    """Return the delete files of each run, in the order of sequence numbers."""
    order = [("run", "ascending"), ("sequence_number", "ascending")]
    ordered = deletes.take(pc.sort_indices(deletes, sort_keys=order))
    groups, start = [], 0
    for counted in pc.value_counts(ordered.column("run")).to_pylist():
        groups.append(ordered.slice(start, counted["counts"]))
        start += counted["counts"]
    return groups


def _of_keys(files: pa.Table, values: pa.Table, name: str, key: str = "key") -> pa.ChunkedArray:
    """Return the value of each file's key, null for a key without a value."""
    places = pc.index_in(files.column(key), value_set=values.column(key).combine_chunks())
    return values.column(name).take(places)
