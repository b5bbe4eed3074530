"""The changes of a transaction, and the protocol between a change and its transaction."""

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
    """The versions of a table that a change is checked against and applied to.

    Attributes:
        loaded: The table when the transaction began, which its operations read together with its own changes.
        newest: The table with the commits of others and without the transaction's own changes; at first `loaded`.
        working: `newest` with the earlier changes of the transaction.
    """

    loaded: TableMetadata
    newest: TableMetadata
    working: TableMetadata


class Change(Protocol):
    """A change of a transaction."""

    def validate(self, versions: Versions) -> None:
        """Raise ValidationException if a commit of others since the table was loaded conflicts with this change."""

    def stage(self, base: TableMetadata, attempt: int) -> Staged:
        """Return updates and requirements of this change on top of `base`."""

    def committed(self, table: TableMetadata) -> None:
        """Clean up after the commit; `table` is the version that contains this change."""

    def abandoned(self) -> None:
        """Clean up after a definite failure."""


class WrittenFiles(Protocol):
    """Data and delete files that an operation of a transaction has written."""

    def keep(self) -> None:
        """Keep the files: a snapshot refers to them, or may refer to them."""

    def abandon(self) -> None:
        """Delete the files: no snapshot refers to them."""


@dataclass(frozen=True)
class FixedChange:
    """Updates that apply to any version of the table on which the requirements hold."""

    updates: tuple[TableUpdate, ...]
    requirements: tuple[TableRequirement, ...]

    def validate(self, versions: Versions) -> None:
        """Do nothing: the catalog checks the requirements."""

    def stage(self, base: TableMetadata, attempt: int) -> Staged:
        """Return the updates and requirements."""
        return self.updates, self.requirements

    def committed(self, table: TableMetadata) -> None:
        """Do nothing: no file was written."""

    def abandoned(self) -> None:
        """Do nothing: no file was written."""


class OpenTransaction(Protocol):
    """The part of a transaction that its changes use."""

    @property
    def io(self) -> FileIO:
        """The table's storage."""

    @property
    def deferring_io(self) -> FileIO:
        """The table's storage for files of the transaction, which are synced together before the swap instead of one by one."""

    @property
    def environment(self) -> Environment:
        """Clock, sleep and randomness."""

    @property
    def table_metadata(self) -> TableMetadata:
        """The table with the changes so far."""

    def apply(self, change: Change) -> None:
        """Add a change."""
