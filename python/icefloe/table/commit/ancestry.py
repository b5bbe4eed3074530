"""The check that a snapshot is an ancestor of another one in every attempt of a transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationException
from icefloe.table.snapshots import is_ancestor_of

if TYPE_CHECKING:
    from icefloe.table.commit.change import Staged, Versions
    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True)
class Ancestry:
    """A change without updates. A snapshot that the transaction itself writes gets another parent when it is written again.

    Attributes:
        ancestor: The id of the older snapshot.
        descendant: The id of the newer snapshot.
    """

    ancestor: int
    descendant: int

    def validate(self, versions: Versions) -> None:
        """Raise ValidationException if the snapshot is no ancestor any more."""
        if not is_ancestor_of(self.descendant, self.ancestor, versions.working):
            raise ValidationException(
                f"cannot move a branch: a concurrent commit has replaced its snapshots, so that snapshot {self.ancestor} is no ancestor of "
                f"snapshot {self.descendant} any more; reload the table and repeat the change"
            )

    def stage(self, base: TableMetadata, attempt: int) -> Staged:
        """Return no updates and no requirements."""
        return (), ()

    def committed(self, table: TableMetadata) -> None:
        """Do nothing: no file was written."""

    def abandoned(self) -> None:
        """Do nothing: no file was written."""
