"""Folding the small files that batches of changes leave: small data files into one, and equality delete files into one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import IcebergError
from icefloe.io.arrow_values import int_scalar
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.rewrite_files import RewriteFiles
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.branch_plan import whole_files
from icefloe.table.maintenance.deletes.delete_files_plan import live_delete_files
from icefloe.table.maintenance.fold.chosen_files import delete_runs, groups_of_runs, partition_keys, size_tiers
from icefloe.table.maintenance.fold.merged_keys import can_be_merged, merged_keys
from icefloe.table.maintenance.rewrite.clustering import SORT, Clustering
from icefloe.table.maintenance.rewrite.group_writer import GroupLayout, GroupWriter
from icefloe.table.properties.definitions import FOLD_MAX_FILE_BYTES, FOLD_MIN_FILES, TARGET_FILE_SIZE, WRITE_MEMORY
from icefloe.table.row_level.unfolded_files import UNFOLDED_FILES
from icefloe.table.write.rows import with_files
from icefloe.table.write_transaction import WriteTransaction

if TYPE_CHECKING:
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.snapshots import Snapshot

_EQUALITY = 2
_LEAST_SHARE = 4
"""Files of one kind of a partition are folded from this part of `write.icefloe.fold-min-files` on."""


def fold_changes(table: Any, branch: str) -> None:
    """Fold the small files of a branch after a batch of changes.

    The batch is committed already: a fold that conflicts or fails leaves the table as it is, and a later batch folds again.
    """
    with suppress(IcebergError, pa.ArrowException):
        FilesFold(table, branch).execute()


class FilesFold:
    """One fold of the small files of a branch, in one `replace` snapshot.

    Small data files of a partition are rewritten as one, with the deletes applied and the data sequence number of the snapshot that was
    read: later deletes apply to the new file. Equality delete files that apply to the same data files are merged as one, and files that
    apply to none are removed.

    Args:
        table: The table's handle.
        branch: The branch.
    """

    def __init__(self, table: Any, branch: str) -> None:
        self._table = table
        self._branch = branch
        self._metadata = table.metadata
        properties = self._metadata.properties
        self._least = max(2, FOLD_MIN_FILES.of(properties) // _LEAST_SHARE)
        self._largest = FOLD_MAX_FILE_BYTES.of(properties)
        environment = getattr(table.catalog, "environment", SYSTEM)
        self._writer = GroupWriter(table.io, self._metadata, environment.new_uuid())

    def execute(self) -> int | None:
        """Fold the files and return the id of the new snapshot, None if there was nothing to fold.

        Raises:
            ValidationException: A concurrent commit changed the files.
        """
        head = head_of(self._metadata, self._branch)
        if head is None:
            return None
        try:
            return self._fold(head)
        except BaseException:
            # A commit that was sent keeps the files, unless it definitely failed.
            self._writer.abandon()
            raise

    def _fold(self, head: Snapshot) -> int | None:
        scan = whole_files(self._table, self._metadata, head.snapshot_id)
        is_folded = self._small_data_files(scan.files)
        folded = with_files(scan, is_folded)
        runs = self._runs(head, scan.files.filter(pc.invert(is_folded)))
        if folded.files.num_rows == 0 and not runs:
            return None
        transaction = WriteTransaction(self._table, autocommit=True)
        transaction.adopt(self._writer)
        change = RewriteFiles(transaction, self._branch, {UNFOLDED_FILES: "0"})
        change.validate_from_snapshot(head.snapshot_id)
        if folded.files.num_rows > 0:
            change.remove_files(RemovedFiles.of(folded.files)).data_sequence_number(head.sequence_number or 0)
            rewritten = self._rewritten(folded)
            if rewritten.num_rows > 0:
                change.append(rewritten)
        for run in runs:
            self._merge(change, run)
        change.commit()
        return change.snapshot_id

    # ---- data files

    def _small_data_files(self, files: pa.RecordBatch) -> pa.Array:
        """Return for each data file whether it is folded."""
        spec_id = int_scalar(self._metadata.spec().spec_id, pa.int32())
        is_small = pc.less(files.column("file_size_in_bytes"), int_scalar(self._largest, pa.int64()))
        rows = pc.indices_nonzero(pc.and_(is_small, pc.equal(files.column("spec_id"), spec_id))).cast(pa.int64())
        small = files.take(rows)
        chosen = size_tiers(partition_keys(small), small.column("file_size_in_bytes"), self._least)
        numbers = pc.indices_nonzero(pa.repeat(True, files.num_rows)).cast(pa.int64())
        return pc.is_in(numbers, value_set=rows.take(chosen))

    def _rewritten(self, plan: ScanPlan) -> pa.RecordBatch:
        """Write the live rows of data files to new data files."""
        order = self._metadata.sort_order()
        properties = self._metadata.properties
        layout = GroupLayout(
            spec=self._metadata.spec(),
            clustering=Clustering() if order.is_unsorted else Clustering(SORT, order),
            one_partition=self._metadata.spec().is_unpartitioned(),
            file_bytes=TARGET_FILE_SIZE.of(properties),
            memory_bytes=WRITE_MEMORY.of(properties),
        )
        return self._writer.rewrite(plan, layout, lambda _: None)

    # ---- delete files

    def _runs(self, head: Snapshot, remaining: pa.RecordBatch) -> list[pa.Table]:
        """Return the equality delete files of each run to merge, or to remove where they apply to none of the remaining data files."""
        deletes = live_delete_files(self._table, head)
        deletes = deletes.filter(pc.equal(deletes.column("content"), _EQUALITY))
        if deletes.num_rows == 0:
            return []
        deletes = delete_runs(deletes, remaining, self._metadata.specs())
        unused = deletes.filter(deletes.column("is_unused"))
        small = deletes.filter(pc.and_(pc.invert(deletes.column("is_unused")), can_be_merged(deletes, self._metadata)))
        small = small.filter(pc.less(small.column("file_size_in_bytes"), self._largest))
        chosen = size_tiers(small.column("run"), small.column("file_size_in_bytes"), self._least)
        return groups_of_runs(pa.concat_tables([unused, small.take(chosen)]))

    def _merge(self, change: RewriteFiles, run: pa.Table) -> None:
        """Add the replacement of a run's delete files to the change."""
        paths = run.column("file_path").cast(pa.string()).combine_chunks()
        if run.column("is_unused")[0].as_py():
            change.delete_deletes(paths)
        else:
            newest = pc.max(run.column("sequence_number")).as_py()
            change.merge_equality_deletes(paths, merged_keys(self._writer, self._table.io, run), newest)
