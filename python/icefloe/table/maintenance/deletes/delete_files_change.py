"""Changes of the delete files of one branch, planned again after a conflict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypedDict, TypeVar

from icefloe.exceptions import ValidationException
from icefloe.table.maintenance.branch_plan import check_plan, has_committed
from icefloe.table.maintenance.deletes.delete_files_plan import DeleteFilesPlan, DeleteFilesResult
from icefloe.table.refs import MAIN_BRANCH

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.snapshots import Snapshot

_ROUNDS = 4
PlanT = TypeVar("PlanT", bound=DeleteFilesPlan)
ResultT = TypeVar("ResultT", bound=DeleteFilesResult)


class Target(TypedDict):
    """The kind of files in the plan: see `BranchPlan`."""

    table_uuid: str
    branch: str
    snapshot_id: int | None


class DeleteFilesChange(ABC, Generic[PlanT, ResultT]):
    """Plans a change of the delete files of one branch, and makes it in one commit."""

    _plan_kind: ClassVar[type[DeleteFilesPlan]]

    def __init__(self, table: Any) -> None:
        self._table = table
        self._branch = MAIN_BRANCH

    def branch(self, name: str) -> Self:
        """Change delete files of a branch, `main` by default."""
        self._branch = name
        return self

    @abstractmethod
    def plan(self) -> PlanT:
        """Return the delete files to change; nothing is changed."""

    def execute(self, plan: PlanT | None = None) -> ResultT:
        """Change the delete files of a plan, by default of a new one, in one commit.

        Without a plan, a conflict with a concurrent commit leads to a new plan, up to four times, unless a part of the plan was committed.

        Raises:
            ValidationError: The plan is of another table.
            ValidationException: A concurrent commit removed a delete file or a data file that it applies to, or rolled the branch back.
        """
        if plan is not None:
            check_plan(plan, self._table, self._plan_kind)
            return self._carry_out(plan)
        for _ in range(_ROUNDS - 1):
            plan = self.plan()
            try:
                return self._carry_out(plan)
            except ValidationException:
                self._table.refresh()
                if has_committed(self._table.metadata, plan):
                    raise
        return self._carry_out(self.plan())

    @abstractmethod
    def _carry_out(self, plan: PlanT) -> ResultT:
        """Make the changes of a plan of this table, which may be empty."""

    def _target(self, head: Snapshot | None) -> Target:
        return Target(
            table_uuid=str(self._table.metadata.table_uuid),
            branch=self._branch,
            snapshot_id=None if head is None else head.snapshot_id,
        )
