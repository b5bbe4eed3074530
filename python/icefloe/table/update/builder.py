"""What the builders of changes have in common: a transaction to hand their updates to, and an end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update.actions import TableUpdate
    from icefloe.table.update.requirements import TableRequirement

UpdatesAndRequirements = tuple["tuple[TableUpdate, ...]", "tuple[TableRequirement, ...]"]


class UpdatableTable(Protocol):
    """A transaction, as far as builders need it."""

    @property
    def table_metadata(self) -> TableMetadata:
        """The metadata after the changes so far."""

    def apply_updates(self, updates: tuple[TableUpdate, ...], requirements: tuple[TableRequirement, ...] = ()) -> Any:
        """Take changes over."""


class UpdateBuilder(ABC):
    """Collects changes until ``commit``; as a context manager it commits at the end of its block unless an exception leaves it."""

    _transaction: UpdatableTable

    def __init__(self, transaction: UpdatableTable) -> None:
        self._transaction = transaction

    @abstractmethod
    def _changes(self) -> UpdatesAndRequirements:
        """Return the updates and what they take for granted; no update if nothing changes."""

    def commit(self) -> None:
        """Hand the changes to the transaction."""
        updates, requirements = self._changes()
        if updates:
            self._transaction.apply_updates(updates, requirements)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is None:
            self.commit()
