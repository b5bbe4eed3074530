"""The table handle and the catalog that a transaction commits to, and the result of a commit."""

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
        metadata_location: The location of its file.
    """

    metadata: TableMetadata
    metadata_location: str


class TableCatalog(Protocol):
    """The part of a catalog that a table handle and its transactions use."""

    name: str

    def load_table(self, identifier: str | Identifier) -> Any:
        """Return the handle of the table at its current metadata location."""

    def check_location(self, table: Any) -> None:
        """Raise if the table is not at the location that its metadata states."""

    def commit_table(
        self, table: Any, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Check the requirements, apply the updates and swap the table's metadata location."""


class CommittingTable(Protocol):
    """The part of a table handle that a transaction uses."""

    io: FileIO

    @property
    def metadata(self) -> TableMetadata:
        """The metadata of the handle's version."""

    @property
    def version(self) -> tuple[TableMetadata, str]:
        """The metadata of the handle's version, and the location of its file."""

    @property
    def catalog(self) -> TableCatalog:
        """The catalog that commits changes."""

    def name(self) -> Identifier:
        """Return the table's identifier."""

    def refresh(self) -> Any:
        """Load the table's newest version into the handle."""

    def show(self, metadata: TableMetadata, metadata_location: str) -> None:
        """Move the handle to a version of the table."""
