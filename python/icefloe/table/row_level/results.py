"""The numbers of rows that a row-level change replaced, deleted and inserted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MergeResult:
    """What a merge did.

    Attributes:
        rows_updated: Target rows that were replaced.
        rows_deleted: Target rows that are gone.
        rows_inserted: Source rows that were added.
    """

    rows_updated: int
    rows_deleted: int
    rows_inserted: int


@dataclass(frozen=True)
class UpsertResult:
    """What an upsert did.

    Attributes:
        rows_updated: Rows that existed and differed.
        rows_inserted: Rows that were new.
    """

    rows_updated: int = 0
    rows_inserted: int = 0
