"""Replacing whole data files by others, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.commit.validated import ValidatedChange
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from typing_extensions import Self


class OverwriteFiles(ValidatedChange):
    """Adds data files and removes data files. What is removed must still be there when the change commits."""

    def append(self, data_files: pa.RecordBatch) -> Self:
        """Add data files, DataFile columns as `_core.write_data_files` returns them."""
        self._added.append(data_files)
        return self

    def delete(self, paths: pa.Array | list[str]) -> Self:
        """Remove data files by their paths, exactly as the table's manifests spell them."""
        array = as_paths(paths)
        if len(array) > 0:
            self._deleted_paths.append(array)
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        if not self._deleted_paths:
            return Operation.APPEND
        return Operation.OVERWRITE if self._added else Operation.DELETE


class DeleteFiles(OverwriteFiles):
    """Removes data files and adds none."""

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.DELETE


def as_paths(paths: pa.Array | pa.ChunkedArray | list[str]) -> pa.Array:
    """Return paths as one Arrow array of strings."""
    if isinstance(paths, pa.ChunkedArray):
        return paths.combine_chunks().cast(pa.string())
    return pa.array(paths, pa.string()) if isinstance(paths, list) else paths.cast(pa.string())
