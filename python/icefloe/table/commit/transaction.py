"""Transactions: changes of one table that are committed together, and retried after concurrent commits."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from icefloe import _core
from icefloe.arguments import checked_items
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    IcebergError,
    MissingFileError,
    NoSuchTableError,
    ServiceUnavailableError,
    ValidationError,
)
from icefloe.table.commit.change import Change, FixedChange, Versions, WrittenFiles
from icefloe.table.commit.committing_table import CommitTableResponse, CommittingTable
from icefloe.table.commit.derived_requirements import first_of_each, requirements_of
from icefloe.table.commit.retry import RetryPolicy
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.update import (
    AddSnapshotUpdate,
    AssertPartitionSpecExists,
    AssertPartitionSpecs,
    AssertSnapshotExists,
    AssertTableUUID,
    TableRequirement,
    TableUpdate,
    update_table_metadata,
)

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from typing_extensions import Self

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata


INDEFINITE_ERRORS = (CommitStateUnknownException, ServiceUnavailableError)
"""Errors after which a commit that was sent may still take effect: a proxy may report its own failure as an unavailable service."""


class Transaction:
    """Changes of one table that become visible together or not at all.

    As a context manager it commits at the end of the block. If the block raises, nothing is committed and the files that the
    changes wrote are deleted.

    Args:
        table: The table's handle; a commit moves it to the new version.
        autocommit: Whether each change commits at once.
    """

    def __init__(self, table: CommittingTable, autocommit: bool = False) -> None:
        self._table = table
        self._autocommit = autocommit
        self._changes: list[Change] = []
        self._written: list[WrittenFiles] = []
        self._unsynced = _core.UnsyncedFiles()
        self._is_sent = False
        self._has_failed = False
        self._start(table.metadata)

    def _start(self, loaded: TableMetadata) -> None:
        self._loaded = loaded
        self._rebase(loaded)

    def _rebase(self, newest: TableMetadata) -> None:
        self._newest = newest
        self._working = newest
        self._updates: tuple[TableUpdate, ...] = ()
        self._requirements: tuple[TableRequirement, ...] = ()

    @property
    def table_metadata(self) -> TableMetadata:
        """The table with the changes so far."""
        return self._working

    @property
    def base(self) -> TableMetadata:
        """The version of the table that the changes are staged on."""
        return self._newest

    def is_expired(self, snapshot_id: int) -> bool:
        """Load the newest version of the table and return whether it lacks a snapshot; False if it cannot be loaded."""
        with suppress(IcebergError):
            self._table.refresh()
        return self._table.version[0].snapshot_by_id(snapshot_id) is None

    @property
    def pending(self) -> int:
        """The number of changes that are not committed yet."""
        return len(self._changes)

    @property
    def io(self) -> FileIO:
        """The table's storage."""
        return self._table.io

    @property
    def deferring_io(self) -> FileIO:
        """The table's storage for files of this transaction, which are synced together before the swap instead of one by one."""
        return self._table.io.deferring(self._unsynced)

    @property
    def environment(self) -> Environment:
        """Clock, sleep and randomness of the table's catalog."""
        found: Environment = getattr(self._table.catalog, "environment", SYSTEM)
        return found

    # ---- changes

    def apply(self, change: Change) -> None:
        """Add a change; with `autocommit`, commit it."""
        before = self._newest, self._working, self._updates, self._requirements
        self._changes.append(change)
        try:
            self._stage_first(change)
        except BaseException:
            self._changes.remove(change)
            self._newest, self._working, self._updates, self._requirements = before
            change.abandoned()
            raise
        self._has_failed = False
        if self._autocommit:
            self.commit_transaction()

    def adopt(self, files: WrittenFiles) -> None:
        """Register the files of an operation, which are deleted if the transaction definitely fails."""
        if not any(one is files for one in self._written):
            self._written.append(files)

    def sync_files(self) -> None:
        """Wait until the files of the changes are on disk.

        Nothing refers to the files before the swap: a power cut until then loses nothing of the table, so that the files need no sync of
        their own when they are written.

        Raises:
            StorageError: A sync failed, now or in an earlier call. The transaction cannot be committed any more.
        """
        self._unsynced.sync()

    def apply_updates(self, updates: tuple[TableUpdate, ...], requirements: tuple[TableRequirement, ...] = ()) -> Self:
        """Add metadata updates, with the requirements that follow from them and the given ones."""
        updates = tuple(checked_items("updates", updates, TableUpdate, "updates of table metadata"))
        requirements = tuple(checked_items("requirements", requirements, TableRequirement, "requirements of a commit"))
        self.apply(FixedChange(updates, first_of_each(requirements_of(self._working, updates), requirements)))
        return self

    # ---- committing

    def commit_transaction(self) -> Any:
        """Commit the changes and return the table's handle, moved to the new version.

        Raises:
            CommitFailedException: Concurrent commits won more often than `commit.retry.num-retries` allows. Nothing has changed.
            CommitStateUnknownException: The outcome is unknown; nothing was cleaned up.
            ValidationException: A concurrent commit conflicts with a change. Nothing has changed.
            ValidationError: The last commit of this transaction failed, and no change was added since.
        """
        if self._has_failed:
            raise ValidationError(
                f"table {'.'.join(self._table.name())}: the commit of this transaction failed, which dropped its changes; expected new "
                "changes, got none: add the changes again, or begin a new transaction"
            )
        if not self._updates:
            self._reset()
            return self._table
        try:
            response = self._commit()
        except BaseException as error:
            # An interrupt says nothing about a request that was sent.
            is_definite = isinstance(error, IcebergError) and not isinstance(error, INDEFINITE_ERRORS)
            if is_definite or not self._is_sent:
                self._abandon()
            else:
                self._reset()
            self._has_failed = True
            raise
        changes = self._reset()
        self._table.show(response.metadata, response.metadata_location)
        self._start(response.metadata)
        # Deletion is best effort: the commit has already succeeded.
        with suppress(IcebergError):
            for change in changes:
                change.committed(response.metadata)
        return self._table

    def _commit(self) -> CommitTableResponse:
        # With the properties after the changes, so that a commit can remove an invalid one.
        policy = RetryPolicy.of_commits(self._working.properties)
        failure: CommitFailedException | None = None
        for attempt in policy.attempts(self.environment):
            if failure is not None:
                response = self._effect_in_newest(failure)
                if response is not None:
                    return response
                self._stage_again(self._newest, attempt)
            try:
                return self._swap(self._requirements)
            except CommitFailedException as error:
                failure = error
        assert failure is not None, "an attempt that does not fail returns"
        # A table that was dropped has not taken the changes.
        with suppress(NoSuchTableError, ValidationError):
            response = self._effect_in_newest(failure)
            if response is not None:
                return response
        raise CommitFailedException(
            f"table {'.'.join(self._table.name())}: not committed after {policy.retries + 1} attempts; raise "
            f"commit.retry.num-retries if many writers share the table. Last failure: {failure}"
        ) from failure

    def _swap(self, requirements: tuple[TableRequirement, ...]) -> CommitTableResponse:
        """Sync the files of the changes, then have the catalog commit the updates that refer to them."""
        self.sync_files()
        self._is_sent = True
        return self._table.catalog.commit_table(self._table, requirements, self._updates)

    def _effect_in_newest(self, conflict: CommitFailedException) -> CommitTableResponse | None:
        """Return the newest version if it has a snapshot of this transaction although the catalog reported a conflict, else None.

        A request that is sent twice conflicts with its own effect. Snapshot ids are the same in all attempts.

        Raises:
            CommitStateUnknownException: The newest version cannot be loaded.
        """
        try:
            self._table.refresh()
        except (NoSuchTableError, ValidationError):
            # The table was dropped, and created again in the latter case.
            raise
        except IcebergError as error:
            raise CommitStateUnknownException(
                f"table {'.'.join(self._table.name())}: the catalog reported a conflict, and loading the newest version failed, so it is "
                f"unknown whether the change took effect; nothing was cleaned up. Refresh and check for the change before you repeat it: {error}"
            ) from conflict
        # Another thread may move the handle while the changes are staged.
        self._newest, location = self._table.version
        took_effect = any(self._newest.snapshot_by_id(snapshot_id) is not None for snapshot_id in self._staged_ids())
        return CommitTableResponse(self._newest, location) if took_effect else None

    def _staged_ids(self) -> list[int]:
        """Return the ids of the snapshots that the changes add."""
        return [update.snapshot.snapshot_id for update in self._updates if isinstance(update, AddSnapshotUpdate)]

    def _is_met_here(self, requirement: TableRequirement) -> bool:
        """Return whether a requirement is met by this transaction: it is about a snapshot or the UUID that an earlier change adds."""
        if isinstance(requirement, AssertTableUUID):
            return self._newest.table_uuid is None
        return isinstance(requirement, AssertSnapshotExists) and requirement.snapshot_id in self._staged_ids()

    def _stage_again(self, newest: TableMetadata, attempt: int) -> None:
        """Apply the changes to the newest version; raise if a change or requirement does not hold there."""
        self._rebase(newest)
        for change in self._changes:
            self._stage(change, attempt)
        for requirement in self._requirements:
            requirement.validate(newest)

    def _stage_first(self, change: Change) -> None:
        """Stage a new change, on the newest version if a concurrent expiry has deleted files of the loaded one."""
        try:
            self._stage(change, 1)
        except MissingFileError:
            with suppress(IcebergError):
                self._table.refresh()
            newest, _ = self._table.version
            if newest == self._newest:
                raise
            self._stage_again(newest, 1)

    def _stage(self, change: Change, attempt: int) -> None:
        change.validate(Versions(self._loaded, self._newest, self._working))
        updates, requirements = change.stage(self._working, attempt)
        self._working = update_table_metadata(self._working, updates, now_ms=self.environment.now_ms())
        self._updates += updates
        of_others = tuple(self._of_newest(one) for one in requirements if not self._is_met_here(one))
        self._requirements = first_of_each(self._requirements, of_others)

    def _of_newest(self, requirement: TableRequirement) -> TableRequirement:
        """Replace a requirement on a partition spec that this transaction adds: the spec gets its id if the table's specs stay the same."""
        if isinstance(requirement, AssertPartitionSpecExists):
            specs = self._newest.partition_specs
            if requirement.spec not in specs:
                return AssertPartitionSpecs(specs=specs)
        return requirement

    def _reset(self) -> list[Change]:
        """Drop and return the changes. Their files are kept: the table refers to them, or may refer to them."""
        for files in self._written:
            files.keep()
        changes, self._changes, self._written = self._changes, [], []
        self._is_sent = False
        self._start(self._table.metadata)
        return changes

    def _abandon(self) -> None:
        """Drop the changes and delete the files that they wrote, which never became part of the table."""
        written, self._written = self._written, []
        for files in written:
            files.abandon()
        for change in self._reset():
            change.abandoned()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            # A commit that failed within the block has dropped its rows: the creation or replacement of a table must not follow without them.
            if not self._has_failed:
                self.commit_transaction()
        elif self._is_sent:
            # An interrupt between the commit and the end of its bookkeeping: the table may refer to the files.
            self._reset()
        else:
            self._abandon()
