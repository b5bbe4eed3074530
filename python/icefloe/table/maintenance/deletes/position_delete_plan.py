"""The plan and the result of rewriting position delete files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from icefloe.table.maintenance.deletes.delete_files_plan import DeleteFilesPlan, DeleteFilesResult
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.groups.options import RewriteOptions

_VERB = "rewrite_position_deletes"


@dataclass(frozen=True, kw_only=True, eq=False)
class RewritePositionDeletesPlan(DeleteFilesPlan):
    """Position delete files of a branch, to be rewritten partition by partition.

    Attributes:
        plan_id: An id that the commits of this plan record in their summaries.
        options: The options.
    """

    verb: ClassVar[str] = _VERB
    action: ClassVar[str] = "rewrite"
    plan_id: str
    options: RewriteOptions = field(default_factory=RewriteOptions)


@dataclass(frozen=True, kw_only=True)
class RewritePositionDeletesResult(DeleteFilesResult):
    """The position delete files that were replaced, and the new ones.

    Attributes:
        failed_delete_files_count: Delete files of commits that failed, which are as they were.
        failures: One text for each commit that failed; without partial progress a failure raises.
    """

    verb: ClassVar[str] = _VERB
    failed_delete_files_count: int = 0
    failures: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one sentence on what was done."""
        text = super().summary()
        if self.failures:
            failed = count_text(self.failed_delete_files_count, "delete file")
            text += f"; {failed} not rewritten: {self.failures[0]}"
        return text
