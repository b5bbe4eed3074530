"""The handle of a table: what it is, and the way to everything that can be done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, Protocol

from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.table.readable import ReadableTable
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.update.manage_snapshots import ManageSnapshots
from icefloe.table.write_transaction import WriteTransaction
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.table.commit.committing_table import CommitTableResponse
    from icefloe.table.commit.data_file_changes import DeleteFiles, FastAppend, MergeAppend, OverwriteFiles
    from icefloe.table.commit.row_delta import RowDelta
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.row_level.merge import Merge
    from icefloe.table.row_level.results import UpsertResult
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.table.update.schema import UpdateSchema
    from icefloe.table.update.sorting import UpdateSortOrder
    from icefloe.table.update.spec import UpdateSpec
    from icefloe.typedef import Identifier, Properties

ALWAYS_TRUE = AlwaysTrue()


class TableCatalog(Protocol):
    """What a table needs of the catalog it came from."""

    name: str

    def load_table(self, identifier: str | Identifier) -> Table:
        """Return the table as it is now."""

    def check_location(self, table: Table) -> None:
        """Refuse to change a table that is not where its metadata says."""

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Check, apply and swap."""


class Table(ReadableTable):
    """An Iceberg table, as it was when it was loaded, last refreshed, or last changed through this handle.

    Args:
        identifier: Namespace levels and name.
        metadata: The table's metadata.
        metadata_location: The file it came from.
        io: Storage.
        catalog: Where changes are committed.
        config: Settings of this handle; none so far.
    """

    def __init__(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: Identifier,
        metadata: TableMetadata,
        metadata_location: str,
        io: FileIO,
        catalog: TableCatalog,
        config: dict[str, str] = EMPTY_DICT,
    ) -> None:
        super().__init__(identifier, metadata, metadata_location, io)
        self._catalog = catalog
        self.config = dict(config)

    def refresh(self) -> Table:
        """Load the newest version into this handle, and return it.

        Raises:
            NoSuchTableError: The table is gone.
            ValidationError: Another table has taken its name.
        """
        fresh = self.catalog.load_table(self._identifier)
        if str(fresh.metadata.table_uuid).lower() != str(self.metadata.table_uuid).lower():
            raise ValidationError(f"table {'.'.join(self._identifier)} was dropped and created anew; load it again")
        self.io = fresh.io
        self.show(*fresh.version)
        return self

    def show(self, metadata: TableMetadata, metadata_location: str) -> None:
        """Move the handle to a version of the table, in one step."""
        self._version = (metadata, metadata_location)

    @property
    def catalog(self) -> TableCatalog:
        """Where the table came from and changes are committed."""
        return self._catalog

    # ---- changing rows

    def transaction(self) -> WriteTransaction:
        """Return a transaction, whose changes become visible together."""
        self._catalog.check_location(self)
        return WriteTransaction(self)

    def append(
        self, df: object, snapshot_properties: Properties = EMPTY_DICT, branch: str | None = MAIN_BRANCH
    ) -> None:
        """Append rows.

        Args:
            df: Rows from anything that exports Arrow: pyarrow, pandas, Polars, DuckDB, a stream. Columns are matched by name.
            snapshot_properties: Further keys of the snapshot's summary.
            branch: The branch to append to. None stages the snapshot: no branch moves until one is set to it.

        Raises:
            SchemaMismatchError: The rows do not fit the table; no file was written.
            CommitFailedException: Others were first, more often than the table's `commit.retry.num-retries` allows.

        Example:
            >>> table.append(pa.table({"id": [4]}))
            >>> table.scan().count()
            4
        """
        self._autocommit().append(df, snapshot_properties, branch)

    def overwrite(
        self,
        df: object,
        overwrite_filter: BooleanExpression | str = ALWAYS_TRUE,
        snapshot_properties: Properties = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Replace the rows of a filter, all of them by default, in one snapshot.

        Args:
            df: The rows that come in; see `append`.
            overwrite_filter: The rows that go.
            snapshot_properties: Further keys of the snapshot's summary.
            case_sensitive: Whether names in the filter must match exactly.
            branch: The branch to change; None stages the snapshot, see `append`.

        Raises:
            SchemaMismatchError: The rows do not fit the table.
            ValidationException: A concurrent commit conflicts, under the table's isolation level.

        Example:
            >>> table.overwrite(pa.table({"id": [30]}), "id = 3")
            >>> sorted(table.scan().to_arrow().column("id").to_pylist())
            [1, 2, 30]
        """
        self._autocommit().overwrite(df, overwrite_filter, snapshot_properties, case_sensitive, branch)

    def dynamic_partition_overwrite(
        self, df: object, snapshot_properties: Properties = EMPTY_DICT, branch: str | None = MAIN_BRANCH
    ) -> None:
        """Replace the partitions that the rows are in. An unpartitioned table is one partition.

        Args:
            df: The rows that come in; see `append`. Without any nothing happens.
            snapshot_properties: Further keys of the snapshot's summary.
            branch: The branch to change; None stages the snapshot, see `append`.

        Rows fall into partitions by the table's current spec, whatever spec their files were written under. A file of another spec
        that holds other rows, too, is rewritten without the replaced ones.

        Raises:
            SchemaMismatchError: The rows do not fit the table; no file was written.
            ValidationException: A concurrent commit added rows to one of the partitions (unless `write.delete.isolation-level` is
                `snapshot`), or changed the files that are replaced.
            CommitFailedException: Others changed the partition spec, or were first too often.
        """
        self._autocommit().dynamic_partition_overwrite(df, snapshot_properties, branch)

    def delete(
        self,
        delete_filter: BooleanExpression | str = ALWAYS_TRUE,
        snapshot_properties: Properties = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Delete the rows of a filter, all of them by default.

        Files whose rows all match are dropped from metadata alone. Of the others, rows are marked in delete files or files
        are rewritten, as `write.delete.mode` says (`merge-on-read`, or `copy-on-write`, the default).

        Args:
            delete_filter: The rows that go; a comparison with a null is no match.
            snapshot_properties: Further keys of the snapshot's summary.
            case_sensitive: Whether names in the filter must match exactly.
            branch: The branch to change; None stages the snapshot, see `append`.

        Raises:
            ValidationException: A concurrent commit conflicts, under the table's isolation level.

        Example:
            >>> table.delete("id < 3")
            >>> table.scan().to_arrow().column("id").to_pylist()
            [3]
        """
        self._autocommit().delete(delete_filter, snapshot_properties, case_sensitive, branch)

    def merge(
        self,
        source: object,
        on: Sequence[str],
        snapshot_properties: Properties = EMPTY_DICT,
        branch: str | None = MAIN_BRANCH,
    ) -> Merge:
        """Begin a merge of rows into the table; it ends with `execute()`.

        Args:
            source: Rows; see `append`. They may have columns that the table has not.
            on: Key columns, which both have.
            snapshot_properties: Further keys of the snapshot's summary.
            branch: The branch to change; None stages the snapshot, see `append`.

        Example:
            >>> changes = pa.table({"id": [3, 4]})
            >>> table.merge(changes, on=["id"]).when_matched_delete().when_not_matched_insert().execute()
            MergeResult(rows_updated=0, rows_deleted=1, rows_inserted=1)
        """
        return self._autocommit().merge(source, on, snapshot_properties, branch)

    def upsert(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        df: object,
        join_cols: list[str] | None = None,
        when_matched_update_all: bool = True,
        when_not_matched_insert_all: bool = True,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
        snapshot_properties: Properties = EMPTY_DICT,
    ) -> UpsertResult:
        """Update the rows whose keys exist and insert the others, in one snapshot. Rows that are equal already stay.

        Args:
            df: Rows with all columns of the table; see `append`.
            join_cols: Key columns; the schema's identifier fields when None.
            when_matched_update_all: Whether rows that exist are updated.
            when_not_matched_insert_all: Whether rows that do not exist are inserted.
            case_sensitive: Whether the names of keys and of the columns of `df` must match the table's in case.
            branch: The branch to change; None stages the snapshot, see `append`.
            snapshot_properties: Further keys of the snapshot's summary.

        Raises:
            ValidationError: There are no keys, or a key is in `df` twice.

        Example:
            >>> table.upsert(pa.table({"id": [3, 4]}), join_cols=["id"])
            UpsertResult(rows_updated=0, rows_inserted=1)
        """
        return self._autocommit().upsert(
            df,
            join_cols,
            when_matched_update_all,
            when_not_matched_insert_all,
            case_sensitive,
            branch,
            snapshot_properties,
        )

    # ---- changing files

    def new_append(self) -> MergeAppend:
        """Return an append of data files that were written elsewhere."""
        return self._autocommit().new_append()

    def new_fast_append(self) -> FastAppend:
        """Return an append of data files that leaves all other manifests alone."""
        return self._autocommit().new_fast_append()

    def new_overwrite(self) -> OverwriteFiles:
        """Return a replacement of data files by others that were written elsewhere."""
        return self._autocommit().new_overwrite()

    def new_delete(self) -> DeleteFiles:
        """Return a removal of data files."""
        return self._autocommit().new_delete()

    def new_row_delta(self) -> RowDelta:
        """Return a change of rows by data and delete files that were written elsewhere."""
        return self._autocommit().new_row_delta()

    def add_files(
        self,
        file_paths: list[str],
        snapshot_properties: Properties = EMPTY_DICT,
        check_duplicate_files: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> NoReturn:
        """Not available yet: append the rows of the files instead."""
        raise NotImplementedError(
            f"add_files({len(file_paths)} files, branch={branch!r}): not available yet; append the rows of the files"
        )

    # ---- changing metadata

    def manage_snapshots(self) -> ManageSnapshots:
        """Return changes of branches, tags and the current snapshot.

        Example:
            >>> table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "v1").commit()
            >>> table.scan().use_ref("v1").count()
            3
        """
        return ManageSnapshots(self._autocommit())

    def update_properties(self) -> WriteTransaction:
        """Return a transaction to set and remove properties in.

        Example:
            >>> with table.update_properties() as update:
            ...     _ = update.set_properties({"write.delete.mode": "merge-on-read"})
        """
        return self.transaction()

    def update_schema(self, allow_incompatible_changes: bool = False, case_sensitive: bool = True) -> UpdateSchema:
        """Return changes of the schema, committed by `commit()` or at the end of a `with` block.

        Example:
            >>> from icefloe.types import StringType
            >>> with table.update_schema() as update:
            ...     _ = update.add_column("note", StringType())
            >>> [field.name for field in table.schema().fields]
            ['id', 'note']
        """
        return self._autocommit().update_schema(allow_incompatible_changes, case_sensitive)

    def update_spec(self, case_sensitive: bool = True) -> UpdateSpec:
        """Return changes of the partition spec, committed by `commit()` or at the end of a `with` block."""
        return self._autocommit().update_spec(case_sensitive)

    def update_sort_order(self, case_sensitive: bool = True) -> UpdateSortOrder:
        """Return a new sort order, committed by `commit()` or at the end of a `with` block."""
        return self._autocommit().update_sort_order(case_sensitive)

    def update_statistics(self) -> NoReturn:
        """Not available yet."""
        raise NotImplementedError("update_statistics: not available yet")

    @property
    def maintenance(self) -> NoReturn:
        """Not available yet."""
        raise NotImplementedError("maintenance (expiry, compaction, orphan removal): not available yet")

    def _autocommit(self) -> WriteTransaction:
        self._catalog.check_location(self)
        return WriteTransaction(self, autocommit=True)
