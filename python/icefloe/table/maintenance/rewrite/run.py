"""Executing a rewrite: groups are written by threads and committed; groups that conflict are planned again."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from os import cpu_count
from threading import Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import (
    CommitFailedException,
    IcebergError,
    ValidationError,
    ValidationException,
)
from icefloe.table.commit.transaction import INDEFINITE_ERRORS
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.deletes.dangling_deletes import RemoveDanglingDeletes
from icefloe.table.maintenance.groups.options import PARTIAL_PROGRESS_GROUPS
from icefloe.table.maintenance.progress import MaintenanceProgress
from icefloe.table.maintenance.rewrite.commit import commit_groups, committed_groups, lost_groups
from icefloe.table.maintenance.rewrite.delete_uses import DeleteUses
from icefloe.table.maintenance.rewrite.group import FileGroup, groups_of, groups_on_head
from icefloe.table.maintenance.rewrite.group_writer import GroupLayout, GroupWriter
from icefloe.table.maintenance.rewrite.origins import operation_name
from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesResult

if TYPE_CHECKING:
    from collections.abc import Generator

    from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan

ROUNDS = 4
"""The number of times that groups with conflicts are planned and written again."""


class _Stopped(Exception):  # noqa: N818 - ends a write, never reaches a caller
    """The run was interrupted, or another group failed."""


@dataclass
class _Progress:
    """The progress of a run."""

    rewritten: int = 0
    rewritten_bytes: int = 0
    added: int = 0
    added_bytes: int = 0
    removed_deletes: int = 0
    failed: int = 0
    failed_commits: int = 0
    gone: int = 0
    snapshot_ids: list[int] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)

    def result(self) -> RewriteDataFilesResult:
        return RewriteDataFilesResult(
            rewritten_data_files_count=self.rewritten,
            added_data_files_count=self.added,
            rewritten_bytes_count=self.rewritten_bytes,
            added_bytes_count=self.added_bytes,
            failed_data_files_count=self.failed,
            removed_delete_files_count=self.removed_deletes,
            snapshot_ids=tuple(self.snapshot_ids),
            failures=tuple(self.failures),
            gone_data_files_count=self.gone,
        )


class RewriteRun:
    """One execution of a plan.

    Args:
        table: The table's handle.
        plan: The plan.
    """

    def __init__(self, table: Any, plan: RewriteDataFilesPlan) -> None:
        self._table = table
        self._plan = plan
        self._environment = getattr(table.catalog, "environment", SYSTEM)
        self._done = _Progress()
        self._stop = Event()

    def execute(self) -> RewriteDataFilesResult:
        """Rewrite and commit all groups that no earlier execution of the plan has committed, and remove dangling deletes if the options say so."""
        result = self._rewrite()
        if self._plan.options.remove_dangling_deletes:
            removed = RemoveDanglingDeletes(self._table).branch(self._plan.branch).execute()
            count = result.removed_delete_files_count + removed.removed_delete_files_count
            result = replace(result, removed_delete_files_count=count)
        return result

    def _rewrite(self) -> RewriteDataFilesResult:
        plan = self._plan
        if plan.is_empty:
            return self._done.result()
        self._table.refresh()
        if plan.spec_id not in self._table.metadata.specs():
            raise ValidationError(f"rewrite_data_files: the table has no partition spec {plan.spec_id} any more")
        done = committed_groups(self._table.metadata, plan)
        groups = [group for group in groups_of(plan) if group.number not in done]
        try:
            rows = sum(group.record_count for group in groups)
            with MaintenanceProgress(rows, "rewriting", "rows") as self._bar:
                for attempt in range(1, ROUNDS + 1 if groups else 1):
                    lost = self._round(groups)
                    groups = [group for group in self._on_head(lost) if not group.is_finished]
                    if not groups:
                        break
                    if attempt == ROUNDS:
                        self._fail(groups, "concurrent commits changed its files again and again")
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted; {self._done.result().summary()}") from None
        return self._finish()

    def _finish(self) -> RewriteDataFilesResult:
        options, result = self._plan.options, self._done.result()
        if not self._done.failures:
            return result
        allowed = options.partial_progress_max_failed_commits
        allowed = options.partial_progress_max_commits if allowed is None else allowed
        if self._is_partial() and self._done.failed_commits <= allowed:
            return result
        cause = self._done.errors[0] if self._done.errors else None
        if isinstance(cause, IcebergError) and not isinstance(cause, (ValidationException, CommitFailedException)):
            raise cause
        raise ValidationException(f"{result.summary()}") from cause

    def _is_partial(self) -> bool:
        wanted = self._plan.options.partial_progress_enabled
        return self._plan.groups.num_rows > PARTIAL_PROGRESS_GROUPS if wanted is None else wanted

    def _on_head(self, lost: list[FileGroup]) -> list[FileGroup]:
        """Return groups with their live files, and count the others."""
        found = groups_on_head(self._table, self._plan, lost)
        self._done.gone += sum(group.files.num_rows for group in lost) - sum(group.files.num_rows for group in found)
        return found

    # ---- one round

    def _round(self, groups: list[FileGroup]) -> list[FileGroup]:
        """Write and commit groups; return the groups whose files a concurrent commit changed."""
        per_commit = len(groups)
        if self._is_partial():
            per_commit = -(-len(groups) // self._plan.options.partial_progress_max_commits)
        self._uses = DeleteUses(self._table, self._plan, groups)
        written: list[FileGroup] = []
        lost: list[FileGroup] = []
        try:
            with closing(self._written(groups)) as complete:
                for group in complete:
                    written.append(group)
                    if len(written) >= per_commit:
                        lost += self._commit(written)
                        written = []
            if written:
                lost += self._commit(written)
                written = []
        finally:
            for group in written:
                group.abandon()
        return lost

    def _written(self, groups: list[FileGroup]) -> Generator[FileGroup, None, None]:
        """Yield groups as their files are complete. When the caller stops, all other files are deleted."""
        workers = self._workers(groups)
        pending = {}
        waiting = iter(groups)
        with ThreadPoolExecutor(workers, thread_name_prefix="icefloe-rewrite") as pool:
            try:
                while True:
                    for group in waiting:
                        group.writer = GroupWriter(self._table.io, self._table.metadata, self._operation_id())
                        pending[pool.submit(self._write, group, workers)] = group
                        if len(pending) >= workers:
                            break
                    if not pending:
                        return
                    ready, _ = wait(pending, return_when=FIRST_COMPLETED)
                    for future in ready:
                        group = pending.pop(future)
                        if self._succeeded(future, group):
                            yield group
            finally:
                self._stop.set()
                wait(pending)
                for group in pending.values():
                    group.abandon()
                self._stop.clear()

    def _operation_id(self) -> str:
        """Return the operation id of a group's new files, which records the plan and the sizes."""
        plan = self._plan
        sizes = plan.options.sizes(plan.verb, self._table.metadata.properties)
        return operation_name(self._environment.new_uuid(), plan.plan_id, sizes)

    def _workers(self, groups: list[FileGroup]) -> int:
        """Return the number of groups that are written at the same time."""
        return min(self._plan.options.max_concurrent_file_group_rewrites, len(groups), max(1, cpu_count() or 1))

    def _succeeded(self, future: Any, group: FileGroup) -> bool:
        """Return whether a group was written. With partial progress, a failure is recorded and the others go on."""
        error = future.exception()
        if error is None:
            return True
        group.abandon()
        if not self._is_partial() or not isinstance(error, IcebergError):
            raise error
        self._done.errors.append(error)
        self._fail([group], str(error))
        return False

    def _write(self, group: FileGroup, workers: int) -> None:
        group.added = group.writer.rewrite(group.scan(self._table), self._layout(group, workers), self._passed)

    def _layout(self, group: FileGroup, workers: int) -> GroupLayout:
        """Return the layout of a group's new files, where `workers` groups share the memory."""
        plan, metadata = self._plan, group.writer.metadata
        sizes = plan.options.sizes(plan.verb, metadata.properties)
        return GroupLayout(
            spec=metadata.specs()[plan.spec_id],
            clustering=plan.clustering,
            one_partition=group.partition is not None,
            file_bytes=sizes.output_size(group.total_bytes),
            memory_bytes=plan.options.memory_limit_bytes // workers,
        )

    def _passed(self, batch: pa.RecordBatch) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._bar.advance(batch.num_rows)

    # ---- commits

    def _commit(self, groups: list[FileGroup]) -> list[FileGroup]:
        """Commit groups; return those whose files a concurrent commit changed, after their new files were deleted."""
        lost: list[FileGroup] = []
        for attempt in range(1, ROUNDS + 1):
            try:
                committed = commit_groups(self._table, self._plan, groups, self._uses)
            except INDEFINITE_ERRORS:
                raise
            except ValidationException as error:
                self._table.refresh()
                losers = lost_groups(self._table, self._plan, groups)
                groups = [group for group in groups if group not in losers]
                for group in losers:
                    group.abandon()
                lost += losers
                if groups and attempt == ROUNDS:
                    self._failed_commit(groups, error)
                elif groups:
                    continue
            except IcebergError as error:
                self._failed_commit(groups, error)
            else:
                self._count(groups, committed)
            break
        return lost

    def _failed_commit(self, groups: list[FileGroup], error: IcebergError) -> None:
        for group in groups:
            group.abandon()
        self._done.failed_commits += 1
        self._done.errors.append(error)
        self._fail(groups, str(error))

    def _count(self, groups: list[FileGroup], committed: Any) -> None:
        done = self._done
        for group in groups:
            done.rewritten += group.files.num_rows
            done.rewritten_bytes += group.total_bytes
            if group.added is not None:
                done.added += group.added.num_rows
                done.added_bytes += pc.sum(group.added.column("file_size_in_bytes")).as_py() or 0
        done.snapshot_ids.append(committed.snapshot_id)
        done.removed_deletes += committed.removed_deletes

    def _fail(self, groups: list[FileGroup], reason: str) -> None:
        for group in groups:
            self._done.failed += group.files.num_rows
            place = f"partition {group.partition}" if group.partition not in (None, "[]") else "the group"
            self._done.failures.append(f"{place} of {group.files.num_rows} files: {reason}")
