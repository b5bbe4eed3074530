"""The commit of data files that executors wrote, in one snapshot."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow.compute as pc

from icefloe.exceptions import IcebergError, ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.snapshot_producer import MAIN, check_branch, head_of
from icefloe.table.commit.transaction import INDEFINITE_ERRORS
from icefloe.table.properties.definitions import ISOLATION_LEVELS
from icefloe.table.write.isolation import Isolation, is_serializable
from icefloe.table.write.overwrite import OPERATION, replace_partitions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.spark.writer.wap import SnapshotDestination
    from icefloe.table import Table
    from icefloe.table.row_level.target import Target
    from icefloe.table.write_transaction import WriteTransaction

WriteMode = Literal["append", "overwrite", "overwrite-partitions"]
SNAPSHOT_PROPERTY = "snapshot-property."


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """The effect of new data files on a table.

    Args:
        mode: Effect on the rows that the table has.
        options: ``overwrite-filter`` and ``case-sensitive``; other options are ignored.
        destination: Branch and summary of the snapshot.
        isolation: Concurrent commits that a replacement tolerates, see :func:`overwrite_isolation`.
        row_filter: Rows that an overwrite replaces; the option ``overwrite-filter``, else all rows, if None.
        replaces_table: The transaction replaces the table's definition, and the files have all rows of the new one.
    """

    mode: WriteMode
    options: Mapping[str, str]
    destination: SnapshotDestination
    isolation: Isolation
    row_filter: BooleanExpression | None = None
    replaces_table: bool = False

    def stage(self, transaction: WriteTransaction, files: pa.RecordBatch | None) -> None:
        """Add the files to a transaction in one snapshot; the transaction deletes them if it definitely fails.

        Args:
            transaction: The transaction.
            files: DataFile columns, or None without files: an append or a replacement of partitions then makes no snapshot.

        Raises:
            ValidationError: A file has both rows that match the overwrite filter and rows that do not.
        """
        if self.replaces_table:
            add_rows_of_replaced_table(transaction, files, self.destination)
            return
        if files is None and self.mode != "overwrite":
            return
        if files is not None:
            transaction.adopt(ExecutorFiles(transaction.io, files))
        branch, properties = self.destination.branch, self.destination.snapshot_properties
        if self.mode == "append":
            transaction.new_append(branch, properties).append(files).commit()
            return
        with transaction.target(branch, properties) as target:
            if self.mode == "overwrite-partitions" and files is not None:
                replace_partitions(target, files, self.isolation)
            else:
                _replace_files(target, files, self)


@dataclass(eq=False)
class ExecutorFiles:
    """Data files that executors wrote for a transaction.

    Args:
        io: Storage of the table.
        files: DataFile columns.
    """

    io: FileIO
    files: pa.RecordBatch

    def keep(self) -> None:
        """Keep the files: a snapshot refers to them, or may refer to them."""

    def abandon(self) -> None:
        """Delete the files: no snapshot refers to them."""
        self.io.core.delete_many(self.files.column("file_path").to_pylist())


def add_rows_of_replaced_table(
    transaction: WriteTransaction, files: pa.RecordBatch | None, destination: SnapshotDestination
) -> None:
    """Add the first snapshot of a new definition: as in the Java runtime, an overwrite of all rows, also without files.

    Args:
        transaction: The transaction that replaces or creates the table, which deletes the files if it definitely fails.
        files: DataFile columns; None without rows.
        destination: Branch and summary of the snapshot.
    """
    change = transaction.new_overwrite(destination.branch, destination.snapshot_properties).replace_matching_rows()
    if files is not None:
        transaction.adopt(ExecutorFiles(transaction.io, files))
        change.append(files)
    change.commit()


def commit_files(  # noqa: PLR0913  files, destination and isolation are three different things
    table: Table,
    files: pa.RecordBatch | None,
    mode: WriteMode,
    options: Mapping[str, str],
    *,
    destination: SnapshotDestination,
    isolation: Isolation,
) -> None:
    """Commit data files in one snapshot; delete them when the commit definitely failed. See :class:`FileChange`.

    Raises:
        ValidationError: A file has both rows that match the overwrite filter and rows that do not.
        CommitFailedException: Concurrent commits won every retry.
        ValidationException: A concurrent commit conflicts.
    """
    change = FileChange(mode=mode, options=options, destination=destination, isolation=isolation)
    with table.transaction() as transaction:
        change.stage(transaction, files)


def overwrite_isolation(table: Table, options: Mapping[str, str]) -> Isolation:
    """Return the concurrent commits that an overwrite tolerates which starts now.

    Args:
        table: The table at the version that the new rows were computed from.
        options: ``isolation-level`` replaces the table's ``write.delete.isolation-level``; ``validate-from-snapshot-id``, the
            snapshot after which concurrent commits are checked, replaces the branch's head; ``branch``.

    Raises:
        ValidationError: The level is unknown, the id is no whole number, or the branch is a tag.
    """
    branch = options.get("branch", MAIN)
    check_branch(table.metadata, branch)
    level = options.get("isolation-level")
    properties = table.properties if level is None else {ISOLATION_LEVELS[OPERATION].name: level}
    start = options.get("validate-from-snapshot-id")
    if start is not None:
        if not start.removeprefix("-").isdecimal():
            raise ValidationError(f"option validate-from-snapshot-id: expected a snapshot id, got {start!r}")
        return Isolation(int(start), is_serializable(properties, OPERATION))
    head = head_of(table.metadata, branch)
    return Isolation(None if head is None else head.snapshot_id, is_serializable(properties, OPERATION))


@contextmanager
def files_deleted_on_failure(table: Table, files: Sequence[pa.RecordBatch]) -> Iterator[None]:
    """Delete new files when the commit in the block definitely failed.

    After one of `INDEFINITE_ERRORS` nothing is deleted: the files may be part of the table.

    Args:
        table: Table whose storage has the files.
        files: DataFile columns.
    """
    try:
        yield
    except INDEFINITE_ERRORS:
        raise
    except IcebergError:
        for batch in files:
            table.io.core.delete_many(batch.column("file_path").to_pylist())
        raise


def summary_properties(options: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of the snapshot's summary that write options give as ``snapshot-property.<key>``."""
    return {
        key.removeprefix(SNAPSHOT_PROPERTY): value
        for key, value in options.items()
        if key.startswith(SNAPSHOT_PROPERTY)
    }


