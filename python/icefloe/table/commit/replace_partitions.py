"""Replacing whole partitions, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.commit.overwrite import OverwriteFiles
from icefloe.table.snapshots import Operation
from icefloe.table.update import AssertDefaultSpecId

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.commit.partitions import Partitions
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


class ReplacePartitions(OverwriteFiles):
    """Adds data files and removes those of the partitions that they lie in.

    Which partitions these are follows from the table's default spec, so that the commit requires that spec.
    """

    def replace(self, partitions: Partitions) -> Self:
        """Name the partitions; data that others add to one of them conflicts."""
        self._partitions = partitions
        self.set_summary("replace-partitions", "true")
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.OVERWRITE

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Require the spec besides."""
        updates, requirements = super().stage(base, attempt)
        if self._partitions is None:
            return updates, requirements
        spec_id = self._partitions.spec.spec_id
        return updates, (*requirements, AssertDefaultSpecId(default_spec_id=spec_id))
