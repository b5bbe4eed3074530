"""The table and branch that an operation changes, as it was when the operation began."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe.expressions.filter import Filter
from icefloe.table.scan.table_scan import DataScan
from icefloe.table.write.file_writer import FileWriter

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.table.commit.transaction import Transaction
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.typedef import Properties


@dataclass(frozen=True)
class Target:
    """What an operation works on.

    Attributes:
        transaction: Where its change goes.
        branch: The branch it changes; None to stage the change, on what main has.
        snapshot_properties: Further keys of the snapshot's summary.
        metadata: The table as the operation sees it, earlier changes of the transaction included.
        writer: Writes the operation's files.
    """

    transaction: Transaction
    branch: str | None
    snapshot_properties: Properties
    metadata: TableMetadata = field(init=False)
    writer: FileWriter = field(init=False)

    def __post_init__(self) -> None:
        metadata = self.transaction.table_metadata
        # The class is frozen for its users; these two follow from the transaction.
        object.__setattr__(self, "metadata", metadata)
        writer = FileWriter(self.transaction.io, metadata, self.transaction.environment.new_uuid())
        object.__setattr__(self, "writer", writer)

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot that the operation reads: the branch's head, main's while the branch does not exist."""
        ref = self.metadata.refs.get(self.branch) if self.branch is not None else None
        return ref.snapshot_id if ref is not None else self.metadata.current_snapshot_id

    def filter(self, row_filter: str | BooleanExpression, *, case_sensitive: bool = True) -> Filter:
        """Return a filter of the table's rows, in terms of the schema that the operation sees.

        Raises:
            ValidationError: The filter is text that does not parse.
        """
        return Filter.of(row_filter, self.metadata.schema(), case_sensitive=case_sensitive)

    def plan(self, row_filter: Filter) -> ScanPlan:
        """Plan the rows of a filter, whole files, under the current schema."""
        scan = DataScan(
            self.metadata,
            self.transaction.io,
            row_filter=row_filter.expression,
            case_sensitive=row_filter.case_sensitive,
            snapshot_id=self.snapshot_id,
            ref_is_branch=True,
        )
        return scan.plan_whole_files()
