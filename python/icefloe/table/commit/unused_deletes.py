"""Delete files that a commit leaves without rows to delete, and drops. Spec: Scan Planning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.partition_deletes import (
    are_unused_globals,
    may_list_unused_globals,
    unused_in_partitions,
)
from icefloe.table.commit.referenced_files import referenced_paths
from icefloe.table.commit.removed_files import RemovedFiles, may_list
from icefloe.table.commit.summary import DATA, POSITION_DELETES

if TYPE_CHECKING:
    from icefloe.table.commit.manifest_writer import ManifestWriter
    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True, kw_only=True)
class Removal:
    """The files that a commit removes, and the data files that it leaves.

    Attributes:
        remaining: Manifests of the data files that remain, and of the data files that the commit adds.
        removed: Entries of the data files that the commit removes.
        covered: Delete files that apply to removed data files alone. Position delete files that refer to one removed data file and delete
            files of partitions without older data files need not be among them.
        named: Delete files that the commit removes by name.
    """

    remaining: pa.Table
    removed: list[pa.RecordBatch]
    covered: list[RemovedFiles]
    named: list[RemovedFiles]

    @property
    def oldest(self) -> int | None:
        """The least data sequence number of the remaining data files; None if the commit adds all of them, or none remains."""
        number: int | None = pc.min(self.remaining.column("min_sequence_number")).as_py()
        return number


def unused_deletes(writer: ManifestWriter, base: TableMetadata, manifests: pa.Table, removal: Removal) -> RemovedFiles:
    """Return the live delete files that the commit leaves without data files to which they apply.

    These are delete files that are older than every data file, delete files of partitions that lose data files and keep none that is old enough,
    and delete files that apply to removed data files alone. Only manifests that may list such files are read. As in the Java reference, a commit that
    names delete files to remove drops older ones from manifests alone that may list a file of a partition of the named ones.

    Args:
        writer: The writer of the commit.
        base: The table.
        manifests: Manifests of delete files.
        removal: The files that the commit removes.
    """
    data = [RemovedFiles.of(batch.filter(pc.equal(batch.column("content"), DATA))) for batch in removal.removed]
    oldest = removal.oldest
    limit = base.last_sequence_number if oldest is None else min(oldest, base.last_sequence_number)
    may_be_older = pc.less(manifests.column("min_sequence_number"), limit)
    is_read = pc.or_(may_be_older, may_list(base, manifests, [*data, *removal.covered]))
    if data:
        is_read = pc.or_(is_read, may_list_unused_globals(base, manifests, oldest))
    read = manifests.filter(is_read)
    if read.num_rows == 0:
        return RemovedFiles.none()
    found = writer.live_entries(base, read)
    numbers, own = found.column("sequence_number"), found.column("file_path").cast(pa.string())
    is_older = pc.and_(pc.greater(numbers, 0), pc.less(numbers, limit))
    if removal.named and pc.any(is_older).as_py():
        beside = _beside(writer, base, (manifests, manifests.filter(may_be_older)), removal.named)
        is_older = pc.and_(is_older, pc.is_in(own, beside))
    is_unused = pc.or_(is_older, pc.is_in(own, _paths(removal.covered)))
    for lost in data:
        is_positions = pc.equal(found.column("content"), POSITION_DELETES)
        is_dangling = pc.and_(is_positions, pc.is_in(referenced_paths(found), lost.paths))
        without_data = unused_in_partitions(writer, base, removal.remaining, found, lost)
        is_without_data = pc.or_(pc.is_in(own, without_data), are_unused_globals(base, found, oldest))
        is_unused = pc.or_(is_unused, pc.or_(is_dangling, is_without_data))
    return RemovedFiles.of(found.filter(is_unused))


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
