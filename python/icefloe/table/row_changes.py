"""The changes of a table's rows, which its handle commits one by one and a transaction commits together.

Each method loads the modules of its change: a session that only reads tables needs none of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from icefloe.expressions import AlwaysTrue
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.row_level.memory_limit import MEMORY_LIMIT
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from icefloe.expressions import BooleanExpression
    from icefloe.table.commit.transaction import Transaction
    from icefloe.table.row_level.apply_changes import ApplyChangesResult
    from icefloe.table.row_level.join_condition import On
    from icefloe.table.row_level.merge import Merge, MergeResult
    from icefloe.table.row_level.row_condition import Where
    from icefloe.table.row_level.target import Target
    from icefloe.table.row_level.upsert import UpsertResult
    from icefloe.typedef import Properties

ALWAYS_TRUE = AlwaysTrue()


class TableRowChanges(ABC):
    """Changes of a table's rows.

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

    def _fold_changes(self, branch: str) -> None:  # noqa: B027 - a transaction folds nothing
        """Fold the small files of a branch, if a batch of changes made that due."""

    def target(self, branch: str | None = MAIN_BRANCH, snapshot_properties: Properties | None = EMPTY_DICT) -> Target:
        """Return the table and branch of the next operation, at the version that the operation reads.

        Raises:
            ValidationError: `branch` is a tag.
        """
        from icefloe.table.row_level.target import Target

        return Target(self._open_transaction(), branch, snapshot_properties)

    # ---- rows

    def append(
        self, df: object, snapshot_properties: Properties | None = EMPTY_DICT, branch: str | None = MAIN_BRANCH
    ) -> None:
        """Append rows in one snapshot. Columns of the table that `df` lacks are null.

        Args:
            df: Rows: an Arrow table, batch or stream, a pandas or Polars frame, or anything else that exports Arrow. Columns are matched
                by name.
            snapshot_properties: Additional keys of the snapshot's summary.
            branch: Branch to change. None stages the snapshot: no branch moves until one is set to it.

        Raises:
            SchemaMismatchError: The rows do not fit the table; no file was written.
            CommitFailedException: Concurrent commits came first, more often than `commit.retry.num-retries` allows.

        Examples:
            >>> table.append(pa.table({"id": [4]}))
            >>> table.scan().count()
            4
        """
        from icefloe.table.commit.data_file_changes import MergeAppend

        with self.target(branch, snapshot_properties) as target:
            files = target.writer.data_files(df)
            MergeAppend(target.transaction, branch, snapshot_properties).append(files).commit()

    def overwrite(
        self,
        df: object,
        overwrite_filter: BooleanExpression | str = ALWAYS_TRUE,
        snapshot_properties: Properties | None = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Replace the rows that match a filter, all rows by default, in one snapshot.

        Args:
            df: Rows: an Arrow table, batch or stream, a pandas or Polars frame, or anything else that exports Arrow. Columns are matched
                by name.
            overwrite_filter: The rows to replace, as text such as `"id > 5 and country = 'fr'"` or as an expression. A comparison with
                null is unknown and selects no row, and neither does its negation.
            snapshot_properties: Additional keys of the snapshot's summary.
            case_sensitive: Whether column names must match in case; names in a pyarrow expression always must.
            branch: Branch to change. None stages the snapshot: no branch moves until one is set to it.

        Raises:
            SchemaMismatchError: The rows do not fit the table.
            ValidationException: A concurrent commit conflicts, under the table's isolation level.

        Examples:
            >>> table.overwrite(pa.table({"id": [30]}), "id = 3")
            >>> sorted(table.scan().to_arrow().column("id").to_pylist())
            [1, 2, 30]
        """
        from icefloe.table.write.overwrite import overwrite_rows

        with self.target(branch, snapshot_properties) as target:
            overwrite_rows(target, df, overwrite_filter, case_sensitive=case_sensitive)

    def dynamic_partition_overwrite(
        self, df: object, snapshot_properties: Properties | None = EMPTY_DICT, branch: str | None = MAIN_BRANCH
    ) -> None:
        """Replace the partitions of the table that `df` has rows of. An unpartitioned table is one partition.

        Partitions follow the current spec, also for rows in files of earlier specs. A file of an earlier spec that holds other
        rows as well is rewritten without the replaced rows. A `df` without rows changes nothing.

        Args:
            df: Rows: an Arrow table, batch or stream, a pandas or Polars frame, or anything else that exports Arrow. Columns are matched
                by name.
            snapshot_properties: Additional keys of the snapshot's summary.
            branch: Branch to change. None stages the snapshot: no branch moves until one is set to it.

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
        from icefloe.table.write.overwrite import overwrite_partitions

        with self.target(branch, snapshot_properties) as target:
            overwrite_partitions(target, df)

    def delete(
        self,
        delete_filter: Where = ALWAYS_TRUE,
        snapshot_properties: Properties | None = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> None:
        """Delete the rows that match a filter, all rows by default.

        Files whose rows all match are removed by metadata alone. Other files with matching rows are rewritten, or get delete files, as
        `write.delete.mode` says (`copy-on-write`, the default, or `merge-on-read`). A text that is not a filter is SQL over the table's
        columns, such as `"n + 1 > m"`.

        Args:
            delete_filter: The rows to delete, as text such as `"id > 5 and country = 'fr'"` or as an expression. A comparison with null
                is unknown and selects no row, and neither does its negation. A pyarrow expression is over `target.<column>` and reads
                every file.
            snapshot_properties: Additional keys of the snapshot's summary.
            case_sensitive: Whether column names must match in case; names in a pyarrow expression always must.
            branch: Branch to change. None stages the snapshot: no branch moves until one is set to it.

        Raises:
            ValidationException: A concurrent commit conflicts, under the table's isolation level.

        Examples:
            >>> table.delete("id < 3")
            >>> table.scan().to_arrow().column("id").to_pylist()
            [3]
        """
        from icefloe.table.row_level.update import delete_where

        with self.target(branch, snapshot_properties) as target:
            delete_where(target, delete_filter, case_sensitive=case_sensitive)

    def update(
        self,
        update_filter: Where,
        values: Mapping[str, Any],
        snapshot_properties: Properties | None = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
    ) -> MergeResult:
        """Set columns of the rows that match a filter, in one snapshot.

        `write.update.mode` decides between rewritten files (`copy-on-write`, the default) and delete files beside new rows
        (`merge-on-read`).

        Args:
            update_filter: The rows: a filter as in `delete`, SQL text over the table's columns such as `"n + 1 > m"`, or pyarrow
                expression over `target.<column>`.
            values: Column name to value: SQL text over the table's columns (`"n + 1"`, `"'de'"`), pyarrow expression over
                `target.<column>`, or literal. Values read the row as it was before the update. A dotted name such as `place.city` sets
                a field within a struct; the other fields keep their values, and a struct that is null becomes one whose other fields
                are null.
            snapshot_properties: Additional keys of the snapshot's summary.
            case_sensitive: Whether column names in a filter must match in case; names in a pyarrow expression always must.
            branch: The branch to change, None to stage the snapshot.

        Returns:
            The number of updated rows; no rows are deleted or inserted.

        Raises:
            ResolveError: A name is no column.
            SchemaMismatchError: A value does not fit its column, is for an unknown column or field, or would make a required field null.
            ValidationError: `values` is empty, a column is set twice, a text is not understood, or a value fails for a row, such as a
                division by zero.
            ValidationException: A concurrent commit conflicts, under the table's isolation level.

        Examples:
            >>> table.update("id > 2", {"id": "id * 10"})
            MergeResult(rows_updated=1, rows_deleted=0, rows_inserted=0)
            >>> sorted(table.scan().to_arrow().column("id").to_pylist())
            [1, 2, 30]

            >>> place = pa.struct([("city", pa.string()), ("zip", pa.int64())])
            >>> people = table.catalog.create_table("examples.people", pa.schema([("id", pa.int64()), ("place", place)]))
            >>> people.append(pa.Table.from_pylist([{"id": 1, "place": {"city": "Oslo", "zip": 150}}, {"id": 2}]))
            >>> people.update("id > 0", {"place.city": "upper(coalesce(place.city, 'rome'))"}).rows_updated
            2
            >>> people.scan().to_arrow().sort_by("id").column("place").to_pylist()
            [{'city': 'OSLO', 'zip': 150}, {'city': 'ROME', 'zip': None}]
        """
        from icefloe.table.row_level.update import update_rows

        with self.target(branch, snapshot_properties) as target:
            return update_rows(target, update_filter, values, case_sensitive=case_sensitive)

    def merge(
        self,
        source: object,
        on: On,
        snapshot_properties: Properties | None = EMPTY_DICT,
        branch: str | None = MAIN_BRANCH,
        memory_limit: int = MEMORY_LIMIT,
    ) -> Merge:
        """Begin a merge of rows into the table. Clauses are added to it, and `execute()` commits it.

        Args:
            source: Rows, like `df` of `append`; additional columns are allowed. They are read once.
            on: The condition under which rows match. Names of columns that both sides have, a mapping of the table's name to the
                source's, or SQL text such as `"target.id = source.key and source.at > target.at"`. A list may have icefloe and pyarrow
                expressions over `source.<column>` and `target.<column>` beside names, and an expression may stand alone. Rows match
                where the condition is true: null equals nothing, but null under `<=>`. Rows are joined by their equal values; without
                an equality, each row of the table is compared with each row of the source.
            snapshot_properties: Additional keys of the snapshot's summary.
            branch: The branch to change, None to stage the snapshot.
            memory_limit: Most bytes of a stream of source rows, and of the hashes of keys, to hold in memory; the rest goes to
                temporary files.

        Raises:
            ValidationError: `on` is empty, or the text is not an SQL expression.

        Examples:
            >>> changes = pa.table({"id": [3, 4]})
            >>> table.merge(changes, on=["id"]).when_matched_delete().when_not_matched_insert().execute()
            MergeResult(rows_updated=0, rows_deleted=1, rows_inserted=1)

            >>> limits = pa.table({"least": [2], "most": [9]})
            >>> merge = table.merge(limits, on="target.id between source.least and source.most")
            >>> merge.when_not_matched_by_source_delete().execute()
            MergeResult(rows_updated=0, rows_deleted=1, rows_inserted=0)
        """
        from icefloe.table.row_level.merge import Merge

        return Merge(self.target(branch, snapshot_properties), source, on, memory_limit=memory_limit)

    def upsert(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        df: object,
        join_cols: list[str] | None = None,
        when_matched_update_all: bool = True,
        when_not_matched_insert_all: bool = True,
        case_sensitive: bool = True,
        branch: str | None = MAIN_BRANCH,
        snapshot_properties: Properties | None = EMPTY_DICT,
        *,
        memory_limit: int = MEMORY_LIMIT,
    ) -> UpsertResult:
        """Update rows whose keys exist in the table and insert the other rows, in one snapshot. Equal rows are not rewritten.

        Args:
            df: Rows with all columns of the table and no others.
            join_cols: Key columns; the schema's identifier fields if None.
            when_matched_update_all: Whether to update rows whose keys exist.
            when_not_matched_insert_all: Whether to insert rows whose keys do not exist.
            case_sensitive: Whether names of keys and of columns of `df` must match the table's in case.
            branch: The branch to change, None to stage the snapshot.
            snapshot_properties: Additional keys of the snapshot's summary.
            memory_limit: As for `merge`.

        Raises:
            ResolveError: `df` lacks a column of the table.
            SchemaMismatchError: `df` has a column that the table lacks, or a value does not fit its column.
            ValidationError: There are no key columns, or `df` has a key twice.

        Examples:
            >>> table.upsert(pa.table({"id": [3, 4]}), join_cols=["id"])
            UpsertResult(rows_updated=0, rows_inserted=1)
        """
        from icefloe.table.row_level.upsert import upsert_rows

        return upsert_rows(
            self.target(branch, snapshot_properties),
            df,
            join_cols,
            update=when_matched_update_all,
            insert=when_not_matched_insert_all,
            case_sensitive=case_sensitive,
            memory_limit=memory_limit,
        )

    def apply_changes(  # noqa: PLR0913 - what a batch of changes has
        self,
        changes: object,
        keys: Sequence[str],
        op_column: str,
        sequence_column: str | None = None,
        *,
        batch_id: str | None = None,
        snapshot_properties: Properties | None = EMPTY_DICT,
        branch: str | None = MAIN_BRANCH,
    ) -> ApplyChangesResult:
        """Apply a batch of inserts, updates and deletes by key in one snapshot, without reading the table.

        The last change of each key counts. Rows of the keys are deleted by equality deletes, and inserts and updates write the whole row.

        The whole batch is held in memory, also if it comes as a stream: one million changes of eight columns, 72 MB in Arrow, need 280 MB.

        After `write.icefloe.fold-min-files` files, a second snapshot of operation `replace` folds the small files that batches have left,
        unless the batch is part of a transaction. A fold that fails or conflicts leaves the batch as it is.

        Args:
            changes: Rows of the table with an operation each; columns of the table that they lack are null.
            keys: Key columns, of primitive types but no floating-point types; no fields within structs. They include the source columns of
                partition fields, unless the table has an unpartitioned spec.
            op_column: The column of operations: `I`, `U`, `D`, or `insert`, `update`, `delete`, in any case.
            sequence_column: The column that orders the changes of a key; among equal values, and without it, the last row counts.
                Batches apply in the order in which they are committed, whatever their sequence numbers.
            batch_id: An id that is recorded in the snapshot's summary. A batch whose id a snapshot of the branch has is not applied
                again; ids of expired snapshots are forgotten.
            snapshot_properties: Additional keys of the snapshot's summary.
            branch: The branch to change, None to stage the snapshot.

        Raises:
            ResolveError: A column is missing.
            SchemaMismatchError: The rows do not fit the table.
            ValidationError: A key, an operation or a sequence number is null, a sequence number is NaN, an operation is unknown, or a row
                of a key may be in any partition.
            ValidationException: A concurrent commit added a partition spec that the deletes do not reach, or dropped a key column; the table is
                as before. Refresh the table and apply the batch again.

        Examples:
            >>> changes = pa.table({"id": [3, 4, 4], "op": ["D", "I", "U"], "at": [1, 2, 3]})
            >>> table.apply_changes(changes, ["id"], "op", "at", batch_id="7")
            ApplyChangesResult(applied=True, rows_upserted=1, rows_deleted=1)
            >>> table.apply_changes(changes, ["id"], "op", "at", batch_id="7")
            ApplyChangesResult(applied=False, rows_upserted=0, rows_deleted=0)
        """
        from icefloe.table.row_level.apply_changes import apply_change_rows

        target = self.target(branch, snapshot_properties)
        result = apply_change_rows(target, changes, keys, op_column, sequence_column, batch_id=batch_id)
        if result.applied and branch is not None:
            self._fold_changes(branch)
        return result
