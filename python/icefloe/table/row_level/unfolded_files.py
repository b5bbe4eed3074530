"""The number of small files that batches of changes have left since the last fold, in the summaries of snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.properties.definitions import FOLD_MIN_FILES
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.metadata import TableMetadata

UNFOLDED_FILES = "icefloe.unfolded-files"
"""Summary key: the files of a partition that batches of changes have left since the last fold; a fold sets it to 0."""


def with_unfolded_files(metadata: TableMetadata, branch: str | None, added: list[pa.RecordBatch]) -> dict[str, str]:
    """Return the summary of a batch that adds files; empty if files are never folded.

    Args:
        metadata: The table before the batch.
        branch: The branch of the batch.
        added: Data and delete files of the batch, DataFile columns.
    """
    count = sum(files.num_rows for files in added)
    if FOLD_MIN_FILES.of(metadata.properties) == 0 or count == 0:
        return {}
    partitions = max(len(pc.unique(files.column("partition"))) for files in added)
    return {UNFOLDED_FILES: str(next(_counts(metadata, branch), 0) + -(-count // max(partitions, 1)))}


def is_fold_due(metadata: TableMetadata, branch: str) -> bool:
    """Return whether the newest batch of a branch passed a multiple of `write.icefloe.fold-min-files`.

    A fold that failed is thus tried again after as many files.
    """
    threshold = FOLD_MIN_FILES.of(metadata.properties)
    counts = _counts(metadata, branch)
    newest = next(counts, 0)
    return threshold > 0 and newest // threshold > min(next(counts, 0), newest) // threshold


def _counts(metadata: TableMetadata, branch: str | None) -> Iterator[int]:
    """Yield the counts in the summaries of a branch, from the newest snapshot on."""
    head = head_of(metadata, branch)
    for snapshot in ancestors_of(head, metadata) if head is not None else ():
        text = snapshot.summary.get(UNFOLDED_FILES) if snapshot.summary is not None else None
        if text is not None and text.isdecimal():
            yield int(text)
