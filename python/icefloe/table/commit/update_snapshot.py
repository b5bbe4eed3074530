"""Snapshots that add and remove single data files: the classes behind PyIceberg's `update_snapshot()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.manifest.columns import data_file_columns
from icefloe.table.commit.data_file_changes import DeleteFiles, FastAppend, MergeAppend, OverwriteFiles
from icefloe.table.commit.snapshot_producer import MAIN, SnapshotProducer, check_branch_name

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from icefloe.manifest import DataFile
    from icefloe.table.commit.change import OpenTransaction
    from icefloe.typedef import Properties


class _DataFileUpdate(SnapshotProducer):
    """A snapshot that adds DataFile objects; it commits at the end of a `with` block."""

    def __init__(
        self, transaction: OpenTransaction, branch: str | None = MAIN, snapshot_properties: Properties | None = None
    ) -> None:
        super().__init__(transaction, branch, snapshot_properties)
        self._appended_files: list[DataFile] = []

    def append_data_file(self, data_file: DataFile) -> Self:
        """Add a data file; its `spec_id` is the spec of its partition tuple."""
        self._appended_files.append(data_file)
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

    def delete_data_file(self, data_file: DataFile) -> Self:
        """Remove a data file by its path."""
        return self.delete([data_file.file_path])


class DeleteDataFiles(_DataFileUpdate, DeleteFiles):
    """A removal of data files."""

    def append_data_file(self, data_file: DataFile) -> Self:
        """Raise ValidationError: a delete adds no files."""
        raise ValidationError(
            f"cannot append {data_file.file_path}: a delete adds no files; use update_snapshot().overwrite()"
        )

    def delete_data_file(self, data_file: DataFile) -> Self:
        """Remove a data file by its path."""
        return self.delete([data_file.file_path])


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

    def overwrite(self) -> OverwriteDataFiles:
        """Return a replacement of data files."""
        return OverwriteDataFiles(self._transaction, self._branch, self._properties)

    def delete(self) -> DeleteDataFiles:
        """Return a removal of data files."""
        return DeleteDataFiles(self._transaction, self._branch, self._properties)
