"""The table and branch that an operation changes, as it was when the operation began."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe.expressions.filter import Filter
from icefloe.table.commit.snapshot_producer import check_branch, check_delete_files
from icefloe.table.scan.table_scan import DataScan
from icefloe.table.write.file_writer import FileWriter
from icefloe.table.write.isolation import is_merge_on_read

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.table.commit.transaction import Transaction
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.typedef import Properties


@dataclass(frozen=True, eq=False)
class Target:
    """What an operation works on.

    As a context manager it deletes the operation's files when the operation raises, unless the failure left open whether they
    have become part of the table.

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
        check_branch(metadata, self.branch)
        # The class is frozen for its users; these two follow from the transaction.
        object.__setattr__(self, "metadata", metadata)
        writer = FileWriter(self.transaction.io, metadata, self.transaction.environment.new_uuid())
        object.__setattr__(self, "writer", writer)

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot that the operation reads: the branch's head, main's while the branch does not exist."""
        ref = self.metadata.refs.get(self.branch) if self.branch is not None else None
        return ref.snapshot_id if ref is not None else self.metadata.current_snapshot_id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None:
            self.writer.abandon()

    def merges_on_read(self, operation: str) -> bool:
        """Whether an operation marks rows in delete files, as `write.<operation>.mode` says; it rewrites data files otherwise.

        Args:
            operation: `delete`, `update` or `merge`.

        Raises:
            ValidationError: The table's format version has no delete files.
        """
        on_read = is_merge_on_read(self.metadata.properties, operation)
        if on_read:
            check_delete_files(self.metadata)
        return on_read

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
