"""Delete files that a commit leaves without rows to delete, and drops. Spec: Scan Planning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.referenced_files import referenced_paths
from icefloe.table.commit.removed_files import RemovedFiles, may_list
from icefloe.table.commit.summary import DATA, POSITION_DELETES

if TYPE_CHECKING:
    from icefloe.table.commit.manifest_writer import ManifestWriter
    from icefloe.table.metadata import TableMetadata


def unused_deletes(  # noqa: PLR0913 - each decides which files are unused
    writer: ManifestWriter,
    base: TableMetadata,
    manifests: pa.Table,
    oldest: int,
    removed: list[pa.RecordBatch],
    covered: list[RemovedFiles],
    named: list[RemovedFiles],
) -> RemovedFiles:
    """Return the live delete files that are older than every data file, or apply to removed data files alone.

    Only manifests that may list such files are read. As in the Java reference, a commit that names delete files to remove drops older ones
    from manifests alone that may list a file of a partition of the named ones.

    Args:
        writer: The writer of the commit.
        base: The table.
        manifests: Manifests of delete files.
        oldest: The least data sequence number of the data files that remain.
        removed: Entries of the data files that the commit removes.
        covered: Delete files that apply to removed data files alone. Position delete files that refer to one removed data file
            need not be among them.
        named: Delete files that the commit removes by name.
    """
    data = [RemovedFiles.of(batch.filter(pc.equal(batch.column("content"), DATA))) for batch in removed]
    may_be_older = pc.less(manifests.column("min_sequence_number"), oldest)
    read = manifests.filter(pc.or_(may_be_older, may_list(base, manifests, [*data, *covered])))
    if read.num_rows == 0:
        return RemovedFiles.none()
    found = writer.live_entries(base, read)
    numbers, own = found.column("sequence_number"), found.column("file_path").cast(pa.string())
    is_older = pc.and_(pc.greater(numbers, 0), pc.less(numbers, oldest))
    if named and pc.any(is_older).as_py():
        beside = _beside(writer, base, (manifests, manifests.filter(may_be_older)), named)
        is_older = pc.and_(is_older, pc.is_in(own, beside))
    is_dangling = pc.and_(
        pc.equal(found.column("content"), POSITION_DELETES), pc.is_in(referenced_paths(found), _paths(data))
    )
    is_covered = pc.is_in(own, _paths(covered))
    return RemovedFiles.of(found.filter(pc.or_(pc.or_(is_older, is_dangling), is_covered)))


def _beside(
    writer: ManifestWriter, base: TableMetadata, manifests: tuple[pa.Table, pa.Table], named: list[RemovedFiles]
) -> pa.Array:
    """Return the paths of the files in the second manifests that may list a file of a partition of the named ones in the first."""
    every, older = manifests
    if any(each.partitions is None for each in named):
        entries = writer.live_entries(base, every)
        named = [RemovedFiles.among(entries, _paths(named))]
    read = older.filter(may_list(base, older, named))
    if read.num_rows == 0:
        return pa.array([], pa.string())
    return _array(writer.live_entries(base, read).column("file_path").cast(pa.string()))


def _paths(files: list[RemovedFiles]) -> pa.Array:
    return pa.concat_arrays([pa.array([], pa.string()), *(each.paths for each in files)])


def _array(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
