"""The changes of a table that its handle commits one by one and a transaction commits together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from icefloe.expressions import AlwaysTrue
from icefloe.table.commit.data_file_changes import DeleteFiles, FastAppend, MergeAppend, OverwriteFiles
from icefloe.table.commit.manage_snapshots import ManageSnapshots
from icefloe.table.commit.replace_partition_files import ReplacePartitionFiles
from icefloe.table.commit.rewrite_files import RewriteFiles
from icefloe.table.commit.rewrite_manifests import RewriteManifests
from icefloe.table.commit.row_delta import RowDelta
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.row_level.merge import Merge
from icefloe.table.row_level.target import Target
from icefloe.table.row_level.upsert import upsert_rows
from icefloe.table.update.schema import UpdateSchema
from icefloe.table.update.sorting import UpdateSortOrder
from icefloe.table.update.spec import UpdateSpec
from icefloe.table.update.statistics import UpdateStatistics
from icefloe.table.write.add_files import add_existing_files
from icefloe.table.write.delete import delete_rows
from icefloe.table.write.overwrite import overwrite_partitions, overwrite_rows
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.expressions import BooleanExpression
    from icefloe.table.commit.transaction import Transaction
    from icefloe.table.row_level.upsert import UpsertResult
    from icefloe.typedef import Properties

ALWAYS_TRUE = AlwaysTrue()


class TableChanges(ABC):
    """Changes of a table's rows, files and metadata.

    Several methods share arguments:

    - `df`: rows of anything that exports Arrow: pyarrow, pandas, Polars, DuckDB, a stream. Columns are matched by name.
    - `overwrite_filter`, `delete_filter`: text such as `"id > 5 and country = 'fr'"`, or an expression. A comparison with null is
      unknown and selects no row, and neither does its negation.
    - `case_sensitive`: whether column names must match in case.
    - `snapshot_properties`: additional keys of the snapshot's summary.
    - `branch`: the branch to change. None stages the snapshot: no branch moves until one is set to it.
    """

    @abstractmethod
    def _open_transaction(self) -> Transaction:
        """Return the transaction that the next change is added to."""

    def target(self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties = EMPTY_DICT) -> Target:
        """Return the table and branch of the next operation, at the version that the operation reads.

        Raises:
            ValidationError: `branch` is a tag.
        """
        return Target(self._open_transaction(), branch, snapshot_properties)

    # ---- rows

    def append(
        self, df: object, snapshot_properties: Properties = EMPTY_DICT, branch: str | None = MAIN_BRANCH
    ) -> None:
        """Append rows in one snapshot. Columns of the table that `df` lacks are null.

        Raises:
            SchemaMismatchError: The rows do not fit the table; no file was written.
            CommitFailedException: Concurrent commits came first, more often than `commit.retry.num-retries` allows.

        Examples:
            >>> table.append(pa.table({"id": [4]}))
            >>> table.scan().count()
            4
        """
        with self.target(branch, snapshot_properties) as target:
            files = target.writer.data_files(df)
            MergeAppend(target.transaction, branch, snapshot_properties).append(files).commit()

    def overwrite(
        self,
        df: object,
        overwrite_filter: BooleanExpression | str = ALWAYS_TRUE,
        snapshot_properties: Properties = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Replace the rows that match a filter, all rows by default, in one snapshot.

        Raises:
            SchemaMismatchError: The rows do not fit the table.
            ValidationException: A concurrent commit conflicts, under the table's isolation level.

        Examples:
            >>> table.overwrite(pa.table({"id": [30]}), "id = 3")
            >>> sorted(table.scan().to_arrow().column("id").to_pylist())
            [1, 2, 30]
        """
        with self.target(branch, snapshot_properties) as target:
            overwrite_rows(target, df, overwrite_filter, case_sensitive=case_sensitive)

    def dynamic_partition_overwrite(
        self, df: object, snapshot_properties: Properties = EMPTY_DICT, branch: str | None = MAIN_BRANCH
    ) -> None:
        """Replace the partitions of the table that `df` has rows of. An unpartitioned table is one partition.

        Partitions follow the current spec, also for rows in files of earlier specs. A file of an earlier spec that holds other
        rows as well is rewritten without the replaced rows. A `df` without rows changes nothing.

        Raises:
            SchemaMismatchError: The rows do not fit the table; no file was written.
            ValidationException: A concurrent commit added rows to one of the partitions, unless `write.delete.isolation-level` is
                `snapshot`, or changed the replaced files.
            CommitFailedException: Concurrent commits changed the partition spec, or came first too often.

        Examples:
            >>> table.dynamic_partition_overwrite(pa.table({"id": [7]}))
            >>> table.scan().to_arrow().column("id").to_pylist()
            [7]
        """
        with self.target(branch, snapshot_properties) as target:
            overwrite_partitions(target, df)

    def delete(
        self,
        delete_filter: BooleanExpression | str = ALWAYS_TRUE,
        snapshot_properties: Properties = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Delete the rows that match a filter, all rows by default.

        Files whose rows all match are removed by metadata alone. Other files with matching rows are rewritten, or get delete files, as
        `write.delete.mode` says (`copy-on-write`, the default, or `merge-on-read`).

        Raises:
            ValidationException: A concurrent commit conflicts, under the table's isolation level.

        Examples:
            >>> table.delete("id < 3")
            >>> table.scan().to_arrow().column("id").to_pylist()
            [3]
        """
        with self.target(branch, snapshot_properties) as target:
            delete_rows(target, delete_filter, case_sensitive=case_sensitive)

    def merge(
        self,
        source: object,
        on: Sequence[str],
        snapshot_properties: Properties = EMPTY_DICT,
        branch: str | None = MAIN_BRANCH,
    ) -> Merge:
        """Begin a merge of rows into the table. Clauses are added to it, and `execute()` commits it.

        Args:
            source: Rows, like `df` of `append`; additional columns are allowed.
            on: Key columns of both the table and `source`.
            snapshot_properties: Additional keys of the snapshot's summary.
            branch: The branch to change, None to stage the snapshot.

        Examples:
            >>> changes = pa.table({"id": [3, 4]})
            >>> table.merge(changes, on=["id"]).when_matched_delete().when_not_matched_insert().execute()
            MergeResult(rows_updated=0, rows_deleted=1, rows_inserted=1)
        """
        return Merge(self.target(branch, snapshot_properties), source, on)

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
        """Update rows whose keys exist in the table and insert the other rows, in one snapshot. Equal rows are not rewritten.

        Args:
            df: Rows with all columns of the table.
            join_cols: Key columns; the schema's identifier fields if None.
            when_matched_update_all: Whether to update rows whose keys exist.
            when_not_matched_insert_all: Whether to insert rows whose keys do not exist.
            case_sensitive: Whether names of keys and of columns of `df` must match the table's in case.
            branch: The branch to change, None to stage the snapshot.
            snapshot_properties: Additional keys of the snapshot's summary.

        Raises:
            ValidationError: There are no key columns, or `df` has a key twice.

        Examples:
            >>> table.upsert(pa.table({"id": [3, 4]}), join_cols=["id"])
            UpsertResult(rows_updated=0, rows_inserted=1)
        """
        return upsert_rows(
            self.target(branch, snapshot_properties),
            df,
            join_cols,
            update=when_matched_update_all,
            insert=when_not_matched_insert_all,
            case_sensitive=case_sensitive,
        )

    # ---- files

    def add_files(
        self,
        file_paths: list[str],
        snapshot_properties: Properties = EMPTY_DICT,
        check_duplicate_files: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Add existing Parquet files in one snapshot; their rows are not read, and the files stay where they are.

        Columns are matched by field id, or by name in files without field ids; a table without a name mapping then gets the mapping
        of its schema, in the same commit. Partition values come from the statistics of the source columns, or from `name=value`
        directories of a location.

        Args:
            file_paths: Locations of the files.
            snapshot_properties: Additional keys of the snapshot's summary.
            check_duplicate_files: Whether to refuse files that the table has already.
            branch: The branch to change, None to stage the snapshot.

        Raises:
            SchemaMismatchError: The columns of a file do not fit the table.
            ValidationError: The table has a file already, or a file has rows of several partitions.
            MissingFileError: A file does not exist.

        Examples:
            >>> import pyarrow.parquet as pq
            >>> location = f"{table.location()}/imported.parquet"
            >>> pq.write_table(pa.table({"id": [4, 5]}), location)
            >>> table.add_files([location])
            >>> table.scan().count()
            5
        """
        target = self.target(branch, snapshot_properties)
        add_existing_files(target, file_paths, check_duplicates=check_duplicate_files)

    def new_append(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> MergeAppend:
        """Return an append of data files that exist already; small manifests are merged."""
        return MergeAppend(self._open_transaction(), branch, snapshot_properties)

    def new_fast_append(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> FastAppend:
        """Return an append of data files that exist already; no manifest is merged."""
        return FastAppend(self._open_transaction(), branch, snapshot_properties)

    def new_overwrite(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> OverwriteFiles:
        """Return a replacement of data files by other data files that exist already."""
        return OverwriteFiles(self._open_transaction(), branch, snapshot_properties)

    def new_delete(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> DeleteFiles:
        """Return a removal of data files."""
        return DeleteFiles(self._open_transaction(), branch, snapshot_properties)

    def new_row_delta(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> RowDelta:
        """Return a row-level change by data and delete files that exist already."""
        return RowDelta(self._open_transaction(), branch, snapshot_properties)

    def new_replace_partitions(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> ReplacePartitionFiles:
        """Return a replacement of all files of the partitions that new data files lie in."""
        return ReplacePartitionFiles(self._open_transaction(), branch, snapshot_properties)

    def new_rewrite(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> RewriteFiles:
        """Return a replacement of files by files with the same rows."""
        return RewriteFiles(self._open_transaction(), branch, snapshot_properties)

    def rewrite_manifests(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> RewriteManifests:
        """Return a rewriting of data manifests, which clusters their entries by partition."""
        return RewriteManifests(self._open_transaction(), branch, snapshot_properties)

    # ---- metadata

    def manage_snapshots(self) -> ManageSnapshots:
        """Return changes of branches, tags and the current snapshot, committed by `commit()`.

        Examples:
            >>> table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "v1").commit()
            >>> table.scan().use_ref("v1").count()
            3
        """
        return ManageSnapshots(self._open_transaction())

    def update_schema(self, allow_incompatible_changes: bool = False, case_sensitive: bool = True) -> UpdateSchema:
        """Return changes of the schema, committed by `commit()` or at the end of a `with` block.

        Examples:
            >>> from icefloe.types import StringType
            >>> with table.update_schema() as update:
            ...     _ = update.add_column("note", StringType())
            >>> [field.name for field in table.schema().fields]
            ['id', 'note']
        """
        return UpdateSchema(self._open_transaction(), allow_incompatible_changes, case_sensitive)

    def update_spec(self, case_sensitive: bool = True) -> UpdateSpec:
        """Return changes of the partition spec, committed by `commit()` or at the end of a `with` block."""
        return UpdateSpec(self._open_transaction(), case_sensitive)

    def update_sort_order(self, case_sensitive: bool = True) -> UpdateSortOrder:
        """Return a new sort order, committed by `commit()` or at the end of a `with` block."""
        return UpdateSortOrder(self._open_transaction(), case_sensitive)

    def update_statistics(self) -> UpdateStatistics:
        """Return changes of the statistics files of snapshots, committed by `commit()` or at the end of a `with` block."""
        return UpdateStatistics(self._open_transaction())
