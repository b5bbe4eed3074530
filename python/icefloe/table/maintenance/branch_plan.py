"""Plans that change the files of one branch, and the files that they are chosen from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.expressions.tree import AlwaysTrue
from icefloe.table.commit.snapshot_producer import check_branch, head_of
from icefloe.table.maintenance.plan import Plan, check_plan_kind
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.scan.data_scan import DataScan
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe.expressions import BooleanExpression
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.snapshots import Snapshot

PLAN_ID = "icefloe.rewrite-plan-id"
"""Summary key: the plan that a commit belongs to."""

_EVERYTHING = AlwaysTrue()


@dataclass(frozen=True, kw_only=True, eq=False)
class BranchPlan(Plan):
    """A plan whose rows are files of a branch, or groups of files.

    Attributes:
        listed: The attribute that has the rows, also their name in `as_dict`.
        size_column: The column of the rows with their bytes.
        shown: The columns that `rows` returns; all if empty.
        table_uuid: The table.
        branch: The branch to change.
        snapshot_id: The snapshot that was planned; None for a table without snapshots.
    """

    listed: ClassVar[str]
    size_column: ClassVar[str]
    shown: ClassVar[tuple[str, ...]] = ()
    table_uuid: str
    branch: str
    snapshot_id: int | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be changed."""
        return bool(self._listed().num_rows == 0)

    @property
    def file_count(self) -> int:
        """The number of files to change."""
        return int(self._listed().num_rows)

    @property
    def total_bytes(self) -> int:
        """The bytes of these files."""
        return int(pc.sum(self._listed().column(self.size_column)).as_py() or 0)

    def rows(self) -> pa.Table:
        """Return one row for each file, or group of files, with its `reason`."""
        return self._listed().select(list(self.shown)) if self.shown else self._listed()

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "verb": self.verb,
            "summary": self.summary(),
            "branch": self.branch,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
            "file_count": self.file_count,
            "total_bytes": self.total_bytes,
            self.listed: self.rows().to_pylist(),
        }

    def _listed(self) -> pa.Table:
        return getattr(self, self.listed)


def commits_of(metadata: TableMetadata, plan: BranchPlan, plan_id: str) -> Iterator[Snapshot]:
    """Yield the snapshots of a plan's branch that record the plan, newest first, as far as they have not expired."""
    head = head_of(metadata, plan.branch)
    for snapshot in ancestors_of(head, metadata) if head is not None else ():
        if snapshot.snapshot_id == plan.snapshot_id:
            return
        if snapshot.summary is not None and snapshot.summary.get(PLAN_ID) == plan_id:
            yield snapshot


def has_committed(metadata: TableMetadata, plan: Plan) -> bool:
    """Return whether a commit of a plan in parts has succeeded; false for plans of one commit."""
    plan_id = getattr(plan, "plan_id", None)
    return isinstance(plan, BranchPlan) and plan_id is not None and any(commits_of(metadata, plan, plan_id))


def branch_head(metadata: TableMetadata, branch: str, verb: str) -> Snapshot | None:
    """Return the head of a branch, None for a table without snapshots.

    Raises:
        ValidationError: There is no such branch, or the name is that of a tag.
    """
    check_branch(metadata, branch)
    if branch != MAIN_BRANCH and branch not in metadata.refs:
        raise ValidationError(f"{verb}: branch {branch!r} does not exist")
    return head_of(metadata, branch)


def whole_files(
    table: Any,
    metadata: TableMetadata,
    snapshot_id: int | None,
    row_filter: str | BooleanExpression = _EVERYTHING,
) -> ScanPlan:
    """Return the plan of whole files of a branch's snapshot, with the table's current schema."""
    scan = DataScan(
        metadata,
        table.io,
        row_filter=row_filter,
        snapshot_id=snapshot_id,
        ref_is_branch=True,
        table_name=".".join(table.name()),
    )
    return scan.plan_whole_files()


def check_plan(plan: BranchPlan, table: Any, kind: type[BranchPlan]) -> None:
    """Raise ValidationError if a value is not a plan of this type, or was made for another table."""
    check_plan_kind(plan, kind, kind.verb)
    uuid = str(table.metadata.table_uuid)
    if plan.table_uuid != uuid:
        raise ValidationError(f"{plan.verb}: expected a plan of table {uuid}, got one of table {plan.table_uuid}")
