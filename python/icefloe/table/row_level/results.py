"""The numbers of rows that a row-level operation updated, deleted and inserted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MergeResult:
    """The rows that a merge, an update or a delete changed.

    Attributes:
        rows_updated: Number of target rows that were replaced.
        rows_deleted: Number of target rows that were deleted.
        rows_inserted: Number of rows that were added.
    """

    rows_updated: int
    rows_deleted: int
    rows_inserted: int


@dataclass(frozen=True)
class UpsertResult:
    """The rows that an upsert changed.

    Attributes:
        rows_updated: Number of rows whose key existed and whose values differed.
        rows_inserted: Number of rows whose key did not exist.
    """

    rows_updated: int = 0
    rows_inserted: int = 0
