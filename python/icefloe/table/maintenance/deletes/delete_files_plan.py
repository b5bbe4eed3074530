"""Plans and results of verbs that change delete files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.table.commit.manifest_writer import DELETES, ManifestWriter
from icefloe.table.commit.snapshot_producer import check_branch, head_of
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.plan import Plan, Result
from icefloe.table.refs import MAIN_BRANCH

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

_SHOWN = ("file_path", "content", "partition", "record_count", "file_size_in_bytes", "reason")


@dataclass(frozen=True, kw_only=True, eq=False)
class DeleteFilesPlan(Plan):
    """Delete files of a branch that are to be replaced or removed.

    Attributes:
        table_uuid: The table.
        branch: The branch to change.
        snapshot_id: The snapshot that was planned.
        files: One row for each delete file: `file_path`, `content` (1 positions, 2 equality), `partition`, `record_count`,
            `file_size_in_bytes`, `sequence_number`, `reason` and others.
    """

    verb: ClassVar[str]
    action: ClassVar[str]
    table_uuid: str
    branch: str
    snapshot_id: int | None
    files: pa.Table = field(repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether no delete file is changed."""
        return bool(self.files.num_rows == 0)

    @property
    def file_count(self) -> int:
        """The number of delete files to change."""
        return int(self.files.num_rows)

    @property
    def total_bytes(self) -> int:
        """The bytes of these files."""
        return int(pc.sum(self.files.column("file_size_in_bytes")).as_py() or 0)

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.is_empty:
            return f"{self.verb}: there is nothing to {self.action}"
        return (
            f"{self.verb}: {self.action} {count_text(self.file_count, 'delete file')} of {bytes_text(self.total_bytes)}"
        )

    def rows(self) -> pa.Table:
        """Return one row for each delete file: `file_path`, `content`, `partition`, `record_count`, `file_size_in_bytes`, `reason`."""
        return self.files.select(list(_SHOWN))

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "verb": self.verb,
            "summary": self.summary(),
            "branch": self.branch,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
            "file_count": self.file_count,
            "total_bytes": self.total_bytes,
            "files": self.rows().to_pylist(),
        }


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

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "verb": self.verb,
            "summary": self.summary(),
            "rewritten_delete_files_count": self.rewritten_delete_files_count,
            "added_delete_files_count": self.added_delete_files_count,
            "rewritten_bytes_count": self.rewritten_bytes_count,
            "added_bytes_count": self.added_bytes_count,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
        }


def branch_head(metadata: TableMetadata, branch: str, verb: str) -> Snapshot | None:
    """Return the head of a branch, None for a table without snapshots.

    Raises:
        ValidationError: There is no such branch, or the name is that of a tag.
    """
    check_branch(metadata, branch)
    if branch != MAIN_BRANCH and branch not in metadata.refs:
        raise ValidationError(f"{verb}: branch {branch!r} does not exist")
    return head_of(metadata, branch)


def live_delete_files(table: Any, head: Snapshot | None) -> pa.Table:
    """Return the entries of the live delete files of a snapshot."""
    environment = getattr(table.catalog, "environment", SYSTEM)
    writer = ManifestWriter(table.io, 0, environment.new_uuid())
    manifests = writer.list_of(head)
    return writer.live_entries(table.metadata, manifests.filter(pc.equal(manifests.column("content"), DELETES)))


def check_plan(plan: Any, table: Any) -> None:
    """Raise ValidationError if a plan was made for another table."""
    uuid = str(table.metadata.table_uuid)
    if plan.table_uuid != uuid:
        raise ValidationError(f"{plan.verb}: expected a plan of table {uuid}, got one of table {plan.table_uuid}")
