"""The table handle and the catalog that a transaction commits to, and the catalog's answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.typedef import Identifier


@dataclass(frozen=True)
class CommitTableResponse:
    """A table's metadata after a commit.

    Attributes:
        metadata: The new metadata.
        metadata_location: The file that holds it.
    """

    metadata: TableMetadata
    metadata_location: str


class CommittingCatalog(Protocol):
    """What a transaction needs of a catalog."""

    def commit_table(
        self, table: Any, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Check, apply and swap."""


class CommittingTable(Protocol):
    """What a transaction needs of a table handle."""

    io: FileIO

    @property
    def metadata(self) -> TableMetadata:
        """The version that the handle shows."""

    @property
    def version(self) -> tuple[TableMetadata, str]:
        """The version that the handle shows, and the location of its metadata file."""

    @property
    def catalog(self) -> CommittingCatalog:
        """Where changes are committed."""

    def name(self) -> Identifier:
        """Return the table's identifier."""

    def refresh(self) -> Any:
        """Load the table's newest version into the handle."""

    def show(self, metadata: TableMetadata, metadata_location: str) -> None:
        """Move the handle to a version of the table."""
