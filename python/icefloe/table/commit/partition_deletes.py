"""Delete files of partitions that a commit leaves without data files to which they apply. Spec: Scan Planning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.io.arrow_values import int_scalar
from icefloe.table.commit.manifests_of_partitions import may_list_partitions
from icefloe.table.commit.referenced_files import referenced_paths
from icefloe.table.commit.summary import EQUALITY_DELETES, POSITION_DELETES
from icefloe.transforms import VoidTransform

if TYPE_CHECKING:
    from icefloe.table.commit.manifest_writer import ManifestWriter
    from icefloe.table.commit.removed_files import RemovedFiles
    from icefloe.table.metadata import TableMetadata

_KEY = "key"
_NEWEST = "newest_data"
# Read in one round, so that memory does not grow with the table.
_MOST_MANIFESTS = 32


def unused_in_partitions(
    writer: ManifestWriter, base: TableMetadata, data: pa.Table, deletes: pa.Table, lost: RemovedFiles
) -> pa.Array:
    """Return the paths of the delete files that apply to no data file any more, of partitions that lose data files.

    Position delete files of one data file and equality delete files of unpartitioned specs are not among them. Manifests are read from the
    oldest on, twice as many in each round up to 32, until every delete file has a data file: the oldest manifests of a partition mostly have one.

    Args:
        writer: The writer of the commit.
        base: The table.
        data: Manifests of the data files that remain, and of the data files that the commit adds.
        deletes: Live entries of delete files.
        lost: The removed data files, of known partitions.
    """
    assert lost.partitions is not None, "they are entries of manifests"
    unused = _of_partitions(base, deletes, lost.partitions)
    data = data.sort_by("min_sequence_number")
    count = 1
    while unused.num_rows > 0:
        # Data files of this commit alone have no number yet: they are newer than every delete file.
        is_old = pc.less_equal(data.column("min_sequence_number"), pc.max(unused.column(_NEWEST)))
        data = data.filter(pc.and_(is_old, may_list_partitions(base, data, unused)))
        if data.num_rows == 0:
            break
        unused = _without_data(unused, writer.live_entries(base, data.slice(0, count), statistics=False))
        data, count = data.slice(count), min(2 * count, _MOST_MANIFESTS)
    return unused.column("file_path").cast(pa.string()).combine_chunks()


def are_unused_globals(base: TableMetadata, deletes: pa.Table, oldest: int | None) -> pa.Array:
    """Return whether each delete file applies to every partition of the table, and to no data file.

    Args:
        base: The table.
        deletes: Live entries of delete files.
        oldest: The least sequence number of the data files that remain; None if they are all newer than every delete file.
    """
    return _are_unused(_are_global(base, deletes), deletes.column("sequence_number"), oldest)


def may_list_unused_globals(base: TableMetadata, manifests: pa.Table, oldest: int | None) -> pa.Array:
    """Return whether each manifest may list delete files for which `are_unused_globals` is true."""
    is_own = pc.is_in(manifests.column("partition_spec_id"), value_set=_unpartitioned(base))
    return _are_unused(is_own, manifests.column("min_sequence_number"), oldest)


def _are_unused(are_global: pa.Array, numbers: pa.Array, oldest: int | None) -> pa.Array:
    if oldest is None:
        return are_global
    return pc.and_(are_global, pc.less_equal(numbers, int_scalar(oldest, pa.int64())))


def _are_global(base: TableMetadata, deletes: pa.Table) -> pa.Array:
    """Return whether each delete file is an equality delete file of an unpartitioned spec."""
    is_own = pc.is_in(deletes.column("spec_id"), value_set=_unpartitioned(base))
    return pc.and_(_has_content(deletes, EQUALITY_DELETES), is_own)


def _unpartitioned(base: TableMetadata) -> pa.Array:
    """Return the ids of the specs without fields besides void ones."""
    specs = base.partition_specs
    ids = [spec.spec_id for spec in specs if all(isinstance(field.transform, VoidTransform) for field in spec.fields)]
    return pa.array(ids, pa.int32())


def _of_partitions(base: TableMetadata, deletes: pa.Table, partitions: pa.Table) -> pa.Table:
    """Return the delete files that apply to a whole partition, with the greatest sequence number of data files that they apply to."""
    is_positions = _has_content(deletes, POSITION_DELETES)
    is_wide = pc.if_else(is_positions, pc.is_null(referenced_paths(deletes)), pc.invert(_are_global(base, deletes)))
    one, zero = (int_scalar(number, pa.int64()) for number in (1, 0))
    numbers = deletes.column("sequence_number")
    newest = pc.if_else(is_positions, numbers, pc.subtract(numbers, one))
    found = pa.table(
        {
            "file_path": deletes.column("file_path"),
            "spec_id": deletes.column("spec_id"),
            "partition": deletes.column("partition"),
            _KEY: _keys(deletes),
            _NEWEST: newest,
        }
    )
    is_own = pc.is_in(found.column(_KEY), value_set=_keys(partitions).combine_chunks())
    return found.filter(pc.and_(pc.and_(is_wide, is_own), pc.greater(numbers, zero)))


def _without_data(deletes: pa.Table, data: pa.Table) -> pa.Table:
    """Return the delete files that apply to none of some data files."""
    files = pa.table({_KEY: _keys(data), "number": data.column("sequence_number")})
    oldest = files.group_by(_KEY, use_threads=False).aggregate([("number", "min")])
    places = pc.index_in(deletes.column(_KEY), value_set=oldest.column(_KEY).combine_chunks())
    numbers = oldest.column("number_min").take(places)
    applies = pc.fill_null(pc.less_equal(numbers, deletes.column(_NEWEST)), fill_value=False)
    return deletes.filter(pc.invert(applies))


def _has_content(files: pa.Table, content: int) -> pa.ChunkedArray:
    return pc.equal(files.column("content"), int_scalar(content, pa.int32()))


def _keys(files: pa.Table) -> pa.ChunkedArray:
    """Return one text for the spec and the partition of each file."""
    spec_ids, tuples = (files.column(name).cast(pa.string()) for name in ("spec_id", "partition"))
    return pc.binary_join_element_wise(spec_ids, tuples, " ")