def _replace_files(target: Target, files: pa.RecordBatch | None, overwrite: FileChange) -> None:
    """Replace all data files, or the data files whose rows all match the overwrite filter."""
    given = overwrite.options.get("overwrite-filter") if overwrite.row_filter is None else overwrite.row_filter
    case_sensitive = overwrite.options.get("case-sensitive", "true").lower() == "true"
    row_filter = target.filter(AlwaysTrue() if given is None else given, case_sensitive=case_sensitive)
    replaced = target.plan(row_filter).files
    if given is not None and not pc.all(pc.fill_null(replaced.column("must_match"), False), min_count=0).as_py():
        raise ValidationError(
            f"option overwrite-filter: expected a filter that matches all rows of a data file or none, got {str(given)!r}, which "
            "matches some rows of a file: delete or merge these rows instead"
        )
    change = OverwriteFiles(target.transaction, target.branch, target.snapshot_properties).replace_matching_rows()
    change.remove_files(RemovedFiles.of(replaced))
    if files is not None:
        change.append(files)
    change.validate_from_snapshot(overwrite.isolation.snapshot_id).conflict_detection_filter(row_filter)
    change.validate_no_conflicting_deletes()
    if overwrite.isolation.serializable:
        change.validate_no_conflicting_data()
    change.commit()
