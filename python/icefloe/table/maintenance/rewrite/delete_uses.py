"""The uses of delete files by groups of data files, from which follows when a delete file can be removed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.maintenance.branch_plan import whole_files
from icefloe.table.maintenance.rewrite.live_files import LiveFiles
from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.table.maintenance.rewrite.group import FileGroup
    from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan
    from icefloe.table.snapshots import Snapshot


class DeleteUses:
    """The groups of a round that need each delete file of a branch; all data files of no group with deletes count as one group.

    The branch is planned for the first commit that replaces files with deletes, and again after a commit of another writer.
    Between two commits of the run itself, the uses of the groups that were committed end. The new files need no delete file that a group
    has applied: equality deletes apply to files of lower sequence numbers than that of the snapshot that all groups were read from, and
    position deletes name older files.

    Args:
        table: The table's handle.
        plan: The plan.
        groups: The groups of a round, all read from one snapshot, each with the delete files that were applied.
    """

    def __init__(self, table: Any, plan: RewriteDataFilesPlan, groups: Sequence[FileGroup]) -> None:
        self._table = table
        self._plan = plan
        self._groups = [group for group in groups if group.deletes.num_rows > 0]
        self._snapshot_id: int | None = None
        self._paths = pa.array([], pa.string())
        self._uses: Counter[int] = Counter()
        # The delete files that each group has applied, as positions among the paths: a pair takes 4 bytes.
        self._applied: dict[int, pa.Array] = {}

    def unused(self, groups: Sequence[FileGroup]) -> pa.Array:
        """Return the paths of live delete files that apply to no data file but those of groups that have applied them."""
        head = head_of(self._table.metadata, self._plan.branch)
        if head is None or all(group.deletes.num_rows == 0 for group in groups):
            return pa.array([], pa.string())
        if head.snapshot_id != self._snapshot_id:
            self._count(head.snapshot_id)
        ended = self._ended_by(groups)
        unused = [position for position, count in ended.items() if count == self._uses[position]]
        return self._paths.take(pa.array(sorted(unused), pa.int32()))

    def release(self, groups: Sequence[FileGroup], snapshot: Snapshot | None) -> None:
        """End the uses of groups that a snapshot has replaced; None for a snapshot that has expired already."""
        if self._snapshot_id is not None and snapshot is not None and snapshot.parent_snapshot_id == self._snapshot_id:
            self._uses.subtract(self._ended_by(groups))
            self._snapshot_id = snapshot.snapshot_id

    def _count(self, snapshot_id: int) -> None:
        scan = whole_files(self._table, self._table.metadata, snapshot_id)
        live = LiveFiles.of(scan, [group.files for group in self._groups])
        self._paths = scan.deletes.column("file_path").unique()
        _, needed = with_own_deletes(live.others, scan.deletes)
        self._uses = _counted([self._positions(needed)])
        for group, (_, deletes) in zip(self._groups, live.of_groups(), strict=True):
            positions = self._positions(deletes)
            self._uses.update(_counted([positions]))
            # Deletes that were added after the group was read apply to its new files as well: their use does not end.
            applied = pc.is_in(deletes.column("file_path"), value_set=group.deletes.column("file_path"))
            self._applied[group.number] = positions.filter(applied)
        self._snapshot_id = snapshot_id

    def _positions(self, deletes: pa.RecordBatch) -> pa.Array:
        """Return the positions of delete files among the paths as int32."""
        return pc.index_in(deletes.column("file_path"), value_set=self._paths)

    def _ended_by(self, groups: Sequence[FileGroup]) -> Counter[int]:
        return _counted([self._applied[group.number] for group in groups if group.number in self._applied])


def _counted(positions: list[pa.Array]) -> Counter[int]:
    """Return how often each number occurs in arrays."""
    counts = pc.value_counts(pa.chunked_array(positions, pa.int32()))
    return Counter(dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)))
