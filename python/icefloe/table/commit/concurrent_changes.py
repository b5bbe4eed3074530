"""The files that other commits added or removed between an operation's starting snapshot and the branch's head."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationException
from icefloe.table.commit.manifest_writer import manifests_of
from icefloe.table.read_context import schema_json, specs_json
from icefloe.table.snapshots import Operation, Snapshot, ancestors_of

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata

ADDED = 1
DELETED = 2
_COLUMNS = [
    "status",
    "snapshot_id",
    "content",
    "file_path",
    "spec_id",
    "partition",
    "equality_ids",
    "referenced_data_file",
]


@dataclass(frozen=True)
class ConcurrentChanges:
    """Files that other commits added or removed, with the columns of `_COLUMNS`.

    Attributes:
        added_data: Data files added.
        removed_data: Data files removed by any operation.
        overwritten_data: The part of `removed_data` that operations other than `delete` removed.
        added_deletes: Delete files added.
        replacements: The ids of snapshots that replaced files by files with the same rows.
        rewrites: The part of `replacements` whose files have no row that another commit changed.
    """

    added_data: pa.Table
    removed_data: pa.Table
    overwritten_data: pa.Table
    added_deletes: pa.Table
    replacements: pa.Array
    rewrites: pa.Array

    @property
    def paths_of_deletes(self) -> pa.Array:
        """The paths of the data files that operations `delete` removed."""
        removed, overwritten = (
            files.column("file_path").combine_chunks() for files in (self.removed_data, self.overwritten_data)
        )
        return removed.filter(pc.invert(pc.is_in(removed, overwritten)))

    def without(self, snapshot_ids: pa.Array) -> ConcurrentChanges:
        """Return the files that snapshots other than these added or removed."""
        return replace(
            self,
            added_data=_without(self.added_data, snapshot_ids),
            removed_data=_without(self.removed_data, snapshot_ids),
            overwritten_data=_without(self.overwritten_data, snapshot_ids),
            added_deletes=_without(self.added_deletes, snapshot_ids),
        )

    def after(self, sequence_number: int, metadata: TableMetadata) -> ConcurrentChanges:
        """Return the files that snapshots with a greater sequence number added or removed.

        Args:
            sequence_number: Sequence number.
            metadata: A version of the table that has the snapshots.
        """
        older = [
            snapshot.snapshot_id
            for snapshot in metadata.snapshots
            if (snapshot.sequence_number or 0) <= sequence_number
        ]
        return self.without(pa.array(older, pa.int64()))


def _without(files: pa.Table, snapshot_ids: pa.Array) -> pa.Table:
    return files.filter(pc.invert(pc.is_in(files.column("snapshot_id"), snapshot_ids)))


def changes_since(
    io: FileIO, metadata: TableMetadata, start_id: int | None, head: Snapshot | None
) -> ConcurrentChanges | None:
    """Return the files that changed after `start_id` up to `head`, None if no snapshot was added.

    Only manifests that these snapshots wrote are opened: the entries of all other manifests are older.

    Args:
        io: Storage.
        metadata: The newest version of the table.
        start_id: The snapshot that the operation read; None when the table was empty.
        head: The branch's newest snapshot.

    Raises:
        ValidationException: `start_id` is not an ancestor of the head.
    """
    if head is None and start_id is None:
        return None
    if head is None:
        raise ValidationException(
            f"cannot determine the changes since snapshot {start_id}: the branch has no snapshot any more; reload the table and "
            "repeat the operation"
        )
    if head.snapshot_id == start_id:
        return None
    walked = _walk(metadata, start_id, head)
    return _changes_of(walked, _entries(io, metadata, walked))


def _changes_of(walked: list[Snapshot], entries: pa.Table) -> ConcurrentChanges:
    """Return the files of the entries that the walked snapshots added or removed, by their content and operation."""
    added = entries.filter(pc.equal(entries.column("status"), ADDED))
    removed = entries.filter(
        pc.and_(pc.equal(entries.column("status"), DELETED), pc.equal(entries.column("content"), 0))
    )
    is_data = pc.equal(added.column("content"), 0)
    return ConcurrentChanges(
        added_data=added.filter(is_data),
        removed_data=removed,
        overwritten_data=removed.filter(
            pc.is_in(removed.column("snapshot_id"), _ids(walked, Operation.OVERWRITE, Operation.REPLACE))
        ),
        added_deletes=added.filter(pc.invert(is_data)),
        replacements=_ids(walked, Operation.REPLACE),
        rewrites=_rewrites(walked, entries),
    )


def _ids(walked: list[Snapshot], *operations: Operation) -> pa.Array:
    """Return the ids of the snapshots of some operations."""
    return pa.array([snapshot.snapshot_id for snapshot in walked if snapshot.operation in operations], pa.int64())


def _rewrites(walked: list[Snapshot], entries: pa.Table) -> pa.Array:
    """Return the `replace` snapshots whose files have no row that another of the walked snapshots added or deleted.

    The planner compares files of the head with a filter. A rewrite of an added file has taken its place there, so it counts as the
    added file does. A rewrite after a commit of delete files may have applied them, so it counts as the delete files do.
    """
    rewrites: set[int] = set()
    with_deletes = pc.unique(
        entries.filter(pc.not_equal(entries.column("content"), 0)).column("snapshot_id")
    ).to_pylist()
    for snapshot in walked:  # newest first
        if snapshot.operation == Operation.REPLACE:
            rewrites.add(snapshot.snapshot_id)
        elif snapshot.snapshot_id in with_deletes:
            rewrites.clear()
    while rewrites:
        ids = pa.array(sorted(rewrites), pa.int64())
        is_rewrite = pc.is_in(entries.column("snapshot_id"), ids)
        changed = entries.filter(pc.invert(is_rewrite)).column("file_path").combine_chunks()
        rewritten = entries.filter(pc.and_(is_rewrite, pc.is_in(entries.column("file_path"), changed)))
        if rewritten.num_rows == 0:
            return ids
        rewrites.difference_update(rewritten.column("snapshot_id").to_pylist())
    return pa.array([], pa.int64())


def _walk(metadata: TableMetadata, start_id: int | None, head: Snapshot) -> list[Snapshot]:
    walked: list[Snapshot] = []
    for snapshot in ancestors_of(head, metadata):
        if snapshot.snapshot_id == start_id:
            return walked
        walked.append(snapshot)
    if start_id is None and walked[-1].parent_snapshot_id is None:
        return walked
    raise ValidationException(
        f"cannot determine the changes since snapshot {start_id}: it is not an ancestor of the branch's head "
        f"{head.snapshot_id} any more (rolled back or expired); reload the table and repeat the operation"
    )


def _entries(io: FileIO, metadata: TableMetadata, walked: list[Snapshot]) -> pa.Table:
    """Return the entries that the walked snapshots added or removed."""
    written = []
    for snapshot in walked:
        manifests = manifests_of(io, snapshot)
        written.append(manifests.filter(pc.equal(manifests.column("added_snapshot_id"), snapshot.snapshot_id)))
    entries = _core.read_manifest(
        io.core,
        pa.concat_tables(written),
        schema=schema_json(metadata.schema()),
        specs=specs_json(metadata),
        keep="all",
    )
    table = entries.select(_COLUMNS)
    ids = pa.array([snapshot.snapshot_id for snapshot in walked], pa.int64())
    return table.filter(pc.is_in(table.column("snapshot_id"), ids))
