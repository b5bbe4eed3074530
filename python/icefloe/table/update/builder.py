"""The base class of the builders of metadata updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from icefloe.exceptions import CommitFailedException

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update.actions import TableUpdate
    from icefloe.table.update.requirements import TableRequirement

UpdatesAndRequirements = tuple["tuple[TableUpdate, ...]", "tuple[TableRequirement, ...]"]


class UpdatableTable(Protocol):
    """The part of a transaction that builders use."""

    @property
    def table_metadata(self) -> TableMetadata:
        """The metadata with the changes so far."""

    def apply_updates(self, updates: tuple[TableUpdate, ...], requirements: tuple[TableRequirement, ...] = ()) -> Any:
        """Add updates and requirements."""


class UpdateBuilder(ABC):
    """Collects changes until ``commit``. As a context manager it commits at the end of its block unless the block raises.

    Attributes:
        opener: The method that returns this builder, for messages.
    """

    opener: ClassVar[str] = ""
    _transaction: UpdatableTable

    def __init__(self, transaction: UpdatableTable) -> None:
        self._transaction = transaction
        self._origin = self._facts(transaction.table_metadata)

    def _facts(self, metadata: TableMetadata) -> object:
        """Return the facts of the table from which the changes are computed."""
        return None

    @abstractmethod
    def _changes(self) -> UpdatesAndRequirements:
        """Return the updates and their requirements; no update if nothing changes."""

    def commit(self) -> None:
        """Add the changes to the transaction.

        Raises:
            CommitFailedException: Another change of the transaction, which this builder does not know, would be lost.
        """
        updates, requirements = self._changes()
        if updates:
            if self._facts(self._transaction.table_metadata) != self._origin:
                raise CommitFailedException(
                    f"{self.opener}: the transaction has changed the same part of the table since these changes began, and would lose "
                    f"that change; call {self.opener} after the other change is committed to the transaction"
                )
            self._transaction.apply_updates(updates, requirements)
        self._origin = self._facts(self._transaction.table_metadata)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is None:
            self.commit()
