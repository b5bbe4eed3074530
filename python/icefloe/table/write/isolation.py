"""Isolation level and write mode of row-level operations, from the table properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.table.properties.definitions import ISOLATION_LEVELS, ROW_LEVEL_MODES

if TYPE_CHECKING:
    from icefloe.typedef import Properties

MERGE_ON_READ = "merge-on-read"
SERIALIZABLE = "serializable"


@dataclass(frozen=True)
class Isolation:
    """The concurrent commits that conflict with a replacement of rows.

    Attributes:
        snapshot_id: The snapshot that the operation read; later commits are checked. None for an empty table.
        serializable: Whether rows that others add to the replaced rows conflict.
    """

    snapshot_id: int | None
    serializable: bool


def is_merge_on_read(properties: Properties, operation: str) -> bool:
    """Return whether `write.<operation>.mode` is merge-on-read: the operation writes delete files instead of rewriting data files.

    Args:
        properties: Table properties.
        operation: `delete`, `update` or `merge`.
    """
    return ROW_LEVEL_MODES[operation].of(properties) == MERGE_ON_READ


def is_serializable(properties: Properties, operation: str) -> bool:
    """Return whether `write.<operation>.isolation-level` is serializable: rows that others add to the rows read conflict."""
    return ISOLATION_LEVELS[operation].of(properties) == SERIALIZABLE
