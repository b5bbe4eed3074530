"""The plan and the result of rewriting data files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from icefloe.table.maintenance.branch_plan import BranchPlan
from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.plan import Result

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.table.maintenance.groups.options import RewriteOptions
    from icefloe.table.maintenance.rewrite.clustering import Clustering


@dataclass(frozen=True, kw_only=True, eq=False)
class RewriteDataFilesPlan(BranchPlan):
    """Groups of data files, each to be rewritten into new files.

    Attributes:
        plan_id: An id that the commits of this plan record in their summaries.
        sequence_number: Sequence number of the snapshot that was planned.
        spec_id: Partition spec of the new files.
        clustering: Arrangement of the rows.
        options: The options.
        groups: One row for each group: `partition`, `files`, `bytes`, `rows`, `new_files` (expected) and `reason`. A group of files of
            several partitions has neither `partition` nor `new_files`: each partition of its rows gets a file of its own.
        files: The files, group after group, columns of a scan plan.
        deletes: The delete files that `files.deletes` refers to.
        warnings: Options without effect, and columns of a curve that were left out, one sentence each.
    """

    verb: ClassVar[str] = "rewrite_data_files"
    listed: ClassVar[str] = "groups"
    size_column: ClassVar[str] = "bytes"
    plan_id: str
    sequence_number: int
    spec_id: int
    clustering: Clustering
    options: RewriteOptions
    groups: pa.Table = field(repr=False)
    files: pa.RecordBatch = field(repr=False)
    deletes: pa.RecordBatch = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def file_count(self) -> int:
        """The number of data files to rewrite."""
        return int(self.files.num_rows)

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.is_empty:
            return "rewrite_data_files: no data file needs to be rewritten"
        return (
            f"rewrite_data_files ({self.clustering}): rewrite {count_text(self.file_count, 'data file')} of "
            f"{bytes_text(self.total_bytes)} in {count_text(self.groups.num_rows, 'group')}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {**super().as_dict(), "strategy": str(self.clustering)}


@dataclass(frozen=True, kw_only=True)
class RewriteDataFilesResult(Result):
    """The files that a rewrite replaced and wrote.

    Attributes:
        rewritten_data_files_count: Data files that were replaced.
        added_data_files_count: New data files.
        rewritten_bytes_count: Bytes of the replaced data files.
        added_bytes_count: Bytes of the new data files.
        failed_data_files_count: Data files of groups that were not rewritten.
        removed_delete_files_count: Delete files that no data file needs any more and that were removed.
        snapshot_ids: The snapshots that were committed.
        failures: One text for each group that was not rewritten.
        gone_data_files_count: Data files of the plan that concurrent commits removed.
    """

    verb: ClassVar[str] = "rewrite_data_files"
    rewritten_data_files_count: int = 0
    added_data_files_count: int = 0
    rewritten_bytes_count: int = 0
    added_bytes_count: int = 0
    failed_data_files_count: int = 0
    removed_delete_files_count: int = 0
    snapshot_ids: tuple[int, ...] = ()
    failures: tuple[str, ...] = ()
    gone_data_files_count: int = 0

    def summary(self) -> str:
        """Return one sentence on what was done."""
        if not self.snapshot_ids and not self.failures:
            return f"rewrite_data_files: nothing was rewritten{self._gone()}"
        text = (
            f"rewrite_data_files: replaced {count_text(self.rewritten_data_files_count, 'data file')} of "
            f"{bytes_text(self.rewritten_bytes_count)} by {count_text(self.added_data_files_count, 'data file')} of "
            f"{bytes_text(self.added_bytes_count)}"
        )
        if self.removed_delete_files_count > 0:
            text += f" and removed {count_text(self.removed_delete_files_count, 'delete file')}"
        text += f" in {count_text(len(self.snapshot_ids), 'commit')}"
        text += self._gone()
        if self.failures:
            text += f"; {count_text(self.failed_data_files_count, 'data file')} not rewritten: {self.failures[0]}"
        return text

    def _gone(self) -> str:
        count = self.gone_data_files_count
        return f"; concurrent commits removed {count_text(count, 'data file')} of the plan" if count > 0 else ""
