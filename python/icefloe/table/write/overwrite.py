"""Overwriting in one snapshot: replacing the rows of a filter, or all rows of the partitions of the new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError, ValidationException
from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.commit.partition_set import PartitionSet
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.replace_partitions import ReplacePartitions
from icefloe.table.write.copied_pages import rewrite_without
from icefloe.table.write.covered_deletes import covered_deletes
from icefloe.table.write.isolation import Isolation, is_serializable
from icefloe.table.write.rows import matching, with_files

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.table.row_level.target import Target
    from icefloe.table.scan.plan import ScanPlan

OPERATION = "delete"


def overwrite_rows(
    target: Target, data: object, overwrite_filter: str | BooleanExpression, *, case_sensitive: bool
) -> None:
    """Replace the rows of a filter by `data` in one snapshot. Data files with other rows are rewritten."""
    row_filter = target.filter(overwrite_filter, case_sensitive=case_sensitive)
    plan = target.plan(row_filter)
    added = target.writer.data_files(data)
    change = OverwriteFiles(target.transaction, target.branch, target.snapshot_properties).append(added)
    change.replace_matching_rows()
    remove_rows(change, target, plan)
    change.drop_deletes(covered_deletes(plan, target.metadata, row_filter))
    target.add_checks(change, row_filter, OPERATION)
    change.commit()


def overwrite_partitions(target: Target, data: object) -> None:
    """Replace all rows of the partitions that `data` has rows in; commit nothing if it has no rows.

    An unpartitioned table is one partition.
    """
    isolation = Isolation(target.snapshot_id, is_serializable(target.metadata.properties, OPERATION))
    replace_partitions(target, target.writer.data_files(data), isolation)


def replace_partitions(target: Target, added: pa.RecordBatch, isolation: Isolation) -> None:
    """Replace all rows of the partitions that new data files lie in; commit nothing without files.

    A file of the table's default spec lies in one partition. A file of another spec is removed if its metadata proves that all of its
    rows are in replaced partitions; otherwise it is rewritten without the rows of these partitions.

    Args:
        target: The table.
        added: New data files of the default spec, DataFile columns.
        isolation: The concurrent commits that conflict.

    Raises:
        ValidationException: The default spec has changed since the files were written.
        ValidationError: A file of another spec may hold rows of the partition 0.0 or -0.0.
    """
    if added.num_rows == 0:
        return
    metadata = target.metadata
    partitions = PartitionSet.of_files(added, metadata.spec(), metadata.schema())
    if not pc.all(partitions.has_spec(added)).as_py():
        raise ValidationException(
            f"the table's partition spec changed while rows were written: expected files of spec {metadata.default_spec_id}, got files "
            f"of spec {added.column('spec_id')[0].as_py()}; reload the table and repeat the operation"
        )
    change = ReplacePartitions(target.transaction, partitions, target.branch, target.snapshot_properties)
    change.append(added)
    plan = target.plan(partitions.bounding_filter)
    files, deletes = plan.files, plan.deletes
    change.remove_files(RemovedFiles.of(files.filter(partitions.contains(files))))
    change.drop_deletes(RemovedFiles.of(deletes.filter(partitions.contains(deletes))))
    if not pc.all(partitions.has_spec(files)).as_py():
        plan = target.plan(partitions.row_filter)
        plan = with_files(plan, pc.invert(partitions.has_spec(plan.files)))
        _check_zeros(target, partitions, plan)
        remove_rows(change, target, plan)
    change.validate_from_snapshot(isolation.snapshot_id)
    if isolation.serializable:
        change.validate_no_conflicting_data()
    change.commit()


def _check_zeros(target: Target, partitions: PartitionSet, plan: ScanPlan) -> None:
    if partitions.zeros is None:
        return
    zeros = target.plan(partitions.zeros).files.column("file_path")
    ambiguous = plan.files.column("file_path").filter(pc.is_in(plan.files.column("file_path"), value_set=zeros))
    if len(ambiguous) > 0:
        raise ValidationError(
            f"dynamic partition overwrite: {ambiguous[0]} of another partition spec has rows that match {partitions.zeros}, and a filter "
            "cannot distinguish the partitions 0.0 and -0.0; delete the rows to replace, then append the new rows"
        )


def remove_rows(change: OverwriteFiles, target: Target, plan: ScanPlan) -> None:
    """Remove the rows of a plan: remove files whose rows all match, and rewrite all others without the matching rows."""
    whole = pc.fill_null(plan.files.column("must_match"), False)
    partial = with_files(plan, pc.invert(whole))
    positions = matching(partial)
    change.remove_files(RemovedFiles.of(plan.files.filter(whole)))
    if positions.rows.num_rows > 0:
        paths, files = rewrite_without(target.writer, partial, target.metadata.schema(), positions)
        change.remove_files(RemovedFiles.among(partial.files, paths)).append(files)
