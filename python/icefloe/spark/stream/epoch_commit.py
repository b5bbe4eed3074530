"""The commit of a micro-batch's data files, in one snapshot and once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationException
from icefloe.expressions import AlwaysTrue
from icefloe.spark.stream.epoch import EpochCommittedError
from icefloe.spark.writer.commit import files_deleted_on_failure
from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.commit.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from icefloe.spark.stream.epoch import Epoch
    from icefloe.table import Table
    from icefloe.table.write_transaction import WriteTransaction


def commit_epoch(
    table: Table,
    files: pa.RecordBatch | None,
    epoch: Epoch,
    snapshot_properties: Mapping[str, str],
    *,
    overwrite: bool,
) -> None:
    """Commit a micro-batch, or delete its files if the table has the micro-batch or the commit definitely failed.

    Args:
        table: Table.
        files: DataFile columns; None for a micro-batch without rows, which appends no snapshot.
        epoch: The micro-batch.
        snapshot_properties: Additional keys of the snapshot's summary.
        overwrite: Replace all rows of the table.

    Raises:
        CommitFailedException: Concurrent commits won every retry.
        ValidationException: Concurrent commits changed the replaced rows at every retry.
    """
    if files is None and not overwrite:
        return
    summary = {**snapshot_properties, **epoch.summary()}
    try:
        with files_deleted_on_failure(table, [] if files is None else [files]):
            if overwrite:
                _replace_all(table, files, epoch, summary)
            else:
                transaction = _checked(table, epoch)
                transaction.new_append(epoch.branch, summary).append(files).commit()
                transaction.commit_transaction()
    except EpochCommittedError:
        return


def _checked(table: Table, epoch: Epoch) -> WriteTransaction:
    """Return a transaction that fails when the table has the micro-batch, checked at each attempt."""
    transaction = table.transaction()
    transaction.apply(epoch)
    return transaction


def _replace_all(table: Table, files: pa.RecordBatch | None, epoch: Epoch, summary: Mapping[str, str]) -> None:
    """Replace all rows, those of concurrent commits as well."""
    failure: ValidationException | None = None
    for attempt in RetryPolicy.of_commits(table.properties).attempts(table.transaction().environment):
        if attempt > 1:
            table.refresh()
        transaction = _checked(table, epoch)
        with transaction.target(epoch.branch, dict(summary)) as target:
            everything = target.filter(AlwaysTrue())
            change = OverwriteFiles(target.transaction, target.branch, target.snapshot_properties)
            change.replace_matching_rows()
            change.delete(target.plan(everything).files.column("file_path"))
            if files is not None:
                change.append(files)
            change.validate_from_snapshot(target.snapshot_id).conflict_detection_filter(everything)
            change.validate_no_conflicting_deletes().validate_no_conflicting_data().commit()
        try:
            transaction.commit_transaction()
        except ValidationException as error:
            failure = error
        else:
            return
    if failure is not None:
        raise failure
