"""Snapshots that add and remove single data files: the classes behind PyIceberg's `update_snapshot()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysFalse, Or
from icefloe.expressions.filter import Filter
from icefloe.manifest import DataFile, DataFileContent
from icefloe.manifest.columns import data_file_columns
from icefloe.table.commit.data_file_changes import DeleteFiles, FastAppend, MergeAppend, OverwriteFiles
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.snapshot_producer import MAIN, SnapshotProducer, check_branch_name, head_of
from icefloe.table.commit.validated_change import ReadOnlyChange
from icefloe.table.scan.data_scan import DataScan
from icefloe.table.write.covered_deletes import covered_deletes
from icefloe.table.write.isolation import is_serializable

if TYPE_CHECKING:
    import uuid
    from types import TracebackType

    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.table.commit.change import OpenTransaction
    from icefloe.table.commit.validated_change import ValidatedChange
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.typedef import Properties


class _DataFileUpdate(SnapshotProducer):
    """A snapshot that adds DataFile objects; it commits at the end of a `with` block."""

    def __init__(
        self, transaction: OpenTransaction, branch: str | None = MAIN, snapshot_properties: Properties | None = None
    ) -> None:
        super().__init__(transaction, branch, snapshot_properties)
        self._appended_files: list[DataFile] = []

    def append_data_file(self, data_file: DataFile) -> Self:
        """Add a data file; its `spec_id` is the spec of its partition tuple.

        Raises:
            ValidationError: The value is no data file.
        """
        self._appended_files.append(_checked_file("append_data_file", data_file))
        return self

    def commit(self) -> None:
        """Add the snapshot to its transaction; see :meth:`SnapshotProducer.commit`."""
        if self._appended_files:
            metadata = self._transaction.table_metadata
            self._added.append(data_file_columns(self._appended_files, metadata.specs(), metadata.schema()))
            self._appended_files = []
        super().commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()


class FastAppendFiles(_DataFileUpdate, FastAppend):
    """An append that rewrites no manifest."""


class MergeAppendFiles(_DataFileUpdate, MergeAppend):
    """An append that also merges small manifests."""


class OverwriteDataFiles(_DataFileUpdate, OverwriteFiles):
    """A replacement of data files."""

    _predicate: BooleanExpression | None = None
    _case_sensitive = True
    _plan: ScanPlan | None = None

    def delete_data_file(self, data_file: DataFile) -> Self:
        """Remove a data file by its path.

        Raises:
            ValidationError: The value is no data file.
        """
        return self.delete([_checked_file("delete_data_file", data_file).file_path])

    def delete_by_predicate(self, predicate: BooleanExpression | str, case_sensitive: bool = True) -> Self:
        """Remove the data files whose rows all match a filter, as their metadata proves. Other files with matching rows stay.

        The filters of several calls are joined by `or`, under the case rule of the last call. The files are found when the snapshot
        commits, or when `rewrites_needed` or `files_affected` is read.

        Args:
            predicate: The rows to remove.
            case_sensitive: Whether column names must match in case.

        Raises:
            ValidationError: The filter does not fit the table's columns.
        """
        schema = self._transaction.table_metadata.schema()
        row_filter = Filter.of(predicate, schema, case_sensitive=case_sensitive)
        joined = row_filter.expression if self._predicate is None else Or(self._predicate, row_filter.expression)
        _ = Filter(joined, schema, row_filter.case_sensitive).bound
        self._predicate, self._case_sensitive, self._plan = joined, row_filter.case_sensitive, None
        return self

    @property
    def rewrites_needed(self) -> bool:
        """Whether a file that stays may have rows that match the filters of `delete_by_predicate`."""
        return bool(pc.any(pc.invert(_whole(self._matches()))).as_py())

    @property
    def files_affected(self) -> bool:
        """Whether the filters of `delete_by_predicate` or the calls of `delete_data_file` remove a file."""
        return bool(self._deleted_paths) or bool(pc.any(_whole(self._matches())).as_py())

    def commit(self) -> None:
        """Add the snapshot to its transaction, none if filters alone were given and no file is removed.

        Raises:
            ValidationException: A concurrent commit conflicts, under the table's isolation level.
        """
        if self._predicate is None:
            super().commit()
            return
        self.replace_matching_rows()
        plan, row_filter = self._matches(), self._filter_of_rows()
        changes_files = bool(self._appended_files) or self.files_affected
        change = self if changes_files else ReadOnlyChange(self._transaction, self._branch, self._properties)
        self._add_checks(change, row_filter)
        if changes_files:
            self.remove_files(RemovedFiles.of(plan.files.filter(_whole(plan))))
            self.drop_deletes(covered_deletes(plan, self._transaction.table_metadata, row_filter))
            super().commit()
        else:
            change.commit()

    def _filter_of_rows(self) -> Filter:
        predicate = self._predicate if self._predicate is not None else AlwaysFalse()
        return Filter(predicate, self._transaction.table_metadata.schema(), self._case_sensitive)

    def _matches(self) -> ScanPlan:
        """Return the plan of the files that may have rows of the filters, one task for each file."""
        if self._plan is None:
            self._plan = DataScan(
                self._transaction.table_metadata,
                self._transaction.io,
                row_filter=self._filter_of_rows().expression,
                case_sensitive=self._case_sensitive,
                snapshot_id=self._head_id(),
                ref_is_branch=True,
            ).plan_whole_files()
        return self._plan

    def _add_checks(self, change: ValidatedChange, row_filter: Filter) -> None:
        change.validate_from_snapshot(self._head_id()).conflict_detection_filter(row_filter)
        change.validate_no_conflicting_deletes()
        if is_serializable(self._transaction.table_metadata.properties, "delete"):
            change.validate_no_conflicting_data()

    def _head_id(self) -> int | None:
        head = head_of(self._transaction.table_metadata, self._branch)
        return head.snapshot_id if head is not None else None


class DeleteDataFiles(OverwriteDataFiles, DeleteFiles):
    """A removal of data files."""

    def append_data_file(self, data_file: DataFile) -> Self:
        """Raise ValidationError: a delete adds no files."""
        path = _checked_file("append_data_file", data_file).file_path
        raise ValidationError(f"cannot append {path}: a delete adds no files; use update_snapshot().overwrite()")

    def commit(self) -> None:
        """Add the snapshot to its transaction, none if no file is removed; see :meth:`OverwriteDataFiles.commit`."""
        if self._predicate is not None or self._deleted_paths:
            super().commit()


class UpdateSnapshot:
    """Creates snapshots that add and remove data files.

    Args:
        transaction: The transaction that commits the snapshot.
        branch: The branch to move; None stages the snapshot.
        snapshot_properties: Additional keys of the summary.

    Examples:
        with table.transaction() as transaction:
            with transaction.update_snapshot().fast_append() as append:
                append.append_data_file(data_file)
    """

    def __init__(
        self, transaction: OpenTransaction, branch: str | None = MAIN, snapshot_properties: Properties | None = None
    ) -> None:
        self._transaction = transaction
        check_branch_name(branch)
        self._branch = branch
        self._properties = snapshot_properties

    def fast_append(self) -> FastAppendFiles:
        """Return an append that rewrites no manifest."""
        return FastAppendFiles(self._transaction, self._branch, self._properties)

    def merge_append(self) -> MergeAppendFiles:
        """Return an append that also merges small manifests."""
        return MergeAppendFiles(self._transaction, self._branch, self._properties)

    def overwrite(self, commit_uuid: uuid.UUID | None = None) -> OverwriteDataFiles:
        """Return a replacement of data files.

        Args:
            commit_uuid: Accepted for PyIceberg and ignored: the names of manifests have a UUID of their own.
        """
        del commit_uuid
        return OverwriteDataFiles(self._transaction, self._branch, self._properties)

    def delete(self) -> DeleteDataFiles:
        """Return a removal of data files."""
        return DeleteDataFiles(self._transaction, self._branch, self._properties)


def _whole(plan: ScanPlan) -> pa.Array:
    """Return a boolean array: whether all rows of each file of a plan match its filter."""
    return pc.fill_null(plan.files.column("must_match"), False)


def _checked_file(call: str, file: object) -> DataFile:
    if not isinstance(file, DataFile):
        raise ValidationError(f"{call}: expected an icefloe.manifest.DataFile, got {file!r}")
    if file.content is not DataFileContent.DATA:
        raise ValidationError(
            f"{call}: expected a data file, got {file.file_path} of content {file.content}; use new_row_delta() for delete files"
        )
    return file
