"""Transactions that create a table: one commit creates the table together with its first changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from icefloe.exceptions import ValidationError
from icefloe.table.table import Table
from icefloe.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AddSortOrderUpdate,
    AssertCreate,
    AssignUUIDUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
    SetDefaultSpecUpdate,
    SetLocationUpdate,
    SetPropertiesUpdate,
    UpgradeFormatVersionUpdate,
)
from icefloe.table.write_transaction import WriteTransaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.commit.committing_table import CommitTableResponse
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableUpdate


class StagedTable(Table):
    """The handle of a table that is not created yet: it has metadata and no rows that can be read."""

    def refresh(self) -> Table:
        """Raise ValidationError: the catalog has no version of the table."""
        raise self._not_created("refresh")

    def scan(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise ValidationError: the table has no rows."""
        raise self._not_created("scan")

    def incremental_append_scan(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise ValidationError: the table has no rows."""
        raise self._not_created("scan")

    def _not_created(self, verb: str) -> ValidationError:
        name = ".".join(self.name())
        return ValidationError(f"cannot {verb} staged table {name}: commit the transaction that creates it first")


class CreateTableTransaction(WriteTransaction):
    """Changes of a table that does not exist yet; the commit creates the table with them.

    If the commit fails, no table exists and the files that the changes wrote are deleted.

    Args:
        table: The staged table.
        clean_up: Called after a transaction that creates no table has deleted its files.

    Examples:
        >>> with catalog.create_table_transaction("examples.sales", pa.schema([("id", pa.int64())])) as transaction:
        ...     transaction.append(pa.table({"id": [1, 2]}))
        >>> catalog.load_table("examples.sales").scan().count()
        2
    """

    _created = False

    def __init__(self, table: StagedTable, clean_up: Callable[[], None] | None = None) -> None:
        self._clean_up = clean_up
        super().__init__(table, autocommit=False)

    def commit_transaction(self) -> Table:
        """Create the table with the changes so far, and return its handle.

        Raises:
            TableAlreadyExistsError: A table of this name exists. The files of the transaction are deleted.
            CommitStateUnknownException: The outcome is unknown; nothing was cleaned up.
        """
        staged = super().commit_transaction()
        metadata, location = staged.version
        return Table(staged.name(), metadata, location, staged.io, staged.catalog)

    def _rebase(self, newest: TableMetadata) -> None:
        super()._rebase(newest)
        if not self._created:
            self._updates = creation_updates(newest)

    def _abandon(self) -> None:
        super()._abandon()
        if not self._created and self._clean_up is not None:
            self._clean_up()

    def _commit(self) -> CommitTableResponse:
        if self._created:
            return super()._commit()
        response = self._swap((AssertCreate(),))
        self._created = True
        return response


def creation_updates(metadata: TableMetadata) -> tuple[TableUpdate, ...]:
    """Return the updates that build the metadata of a new table from nothing. Spec: REST catalog."""
    assert metadata.table_uuid is not None, "new metadata have one"
    return (
        AssignUUIDUpdate(uuid=metadata.table_uuid),
        UpgradeFormatVersionUpdate(format_version=metadata.format_version),
        AddSchemaUpdate(schema_=metadata.schema(), last_column_id=metadata.last_column_id),
        SetCurrentSchemaUpdate(),
        AddPartitionSpecUpdate(spec=metadata.spec()),
        SetDefaultSpecUpdate(),
        AddSortOrderUpdate(sort_order=metadata.sort_order()),
        SetDefaultSortOrderUpdate(),
        SetLocationUpdate(location=metadata.location),
        SetPropertiesUpdate(updates=dict(metadata.properties)),
    )
