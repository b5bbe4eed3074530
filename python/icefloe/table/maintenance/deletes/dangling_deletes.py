"""Removing delete files that apply to no data file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.rewrite_files import RewriteFiles
from icefloe.table.maintenance.branch_plan import branch_head, whole_files
from icefloe.table.maintenance.deletes.delete_files_change import DeleteFilesChange
from icefloe.table.maintenance.deletes.delete_files_plan import DeleteFilesPlan, DeleteFilesResult, live_delete_files
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.write_transaction import WriteTransaction

_VERB = "remove_dangling_deletes"


@dataclass(frozen=True, kw_only=True, eq=False)
class RemoveDanglingDeletesPlan(DeleteFilesPlan):
    """Delete files that apply to no data file of a branch."""

    verb: ClassVar[str] = _VERB
    action: ClassVar[str] = "remove"


@dataclass(frozen=True, kw_only=True)
class RemoveDanglingDeletesResult(DeleteFilesResult):
    """The delete files that were removed from a branch."""

    verb: ClassVar[str] = _VERB

    @property
    def removed_delete_files_count(self) -> int:
        """The number of removed delete files."""
        return self.rewritten_delete_files_count

    def summary(self) -> str:
        """Return one sentence on what was done."""
        if self.snapshot_id is None:
            return f"{_VERB}: nothing was removed"
        count = count_text(self.rewritten_delete_files_count, "delete file")
        return f"{_VERB}: removed {count} of {bytes_text(self.rewritten_bytes_count)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "verb": self.verb,
            "summary": self.summary(),
            "removed_delete_files_count": self.removed_delete_files_count,
            "removed_bytes_count": self.rewritten_bytes_count,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
        }


class RemoveDanglingDeletes(DeleteFilesChange[RemoveDanglingDeletesPlan, RemoveDanglingDeletesResult]):
    """Removes delete files that no scan of a branch reads any more.

    The scan planner decides: a delete file that applies to no data file is removed. Minimum sequence numbers of partitions, by which
    the Java reference decides, would remove an equality delete file of an unpartitioned spec that applies to files of other specs.

    Examples:
        >>> table.maintenance.remove_dangling_deletes().plan().is_empty
        True
    """

    _plan_kind = RemoveDanglingDeletesPlan

    def plan(self) -> RemoveDanglingDeletesPlan:
        """Return the delete files to remove; nothing is changed.

        Raises:
            ValidationError: The branch does not exist.
        """
        table, metadata = self._table, self._table.metadata
        head = branch_head(metadata, self._branch, _VERB)
        files = live_delete_files(table, head)
        if files.num_rows > 0 and head is not None:
            applying = whole_files(table, metadata, head.snapshot_id).deletes.column("file_path")
            files = files.filter(pc.invert(pc.is_in(files.column("file_path").cast(pa.string()), value_set=applying)))
        reason = pa.repeat("applies to no data file", files.num_rows)
        return RemoveDanglingDeletesPlan(
            **self._target(head),
            files=files.append_column("reason", reason),
        )

    def _carry_out(self, plan: RemoveDanglingDeletesPlan) -> RemoveDanglingDeletesResult:
        if plan.is_empty:
            return RemoveDanglingDeletesResult()
        change = RewriteFiles(WriteTransaction(self._table, autocommit=True), plan.branch)
        change.delete_deletes(plan.files.column("file_path").cast(pa.string()), unused_in=plan.snapshot_id)
        change.commit()
        return RemoveDanglingDeletesResult(
            rewritten_delete_files_count=plan.file_count,
            rewritten_bytes_count=plan.total_bytes,
            snapshot_id=change.snapshot_id,
        )
