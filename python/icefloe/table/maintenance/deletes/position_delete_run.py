"""Executing a rewrite of position delete files: partition by partition, in one commit or in several."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import IcebergError, ValidationException
from icefloe.table.commit.referenced_files import referenced_paths
from icefloe.table.commit.transaction import INDEFINITE_ERRORS
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.branch_plan import PLAN_ID, whole_files
from icefloe.table.maintenance.deletes.delete_files_commit import replace_delete_files, total_size
from icefloe.table.maintenance.deletes.position_delete_plan import RewritePositionDeletesResult
from icefloe.table.maintenance.groups.file_groups import deletes_of
from icefloe.table.maintenance.groups.options import PARTIAL_PROGRESS_GROUPS
from icefloe.table.write.file_writer import FileWriter
from icefloe.table.write.position_deletes import deleted_positions
from icefloe.table.write.rows import targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.maintenance.deletes.position_delete_plan import RewritePositionDeletesPlan
    from icefloe.table.scan.plan import ScanPlan

_ROWS = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])
_READ = ("file_path", "file_format", "record_count", "file_size_in_bytes", "data_sequence_number")


@dataclass(frozen=True)
class PositionDeleteGroup:
    """The position delete files of one partition, to be rewritten together. A group pickles.

    Attributes:
        deletes: The delete files, as `deleted_positions` takes them.
        data_files: The data files that they apply to: `file_path`, `spec_id` and `partition`.
    """

    deletes: pa.RecordBatch
    data_files: pa.Table

    @property
    def sequence_number(self) -> int | None:
        """The newest data sequence number of the delete files. A larger one would apply to data files that were written later."""
        number: int | None = pc.max(self.deletes.column("data_sequence_number")).as_py()
        return number

    @property
    def total_bytes(self) -> int:
        """The bytes of the delete files."""
        return int(pc.sum(self.deletes.column("file_size_in_bytes")).as_py() or 0)

    def rewrite(self, writer: FileWriter, io: Any) -> pa.RecordBatch:
        """Write the positions of the data files to new delete files; return DataFile columns.

        Args:
            writer: The writer of the new files.
            io: Storage.
        """
        rows = pa.RecordBatchReader.from_batches(_ROWS, self._live_positions(io))
        return writer.position_deletes(rows, self.data_files)

    def _live_positions(self, io: Any) -> Iterator[pa.RecordBatch]:
        paths = self.data_files.column("file_path")
        for batch in deleted_positions(io.core, self.deletes):
            yield batch.filter(pc.is_in(batch.column("file_path"), value_set=paths))


class PositionDeleteRun:
    """One execution of a plan.

    Args:
        table: The table's handle.
        plan: The plan.
    """

    def __init__(self, table: Any, plan: RewritePositionDeletesPlan) -> None:
        self._table = table
        self._plan = plan

    def execute(self) -> RewritePositionDeletesResult:
        """Rewrite and commit all groups. With partial progress, groups of a commit that fails are left as they are.

        Raises:
            ValidationException: A concurrent commit removed a delete file or a data file that it applies to; with partial progress,
                more commits failed than the options allow, or all.
        """
        plan = self._plan
        if plan.is_empty:
            return RewritePositionDeletesResult()
        groups = groups_of(plan.files, whole_files(self._table, self._table.metadata, plan.snapshot_id))
        options = plan.options
        wanted = options.partial_progress_enabled
        is_partial = len(groups) > PARTIAL_PROGRESS_GROUPS if wanted is None else wanted
        size = -(-len(groups) // options.partial_progress_max_commits) if is_partial else len(groups)
        done: list[RewritePositionDeletesResult] = []
        errors: list[IcebergError] = []
        for first in range(0, len(groups), size):
            batch = groups[first : first + size]
            try:
                done.append(self._rewrite(batch))
            except INDEFINITE_ERRORS:
                raise
            except IcebergError as error:
                if not is_partial:
                    raise
                errors.append(error)
                count = sum(group.deletes.num_rows for group in batch)
                done.append(RewritePositionDeletesResult(failed_delete_files_count=count, failures=(str(error),)))
        result = _sum(done)
        allowed = options.partial_progress_max_failed_commits
        allowed = options.partial_progress_max_commits if allowed is None else allowed
        if errors and (len(errors) > allowed or len(errors) == len(done)):
            raise ValidationException(result.summary()) from errors[0]
        return result

    def _rewrite(self, groups: list[PositionDeleteGroup]) -> RewritePositionDeletesResult:
        """Rewrite groups and commit them together."""
        table = self._table
        environment = getattr(table.catalog, "environment", SYSTEM)
        writer = FileWriter(table.io, table.metadata, environment.new_uuid())
        try:
            added = self._written(groups, writer)
            removed = pa.concat_arrays([group.deletes.column("file_path") for group in groups])
            numbers = [group.sequence_number for group in groups]
            numbered = list(zip(added, numbers, strict=True))
            summary = {PLAN_ID: self._plan.plan_id}
            snapshot_id = replace_delete_files(table, self._plan, removed, numbered, writer, summary)
        except BaseException:
            writer.abandon()
            raise
        return RewritePositionDeletesResult(
            rewritten_delete_files_count=len(removed),
            added_delete_files_count=sum(files.num_rows for files in added),
            rewritten_bytes_count=sum(group.total_bytes for group in groups),
            added_bytes_count=total_size(added),
            snapshot_id=snapshot_id,
        )

    def _written(self, groups: list[PositionDeleteGroup], writer: FileWriter) -> list[pa.RecordBatch]:
        """Write the new delete files of groups; return DataFile columns for each group."""
        return [group.rewrite(writer, self._table.io) for group in groups]


def groups_of(files: pa.Table, scan: ScanPlan) -> list[PositionDeleteGroup]:
    """Return the groups of position delete files, one for each partition.

    Args:
        files: Entries of the delete files.
        scan: Whole files of the snapshot that was planned.
    """
    keys = _keys(files).combine_chunks().dictionary_encode()
    paths = files.column("file_path").cast(pa.string())
    selected = pc.is_in(scan.deletes.column("file_path"), value_set=paths.combine_chunks())
    touched = pc.greater(deletes_of(scan.files, selected.cast(pa.int64())), 0)
    data_files = targets(scan)
    of_partition = pc.index_in(_keys(data_files), value_set=keys.dictionary)
    # A delete file of one data file applies to it whatever the partition of either is.
    places = pc.index_in(referenced_paths(files).combine_chunks(), value_set=data_files.column("file_path"))
    pairs = pa.table(
        {
            "group": pa.concat_arrays([of_partition.combine_chunks().filter(touched), keys.indices]),
            "file": pa.concat_arrays([pc.indices_nonzero(touched).cast(pa.int32()), places]),
        }
    )
    pairs = pairs.filter(pc.and_(pc.is_valid(pairs.column("group")), pc.is_valid(pairs.column("file"))))
    pairs = pairs.group_by(["group", "file"]).aggregate([]).sort_by([("group", "ascending"), ("file", "ascending")])
    deletes = files.append_column("data_sequence_number", files.column("sequence_number")).select(_READ)
    deletes = deletes.set_column(0, "file_path", paths)
    order = pc.sort_indices(keys.indices)
    own = zip(
        _runs(keys.indices.take(order), len(keys.dictionary)),
        _runs(pairs.column("group"), len(keys.dictionary)),
        strict=True,
    )
    return [
        PositionDeleteGroup(
            deletes.take(order.slice(*of_deletes)).combine_chunks().to_batches()[0],
            data_files.take(pairs.column("file").slice(*of_files)),
        )
        for of_deletes, of_files in own
    ]


def _runs(numbers: pa.Array | pa.ChunkedArray, count: int) -> list[tuple[int, int]]:
    """Return first row and number of rows of each number below `count`, in an ascending column."""
    ends = np.searchsorted(numbers.to_numpy(), np.arange(count + 1))
    return [(int(first), int(end - first)) for first, end in pairwise(ends)]


def _keys(files: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(files.column("spec_id").cast(pa.string()), files.column("partition"), "|")


def _sum(results: list[RewritePositionDeletesResult]) -> RewritePositionDeletesResult:
    snapshots = [one.snapshot_id for one in results if one.snapshot_id is not None]
    return RewritePositionDeletesResult(
        rewritten_delete_files_count=sum(one.rewritten_delete_files_count for one in results),
        added_delete_files_count=sum(one.added_delete_files_count for one in results),
        rewritten_bytes_count=sum(one.rewritten_bytes_count for one in results),
        added_bytes_count=sum(one.added_bytes_count for one in results),
        snapshot_id=snapshots[-1] if snapshots else None,
        failed_delete_files_count=sum(one.failed_delete_files_count for one in results),
        failures=tuple(text for one in results for text in one.failures),
    )
