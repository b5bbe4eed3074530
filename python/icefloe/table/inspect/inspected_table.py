"""The parts of a table that its metadata tables are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot


class TableHandle(Protocol):
    """A table handle, which may move to other versions."""

    io: FileIO

    @property
    def version(self) -> tuple[TableMetadata, str]:
        """The metadata and the file of the metadata."""

    def name(self) -> tuple[str, ...]:
        """Return the identifier."""


@dataclass(frozen=True)
class InspectedTable:
    """One version of a table.

    Attributes:
        identifier: Namespace levels and name.
        metadata: The metadata.
        metadata_location: The file of the metadata.
        io: Storage.
    """

    identifier: tuple[str, ...]
    metadata: TableMetadata
    metadata_location: str
    io: FileIO

    @classmethod
    def of(cls, table: TableHandle) -> InspectedTable:
        """Return the version that a handle has now."""
        metadata, location = table.version
        return cls(table.name(), metadata, location, table.io)


def dotted_name(table: InspectedTable) -> str:
    """Return the name of a table for messages."""
    return ".".join(table.identifier)


def snapshot_of(table: InspectedTable, snapshot_id: int | None) -> Snapshot | None:
    """Return a snapshot of a table, the current one for None; None if the table has no snapshot.

    Raises:
        ValidationError: The table has no snapshot of this id.
    """
    if snapshot_id is None:
        return table.metadata.current_snapshot()
    found = table.metadata.snapshot_by_id(snapshot_id)
    if found is None:
        raise ValidationError(f"{dotted_name(table)} has no snapshot {snapshot_id}; it may have been expired")
    return found
