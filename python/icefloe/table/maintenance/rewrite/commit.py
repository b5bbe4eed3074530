"""The commits of a rewrite: replaced files, new files, and the delete files that nothing needs any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.conflicts import apply_to_new_files
from icefloe.table.commit.moved_rows import deletes_of_new_partitions
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.rewrite_files import RewriteFiles
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.maintenance.branch_plan import PLAN_ID, commits_of, whole_files
from icefloe.table.maintenance.rewrite.live_files import LiveFiles
from icefloe.table.write_transaction import WriteTransaction

if TYPE_CHECKING:
    from icefloe.table.maintenance.rewrite.delete_uses import DeleteUses
    from icefloe.table.maintenance.rewrite.group import FileGroup
    from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

PLAN_GROUPS = "icefloe.rewrite-groups"
"""Summary key: the numbers of the plan's groups that a commit replaces."""


@dataclass(frozen=True)
class Committed:
    """A commit of a rewrite.

    Attributes:
        snapshot_id: The new snapshot.
        removed_deletes: The number of delete files that it removed.
    """

    snapshot_id: int
    removed_deletes: int


@dataclass(frozen=True)
class SentGroups:
    """The groups of a commit, whose files stay once the commit was sent.

    A definite failure deletes nothing: the groups without a conflict are committed again.
    """

    groups: list[FileGroup]

    def keep(self) -> None:
        """Keep the files: a snapshot refers to them, or may refer to them."""
        for group in self.groups:
            group.keep()

    def abandon(self) -> None:
        """Leave the files to the run."""


def commit_groups(table: Any, plan: RewriteDataFilesPlan, groups: list[FileGroup], uses: DeleteUses) -> Committed:
    """Replace the files of groups in one commit; all groups were read from one snapshot.

    Args:
        table: The table's handle.
        plan: The plan.
        groups: Groups with new files.
        uses: The uses of delete files by the groups of the round.

    Raises:
        ValidationException: A concurrent commit changed a replaced file, or deleted rows of it.
        CommitFailedException: Concurrent commits won more often than `commit.retry.num-retries` allows.
        CommitStateUnknownException: The outcome is unknown; nothing was cleaned up.
    """
    numbers = ",".join(str(group.number) for group in groups)
    summary = {PLAN_ID: plan.plan_id, PLAN_GROUPS: numbers}
    transaction = WriteTransaction(table, autocommit=True)
    transaction.adopt(SentGroups(groups))
    change = RewriteFiles(transaction, plan.branch, summary)
    change.validate_from_snapshot(groups[0].snapshot_id)
    for group in groups:
        replaced = RemovedFiles.of(group.files)
        change.remove_files(replaced)
        if group.added is not None and group.added.num_rows > 0:
            change.append(group.added, rows_of=replaced)
    head = head_of(table.metadata, plan.branch)
    unused = uses.unused(groups)
    change.delete_deletes(unused, unused_in=None if head is None else head.snapshot_id)
    if plan.options.use_starting_sequence_number and table.metadata.format_version >= 2:
        change.data_sequence_number(groups[0].sequence_number)
    change.commit()
    snapshot = table.metadata.snapshot_by_id(change.snapshot_id)
    uses.release(groups, snapshot)
    removed = int(snapshot.summary.get("removed-delete-files", "0")) if snapshot is not None else len(unused)
    return Committed(change.snapshot_id, removed)


def committed_groups(metadata: TableMetadata, plan: RewriteDataFilesPlan) -> set[int]:
    """Return the numbers of the plan's groups that an earlier execution has committed, from the summaries since its snapshot."""
    done: set[int] = set()
    for snapshot in commits_of(metadata, plan, plan.plan_id):
        numbers = "" if snapshot.summary is None else snapshot.summary.get(PLAN_GROUPS) or ""
        done.update(int(number) for number in numbers.split(",") if number)
    return done


def lost_groups(table: Any, plan: RewriteDataFilesPlan, groups: list[FileGroup]) -> list[FileGroup]:
    """Return the groups of which a file is not live any more, or has deletes that were not read, or whose new files get other deletes.

    All other groups are as they were read, so later commits alone are checked when they are committed.
    Equality deletes that were added since do not count if new files get the sequence number of the rows that were read, unless a new file has
    another partition spec than the deletes.
    """
    head = head_of(table.metadata, plan.branch)
    if head is None:
        return groups
    scan = whole_files(table, table.metadata, head.snapshot_id)
    lost = []
    found = LiveFiles.of(scan, [group.files for group in groups])
    reached = _partitions_with_deletes(table, plan, groups, head)
    for group, (live, applying) in zip(groups, found.of_groups(), strict=True):
        deletes = applying
        if plan.options.use_starting_sequence_number:
            deletes = applying.filter(pc.invert(apply_to_new_files(applying, {plan.spec_id}, table.metadata)))
        unread = pc.invert(pc.is_in(deletes.column("file_path"), value_set=group.deletes.column("file_path")))
        moved = _moved(group, plan)
        is_reached = moved is not None and pc.any(pc.is_in(moved.column("partition"), reached)).as_py()
        if live.num_rows < group.files.num_rows or pc.any(unread).as_py() or is_reached:
            lost.append(group)
        else:
            group.snapshot_id = head.snapshot_id
    return lost


def _partitions_with_deletes(
    table: Any, plan: RewriteDataFilesPlan, groups: list[FileGroup], head: Snapshot
) -> pa.Array:
    """Return the partitions of new files whose equality deletes on the head apply to the new files, and not to files of other specs.

    All groups of a commit were read from one snapshot.
    """
    added = [_moved(group, plan) for group in groups]
    moved = [files.select(["spec_id", "partition"]) for files in added if files is not None]
    if not moved or not plan.options.use_starting_sequence_number:
        return pa.array([], pa.string())
    new_files = pa.Table.from_batches(moved)
    deletes = deletes_of_new_partitions(table.io, table.metadata, head, new_files, groups[0].sequence_number)
    return deletes.column("partition").combine_chunks()


def _moved(group: FileGroup, plan: RewriteDataFilesPlan) -> pa.RecordBatch | None:
    """Return the new files of a group if they have rows from files of another partition spec, and None otherwise."""
    if group.added is None or group.added.num_rows == 0:
        return None
    is_moved = pc.any(pc.not_equal(group.files.column("spec_id"), plan.spec_id)).as_py()
    return group.added if is_moved else None
