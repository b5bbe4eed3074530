"""One change of a transaction, and what it may ask of the transaction that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.environment import Environment
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate

    Staged = tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]


@dataclass(frozen=True)
class Versions:
    """The versions of a table that a change of a transaction rests on.

    Attributes:
        loaded: The table when the transaction began: what its operations read, beside the transaction's own changes.
        newest: The table as others have left it, without the transaction's own changes; `loaded` at first.
        working: `newest` with the earlier changes of the transaction.
    """

    loaded: TableMetadata
    newest: TableMetadata
    working: TableMetadata


class Change(Protocol):
    """One change of a transaction."""

    def validate(self, versions: Versions) -> None:
        """Raise ValidationException when what others committed since the table was loaded conflicts with this change."""

    def stage(self, base: TableMetadata, attempt: int) -> Staged:
        """Return updates and requirements of this change on top of `base`."""

    def committed(self, table: TableMetadata) -> None:
        """Clean up after success; `table` is the version that holds this change."""

    def abandoned(self) -> None:
        """Clean up after a definite failure."""


class WrittenFiles(Protocol):
    """Data and delete files that an operation of a transaction has written."""

    def keep(self) -> None:
        """Leave the files to the table: they are part of it, or may be."""

    def abandon(self) -> None:
        """Delete the files: they are part of no snapshot."""


@dataclass(frozen=True)
class FixedChange:
    """Updates that do not depend on what others commit, as long as the requirements hold."""

    updates: tuple[TableUpdate, ...]
    requirements: tuple[TableRequirement, ...]

    def validate(self, versions: Versions) -> None:
        """Leave it to the requirements."""

    def stage(self, base: TableMetadata, attempt: int) -> Staged:
        """Return the updates and requirements."""
        return self.updates, self.requirements

    def committed(self, table: TableMetadata) -> None:
        """Nothing was written."""

    def abandoned(self) -> None:
        """Nothing was written."""


class OpenTransaction(Protocol):
    """A transaction, as far as its changes need it."""

    @property
    def io(self) -> FileIO:
        """The table's storage."""

    @property
    def environment(self) -> Environment:
        """Clock, sleep and chance."""

    @property
    def table_metadata(self) -> TableMetadata:
        """The table as it would be after the changes so far."""

    def apply(self, change: Change) -> None:
        """Add a change."""
