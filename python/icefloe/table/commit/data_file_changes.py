"""Snapshots that add and remove whole data files: appends, overwrites and deletes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.arguments import checked_names
from icefloe.exceptions import ValidationError
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.snapshot_producer import SnapshotProducer
from icefloe.table.commit.summary import FILE_COLUMNS
from icefloe.table.commit.validated_change import ValidatedChange
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from typing_extensions import Self


class FastAppend(SnapshotProducer):
    """Adds data files in manifests of their own and leaves all other manifests as they are."""

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.APPEND

    def append(self, data_files: pa.RecordBatch) -> Self:
        """Add data files, DataFile columns as `_core.write_data_files` returns them."""
        self._added.append(checked_data_files("append", data_files))
        return self


class MergeAppend(FastAppend):
    """Adds data files and merges small manifests, so that plans of a table with many small appends read few manifests."""

    merges = True


class OverwriteFiles(ValidatedChange):
    """Adds data files and removes data files; a removed file must still be live when the change commits."""

    _replaces_rows = False

    def append(self, data_files: pa.RecordBatch) -> Self:
        """Add data files, DataFile columns as `_core.write_data_files` returns them."""
        self._added.append(checked_data_files("append", data_files))
        return self

    def delete(self, paths: pa.Array | list[str]) -> Self:
        """Remove data files by their paths, exactly as the table's manifests spell them."""
        return self.remove_files(RemovedFiles(as_paths(paths)))

    def replace_matching_rows(self) -> Self:
        """Record the change as a replacement of the rows of a filter, also where no file has such rows.

        Its operation is `overwrite` then, or `delete` without new files, as with the Java library; otherwise a change that removes no
        file is an `append`.
        """
        self._replaces_rows = True
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        adds_files = any(files.num_rows > 0 for files in self._added)
        removes_files = self._replaces_rows or bool(self._removed)
        if adds_files == removes_files:
            return Operation.OVERWRITE
        return Operation.APPEND if adds_files else Operation.DELETE


class DeleteFiles(OverwriteFiles):
    """Removes data files and adds none."""

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.DELETE


def as_paths(paths: pa.Array | pa.ChunkedArray | list[str]) -> pa.Array:
    """Return paths as one Arrow array of strings.

    Raises:
        ValidationError: The paths are no Arrow column and no list or tuple of texts.
    """
    if isinstance(paths, pa.ChunkedArray):
        paths = paths.combine_chunks()
    if isinstance(paths, pa.Array) and (paths.null_count > 0 or not is_text(paths.type)):
        raise ValidationError(f"paths of files: expected strings without nulls, got a column of type {paths.type}")
    return paths.cast(pa.string()) if isinstance(paths, pa.Array) else pa.array(_texts(paths), pa.string())


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of the types of text, or a dictionary of one."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _texts(paths: object) -> list[str]:
    if not isinstance(paths, list | tuple):
        raise ValidationError(f"paths of files: expected a list of paths or an Arrow array, got {paths!r}")
    return list(checked_names("paths of files", paths))


def checked_data_files(call: str, files: object) -> pa.RecordBatch:
    """Return an argument that is a record batch of files, as the core's writers return them.

    Raises:
        ValidationError: The value is no record batch, or the batch lacks columns of a file.
    """
    if not isinstance(files, pa.RecordBatch):
        raise ValidationError(
            f"{call}: expected a pyarrow.RecordBatch with the columns of data files, got {type(files).__name__}; use the table's "
            "append() for rows"
        )
    missing = [name for name in FILE_COLUMNS if name not in files.schema.names]
    if missing:
        raise ValidationError(
            f"{call}: expected the columns of data files, got a record batch without {', '.join(missing)}"
        )
    return files
