"""The changes of a table that its handle commits one by one and a transaction commits together.

Each method loads the modules of its change: a session that only reads tables needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.row_changes import TableRowChanges
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from icefloe.table.commit.data_file_changes import DeleteFiles, FastAppend, MergeAppend, OverwriteFiles
    from icefloe.table.commit.manage_snapshots import ManageSnapshots
    from icefloe.table.commit.replace_partition_files import ReplacePartitionFiles
    from icefloe.table.commit.rewrite_files import RewriteFiles
    from icefloe.table.commit.rewrite_manifests import RewriteManifests
    from icefloe.table.commit.row_delta import RowDelta
    from icefloe.table.update.schema import UpdateSchema
    from icefloe.table.update.sorting import UpdateSortOrder
    from icefloe.table.update.spec import UpdateSpec
    from icefloe.table.update.statistics import UpdateStatistics
    from icefloe.typedef import Properties


class TableChanges(TableRowChanges):
    """Changes of a table's rows, files and metadata."""

    # ---- files

    def add_files(
        self,
        file_paths: list[str],
        snapshot_properties: Properties | None = EMPTY_DICT,
        check_duplicate_files: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Add existing Parquet, ORC and Avro files in one snapshot; the files stay where they are.

        Columns are matched by field id, or by name in files without field ids; a table without a name mapping then gets the mapping
        of its schema, in the same commit. Partition values come from the statistics of the source columns, or from `name=value`
        directories of a location, alone for files without rows.

        The magic bytes of a file decide its format. Only the footers of files are read, and columns whose values the statistics do not
        show to fit: required fields that are optional in the file, and types that hold more values than the table's. Avro files have no
        statistics: the headers of their blocks are read, and their partition values are in directories.

        Args:
            file_paths: Locations of the files.
            snapshot_properties: Additional keys of the snapshot's summary.
            check_duplicate_files: Whether to refuse files that the table has already.
            branch: The branch to change, None to stage the snapshot.

        Raises:
            SchemaMismatchError: The columns of a file, or their values, do not fit the table.
            ValidationError: The table has a file already, in any spelling of its location, or a file has rows of several partitions.
            MissingFileError: A file does not exist.

        Examples:
            >>> import pyarrow.parquet as pq
            >>> location = f"{table.location()}/imported.parquet"
            >>> pq.write_table(pa.table({"id": [4, 5]}), location)
            >>> table.add_files([location])
            >>> table.scan().count()
            5
        """
        from icefloe.table.write.add_files import add_existing_files

        with self.target(branch, snapshot_properties) as target:
            add_existing_files(target, file_paths, check_duplicates=check_duplicate_files)

    def new_append(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> MergeAppend:
        """Return an append of data files that exist already; small manifests are merged."""
        from icefloe.table.commit.data_file_changes import MergeAppend

        return MergeAppend(self._open_transaction(), branch, snapshot_properties)

    def new_fast_append(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> FastAppend:
        """Return an append of data files that exist already; no manifest is merged."""
        from icefloe.table.commit.data_file_changes import FastAppend

        return FastAppend(self._open_transaction(), branch, snapshot_properties)

    def new_overwrite(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> OverwriteFiles:
        """Return a replacement of data files by other data files that exist already."""
        from icefloe.table.commit.data_file_changes import OverwriteFiles

        return OverwriteFiles(self._open_transaction(), branch, snapshot_properties)

    def new_delete(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> DeleteFiles:
        """Return a removal of data files."""
        from icefloe.table.commit.data_file_changes import DeleteFiles

        return DeleteFiles(self._open_transaction(), branch, snapshot_properties)

    def new_row_delta(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> RowDelta:
        """Return a row-level change by data and delete files that exist already."""
        from icefloe.table.commit.row_delta import RowDelta

        return RowDelta(self._open_transaction(), branch, snapshot_properties)

    def new_replace_partitions(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> ReplacePartitionFiles:
        """Return a replacement of all files of the partitions that new data files lie in."""
        from icefloe.table.commit.replace_partition_files import ReplacePartitionFiles

        return ReplacePartitionFiles(self._open_transaction(), branch, snapshot_properties)

    def new_rewrite(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> RewriteFiles:
        """Return a replacement of files by files with the same rows."""
        from icefloe.table.commit.rewrite_files import RewriteFiles

        return RewriteFiles(self._open_transaction(), branch, snapshot_properties)

    def rewrite_manifests(
        self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = None
    ) -> RewriteManifests:
        """Return a rewriting of data manifests, which clusters their entries by partition."""
        from icefloe.table.commit.rewrite_manifests import RewriteManifests

        return RewriteManifests(self._open_transaction(), branch, snapshot_properties)

    # ---- metadata

    def manage_snapshots(self) -> ManageSnapshots:
        """Return changes of branches, tags and the current snapshot, committed by `commit()`.

        Examples:
            >>> table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "v1").commit()
            >>> table.scan().use_ref("v1").count()
            3
        """
        from icefloe.table.commit.manage_snapshots import ManageSnapshots

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
        from icefloe.table.update.schema import UpdateSchema

        return UpdateSchema(self._open_transaction(), allow_incompatible_changes, case_sensitive)

    def update_spec(self, case_sensitive: bool = True) -> UpdateSpec:
        """Return changes of the partition spec, committed by `commit()` or at the end of a `with` block."""
        from icefloe.table.update.spec import UpdateSpec

        return UpdateSpec(self._open_transaction(), case_sensitive)

    def update_sort_order(self, case_sensitive: bool = True) -> UpdateSortOrder:
        """Return a new sort order, committed by `commit()` or at the end of a `with` block."""
        from icefloe.table.update.sorting import UpdateSortOrder

        return UpdateSortOrder(self._open_transaction(), case_sensitive)

    def update_statistics(self) -> UpdateStatistics:
        """Return changes of the statistics files of snapshots, committed by `commit()` or at the end of a `with` block."""
        from icefloe.table.update.statistics import UpdateStatistics

        return UpdateStatistics(self._open_transaction())
