"""Plans and results of verbs that change delete files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow.compute as pc

from icefloe.table.commit.manifest_writer import DELETES, ManifestWriter
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.branch_plan import BranchPlan
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.plan import Result

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.table.snapshots import Snapshot

_SHOWN = ("file_path", "content", "partition", "record_count", "file_size_in_bytes", "reason")


@dataclass(frozen=True, kw_only=True, eq=False)
class DeleteFilesPlan(BranchPlan):
    """Delete files of a branch that are to be replaced or removed.

    Attributes:
        files: One row for each delete file: `file_path`, `content` (1 positions, 2 equality), `partition`, `record_count`,
            `file_size_in_bytes`, `sequence_number`, `reason` and others.
    """

    verb: ClassVar[str]
    action: ClassVar[str]
    listed: ClassVar[str] = "files"
    size_column: ClassVar[str] = "file_size_in_bytes"
    shown: ClassVar[tuple[str, ...]] = _SHOWN
    files: pa.Table = field(repr=False)

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.is_empty:
            return f"{self.verb}: there is nothing to {self.action}"
        return (
            f"{self.verb}: {self.action} {count_text(self.file_count, 'delete file')} of {bytes_text(self.total_bytes)}"
        )


@dataclass(frozen=True, kw_only=True)
class DeleteFilesResult(Result):
    """Delete files that were replaced or removed. Expiry deletes the old ones from storage.

    Attributes:
        rewritten_delete_files_count: Delete files that are not part of the branch any more.
        added_delete_files_count: New delete files.
        rewritten_bytes_count: Bytes of the former.
        added_bytes_count: Bytes of the new ones.
        snapshot_id: The new snapshot, None if nothing was changed.
    """

    verb: ClassVar[str]
    rewritten_delete_files_count: int = 0
    added_delete_files_count: int = 0
    rewritten_bytes_count: int = 0
    added_bytes_count: int = 0
    snapshot_id: int | None = None

    def summary(self) -> str:
        """Return one sentence on what was done."""
        if self.snapshot_id is None:
            return f"{self.verb}: nothing was changed"
        before = count_text(self.rewritten_delete_files_count, "delete file")
        after = count_text(self.added_delete_files_count, "delete file")
        return (
            f"{self.verb}: replaced {before} of {bytes_text(self.rewritten_bytes_count)} by {after} of "
            f"{bytes_text(self.added_bytes_count)}"
        )


def live_delete_files(table: Any, head: Snapshot | None) -> pa.Table:
    """Return the entries of the live delete files of a snapshot."""
    environment = getattr(table.catalog, "environment", SYSTEM)
    writer = ManifestWriter(table.io, 0, environment.new_uuid())
    manifests = writer.list_of(head)
    return writer.live_entries(table.metadata, manifests.filter(pc.equal(manifests.column("content"), DELETES)))
