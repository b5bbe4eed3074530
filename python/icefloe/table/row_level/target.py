"""The table and branch that an operation changes, at the version that the operation reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from icefloe.exceptions import MissingFileError, ValidationException
from icefloe.expressions.filter import Filter
from icefloe.table.commit.snapshot_producer import check_branch, check_delete_files, head_of
from icefloe.table.commit.summary import summary_properties
from icefloe.table.commit.validated_change import ReadOnlyChange
from icefloe.table.scan.data_scan import DataScan
from icefloe.table.write.file_writer import FileWriter
from icefloe.table.write.isolation import is_merge_on_read, is_serializable
from icefloe.table.write.position_deletes import write_position_deletes

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.table.commit.transaction import Transaction
    from icefloe.table.commit.validated_change import ValidatedChange
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.write.position_deletes import PositionDeleteFiles
    from icefloe.table.write.rows import Positions
    from icefloe.typedef import Properties


@dataclass(frozen=True, eq=False)
class Target:
    """The table and branch of one operation.

    As a context manager it deletes the operation's files when the operation raises before its change is part of the transaction;
    later the transaction decides whether they stay. Files that are written inside the block are synced by the transaction's commit, or
    at the end of a block that adds no change; other files when they are written.

    Attributes:
        transaction: The transaction that the change is added to.
        branch: The branch to change; None stages a snapshot on top of main's without moving a branch.
        snapshot_properties: Additional keys of the snapshot's summary.
    """

    transaction: Transaction
    branch: str | None
    snapshot_properties: Properties | None
    _pending: list[int] = field(default_factory=list, init=False)
    _planned: list[TableMetadata] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        check_branch(self.metadata, self.branch)
        summary_properties(self.snapshot_properties)

    @property
    def metadata(self) -> TableMetadata:
        """The table's metadata, with earlier changes of the transaction."""
        return self.transaction.table_metadata

    @cached_property
    def writer(self) -> FileWriter:
        """The writer of the operation's files."""
        io = self.transaction.deferring_io if self._pending else self.transaction.io
        return FileWriter(io, self.metadata, self.transaction.environment.new_uuid())

    @property
    def snapshot_id(self) -> int | None:
        """The id of the snapshot that the operation reads: the head of the branch, or of main if the branch does not exist."""
        head = head_of(self.metadata, self.branch)
        return head.snapshot_id if head is not None else None

    def __enter__(self) -> Self:
        self.transaction.adopt(self)
        self._pending.append(self.transaction.pending)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        adds_no_change = self.transaction.pending == self._pending.pop()
        if adds_no_change and kind is not None:
            self.abandon()
        elif adds_no_change and "writer" in self.__dict__:
            # A commit inside the block has kept and forgotten its files.
            self.transaction.sync_files()
        if isinstance(error, MissingFileError):
            self._check_not_expired(error)

    def _check_not_expired(self, missing: MissingFileError) -> None:
        """Raise ValidationException if a concurrent commit has expired the snapshot that the operation reads.

        The operation is not repeated on the newest version: which rows others changed since the expired snapshot cannot be determined.
        """
        for read in self._planned:
            head = head_of(read, self.branch)
            if head is not None and self.transaction.is_expired(head.snapshot_id):
                raise ValidationException(
                    f"cannot read snapshot {head.snapshot_id}: a concurrent commit has expired it, and its files are deleted; reload the table "
                    f"and repeat the operation: {missing}"
                ) from missing

    def keep(self) -> None:
        """Keep the files written so far: a snapshot may refer to them."""
        self.__dict__.pop("writer", None)

    def abandon(self) -> None:
        """Delete the files written so far: no snapshot refers to them."""
        writer: FileWriter | None = self.__dict__.pop("writer", None)
        if writer is not None:
            writer.abandon()

    def merges_on_read(self, operation: str) -> bool:
        """Return whether `write.<operation>.mode` is `merge-on-read`; an operation rewrites data files otherwise.

        Args:
            operation: `delete`, `update` or `merge`.

        Raises:
            ValidationError: The mode is unknown, or the table's format version has no delete files.
        """
        on_read = is_merge_on_read(self.metadata.properties, operation)
        if on_read:
            check_delete_files(self.metadata)
        return on_read

    def filter(self, row_filter: str | BooleanExpression, *, case_sensitive: bool = True) -> Filter:
        """Return a filter of rows, its names resolved against the table's current schema.

        Raises:
            ValidationError: The filter is text that does not parse.
        """
        return Filter.of(row_filter, self.metadata.schema(), case_sensitive=case_sensitive)

    def position_deletes(self, plan: ScanPlan, positions: Positions) -> PositionDeleteFiles:
        """Write the deletes of some rows of a plan's files, with the positions of the delete files that the new ones replace."""
        return write_position_deletes(self.writer, plan, positions, self.metadata.properties)

    def plan(self, row_filter: Filter) -> ScanPlan:
        """Plan a scan of whole files for the rows of a filter, under the current schema."""
        self._planned.append(self.transaction.base)
        scan = DataScan(
            self.metadata,
            self.transaction.io,
            row_filter=row_filter.expression,
            case_sensitive=row_filter.case_sensitive,
            snapshot_id=self.snapshot_id,
            ref_is_branch=True,
        )
        return scan.plan_whole_files()

    def add_checks(self, change: ValidatedChange, row_filter: Filter, operation: str) -> None:
        """Add the conflict checks that the table's isolation level requires to a change.

        Args:
            change: The change, not committed yet.
            row_filter: The rows that the operation read.
            operation: `delete`, `update` or `merge`.
        """
        change.validate_from_snapshot(self.snapshot_id).conflict_detection_filter(row_filter)
        change.validate_no_conflicting_deletes()
        if is_serializable(self.metadata.properties, operation):
            change.validate_no_conflicting_data()

    def commit_read_set(self, row_filter: Filter, operation: str) -> None:
        """Make the transaction depend on the rows that an operation read without changing any of them."""
        change = ReadOnlyChange(self.transaction, self.branch, self.snapshot_properties)
        self.add_checks(change, row_filter, operation)
        change.commit()
