"""The checks that keep concurrent commits serializable; each raises ValidationException on a conflict.

A check compares the files that others changed since an operation's starting snapshot with the files and rows that the operation
read. The planner selects the files that might match a filter, on the newest or on the starting snapshot, so that the same
pruning rules decide scans and conflicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationException
from icefloe.expressions.filter import Filter
from icefloe.table.commit.moved_rows import deletes_of_new_partitions
from icefloe.table.commit.summary import EQUALITY_DELETES
from icefloe.table.read_context import context_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.io import FileIO
    from icefloe.table.commit.concurrent_changes import ConcurrentChanges
    from icefloe.table.commit.partition_set import PartitionSet
    from icefloe.table.commit.removed_files import RemovedFiles
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

_OTHERS = "a concurrent commit"
_ADDED_TO_PARTITIONS = "added data to partitions that this operation replaces"


def check_no_conflicting_data(
    io: FileIO, metadata: TableMetadata, head: Snapshot, changes: ConcurrentChanges, row_filter: Filter
) -> None:
    """Raise if a data file was added that might contain rows of the filter.

    A file that others added and removed again is no conflict, although the Java library refuses it: the head has the rows that the operation
    read, so that the operation comes after both commits in a serial order.

    Args:
        io: Storage.
        metadata: The newest version of the table.
        head: The newest snapshot of the branch.
        changes: The files that others changed.
        row_filter: Rows that the operation read.
    """
    if changes.added_data.num_rows == 0:
        return
    planned = _plan(io, metadata, head, row_filter).files
    _refuse(
        _common(changes.added_data.column("file_path"), planned.column("file_path")),
        "added data that this operation did not read",
        "file",
    )


def check_no_data_in_partitions(changes: ConcurrentChanges, partitions: PartitionSet) -> None:
    """Raise if a data file was added to replaced partitions, also if another commit removed it again, as in the Java library."""
    added = changes.added_data
    _refuse(added.column("file_path").filter(partitions.covers(added)).to_pylist(), _ADDED_TO_PARTITIONS, "file")


def check_no_rows_of_partitions(
    io: FileIO, metadata: TableMetadata, head: Snapshot, changes: ConcurrentChanges, partitions: PartitionSet
) -> None:
    """Raise if a data file of another spec was added that might contain rows of replaced partitions.

    As in `check_no_conflicting_data`, a file that others added and removed again is no conflict.
    """
    added = changes.added_data
    others = added.column("file_path").filter(pc.invert(partitions.has_spec(added)))
    if len(others) > 0:
        planned = _plan(io, metadata, head, partitions.row_filter).files
        _refuse(_common(others, planned.column("file_path")), _ADDED_TO_PARTITIONS, "file")


def check_no_removed_data_in_partitions(changes: ConcurrentChanges, partitions: PartitionSet) -> None:
    """Raise if a data file of replaced partitions was removed, also one that another commit had added, as in the Java library."""
    removed = changes.removed_data
    paths = removed.column("file_path").filter(partitions.covers(removed)).to_pylist()
    _refuse(paths, "removed data of partitions that this operation replaces", "file")


def check_no_deletes_in_partitions(changes: ConcurrentChanges, partitions: PartitionSet) -> None:
    """Raise if a delete file was added to replaced partitions, also if another commit removed it again, as in the Java library."""
    added = changes.added_deletes
    paths = added.column("file_path").filter(partitions.covers(added)).to_pylist()
    _refuse(paths, "deleted rows of partitions that this operation replaces", "delete file")


def check_no_conflicting_deletes(
    io: FileIO, metadata: TableMetadata, head: Snapshot, changes: ConcurrentChanges, row_filter: Filter
) -> None:
    """Raise if a delete file was added that might delete rows of the filter."""
    if changes.added_deletes.num_rows > 0:
        planned = _plan(io, metadata, head, row_filter).deletes
        both = _common(changes.added_deletes.column("file_path"), planned.column("file_path"))
        _refuse(both, "deleted rows that this operation read", "delete file")


def check_no_new_deletes_for(  # noqa: PLR0913 - one argument more than the other checks
    io: FileIO,
    metadata: TableMetadata,
    head: Snapshot,
    changes: ConcurrentChanges,
    paths: pa.Array,
    *,
    new_spec_ids: set[int] | None = None,
    by: str = _OTHERS,
) -> None:
    """Raise if a delete file was added that applies to data files which this operation replaces.

    Args:
        io: Storage.
        metadata: The newest version of the table.
        head: The newest snapshot of the branch.
        changes: The files that others changed.
        paths: The replaced data files.
        new_spec_ids: The partition specs of the new files, if they get the sequence number of the replaced ones: equality deletes that apply
            to the new files as well are allowed. None if the new files get the sequence number of their snapshot.
        by: Who made the changes, for the message.
    """
    added = changes.added_deletes
    if new_spec_ids is not None:
        added = added.filter(pc.invert(apply_to_new_files(added, new_spec_ids, metadata)))
    if added.num_rows == 0 or len(paths) == 0:
        return
    plan = _plan(io, metadata, head, Filter.everything(metadata.schema()))
    replaced = pc.is_in(plan.files.column("file_path"), paths)
    _, applying = _core.own_deletes(plan.files.filter(replaced), plan.deletes)
    both = _common(added.column("file_path"), applying.column("file_path"))
    _refuse(both, "deleted rows of files that this operation replaces", "delete file", by=by)


def apply_to_new_files(deletes: pa.Table | pa.RecordBatch, spec_ids: set[int], metadata: TableMetadata) -> pa.Array:
    """Return for each delete file whether it deletes the same rows from new files that get the sequence number of replaced ones.

    An equality delete file applies to data files of its own partition spec, or of every spec if its own has no partition.

    Args:
        deletes: Delete files that apply to the replaced files.
        spec_ids: The partition specs of the new files.
        metadata: The newest version of the table.
    """
    specs = metadata.specs()
    applying = [spec_id for spec_id, spec in specs.items() if spec.is_unpartitioned() or spec_ids <= {spec_id}]
    is_equality = pc.equal(deletes.column("content"), EQUALITY_DELETES)
    return pc.and_(is_equality, pc.is_in(deletes.column("spec_id"), value_set=pa.array(applying, pa.int32())))


def check_no_deletes_of_moved_rows(  # noqa: PLR0913 - one argument more than the other checks
    io: FileIO,
    metadata: TableMetadata,
    head: Snapshot,
    replaced: Sequence[RemovedFiles],
    new_files: pa.Table,
    sequence_number: int,
    *,
    by: str = _OTHERS,
) -> None:
    """Raise if an equality delete file applies to new data files, and not to a replaced data file because of its partition spec.

    Such a delete file would delete live rows: it has a greater sequence number than the new files, whose rows it did not apply to before.

    Args:
        io: Storage.
        metadata: The newest version of the table.
        head: The newest snapshot of the branch.
        replaced: The replaced data files.
        new_files: The new data files, columns `spec_id` and `partition`.
        sequence_number: The data sequence number of the new files, that of the replaced rows.
        by: Who added the delete files, for the message.
    """
    known = [each.partitions for each in replaced if each.partitions is not None]
    old_specs = {spec_id for each in known for spec_id in each.column("spec_id").to_pylist()}
    is_known = len(known) == len(replaced)
    if is_known and old_specs == set(new_files.column("spec_id").to_pylist()) and len(old_specs) == 1:
        return
    deletes = deletes_of_new_partitions(io, metadata, head, new_files, sequence_number)
    if deletes.num_rows > 0 and not is_known:
        files = _plan(io, metadata, head, Filter.everything(metadata.schema())).files
        paths = pa.concat_arrays([each.paths for each in replaced])
        old_specs = set(files.column("spec_id").filter(pc.is_in(files.column("file_path"), paths)).to_pylist())
    are_old = [old_specs <= {spec_id} for spec_id in deletes.column("spec_id").to_pylist()]
    paths = deletes.column("file_path").filter(pc.invert(pa.array(are_old, pa.bool_()))).to_pylist()
    _refuse(paths, "deleted keys of partitions to which this operation moves rows", "delete file", by=by)


def check_removed_data(
    io: FileIO, metadata: TableMetadata, start: Snapshot | None, changes: ConcurrentChanges, row_filter: Filter
) -> None:
    """Raise if a data file was removed that might contain rows of the filter.

    The Java library makes this check for overwrites by a filter. Here it belongs to every change that checks deletes: a row delta may add rows
    that it computed from removed ones.
    """
    if changes.removed_data.num_rows == 0 or start is None:
        return
    planned = _plan(io, metadata, start, row_filter).files
    both = _common(changes.removed_data.column("file_path"), planned.column("file_path"))
    _refuse(both, "removed data that this operation read", "file")


def check_data_files_exist(changes: ConcurrentChanges, referenced: pa.Array, *, include_deletes: bool) -> None:
    """Raise if a data file was removed that new delete files refer to.

    Args:
        changes: The files that others changed.
        referenced: Paths of data files.
        include_deletes: Whether files that a `delete` operation removed count as removed.
    """
    removed = changes.removed_data if include_deletes else changes.overwritten_data
    _refuse(_common(removed.column("file_path"), referenced), "removed data that this operation changes", "file")


def _plan(io: FileIO, metadata: TableMetadata, snapshot: Snapshot, row_filter: Filter) -> _core.ScanPlan:
    # A concurrent commit may have renamed or promoted columns since the operation resolved its filter.
    row_filter = row_filter.under(metadata.schema())
    return _core.plan(
        io.core,
        context_json(metadata, row_filter.schema, case_sensitive=row_filter.case_sensitive),
        manifest_list=snapshot.manifest_list,
        manifests=list(snapshot.manifest_paths or ()),
        filter=row_filter.json,
        split_size=None,
        include_stats=False,
    )


def _common(theirs: pa.ChunkedArray | pa.Array, ours: pa.ChunkedArray | pa.Array) -> list[str]:
    values = ours.combine_chunks() if isinstance(ours, pa.ChunkedArray) else ours
    found: list[str] = theirs.filter(pc.is_in(theirs, values)).to_pylist()
    return found


def _refuse(paths: list[str], what: str, kind: str, *, by: str = _OTHERS) -> None:
    if paths:
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise ValidationException(f"{by} {what} ({kind} {paths[0]}{more}); reload the table and repeat the operation")
