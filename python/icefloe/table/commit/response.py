"""What a catalog answers to a commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True)
class CommitTableResponse:
    """A table's metadata after a commit.

    Attributes:
        metadata: The new metadata.
        metadata_location: The file that holds it.
    """

    metadata: TableMetadata
    metadata_location: str
