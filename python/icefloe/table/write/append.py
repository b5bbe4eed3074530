"""Appending rows, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icefloe.table.row_level.target import Target


def append_rows(target: Target, data: object) -> None:
    """Write rows and append them, in one snapshot."""
    files = target.writer.data_files(data)
    target.transaction.new_append(target.branch, target.snapshot_properties).append(files).commit()
