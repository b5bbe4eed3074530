"""The transaction with operations on rows: appends, overwrites, deletes, merges and upserts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.expressions import AlwaysTrue
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.commit.transaction import Transaction
from icefloe.table.row_level.merge import Merge
from icefloe.table.row_level.target import Target
from icefloe.table.row_level.upsert import upsert_rows
from icefloe.table.write.append import append_rows
from icefloe.table.write.delete import delete_rows
from icefloe.table.write.overwrite import overwrite_partitions, overwrite_rows
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.expressions import BooleanExpression
    from icefloe.table.row_level.results import UpsertResult
    from icefloe.typedef import Properties

ALWAYS_TRUE = AlwaysTrue()


class WriteTransaction(Transaction):
    """Changes of rows and metadata that become visible together. Data files of a change that definitely fails are deleted."""

    def append(self, df: object, snapshot_properties: Properties = EMPTY_DICT, branch: str | None = MAIN) -> None:
        """Append rows; see `Table.append`."""
        with self.target(branch, snapshot_properties) as target:
            append_rows(target, df)

    def overwrite(
        self,
        df: object,
        overwrite_filter: BooleanExpression | str = ALWAYS_TRUE,
        snapshot_properties: Properties = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN,
    ) -> None:
        """Replace the rows of a filter; see `Table.overwrite`."""
        with self.target(branch, snapshot_properties) as target:
            overwrite_rows(target, df, overwrite_filter, case_sensitive=case_sensitive)

    def dynamic_partition_overwrite(
        self, df: object, snapshot_properties: Properties = EMPTY_DICT, branch: str | None = MAIN
    ) -> None:
        """Replace the partitions that the rows are in; see `Table.dynamic_partition_overwrite`."""
        with self.target(branch, snapshot_properties) as target:
            overwrite_partitions(target, df)

    def delete(
        self,
        delete_filter: BooleanExpression | str = ALWAYS_TRUE,
        snapshot_properties: Properties = EMPTY_DICT,
        case_sensitive: bool = True,
        branch: str | None = MAIN,
    ) -> None:
        """Delete the rows of a filter; see `Table.delete`."""
        with self.target(branch, snapshot_properties) as target:
            delete_rows(target, delete_filter, case_sensitive=case_sensitive)

    def merge(
        self,
        source: object,
        on: Sequence[str],
        snapshot_properties: Properties = EMPTY_DICT,
        branch: str | None = MAIN,
    ) -> Merge:
        """Begin a merge; see `Table.merge`."""
        return Merge(self.target(branch, snapshot_properties), source, on)

    def upsert(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        df: object,
        join_cols: list[str] | None = None,
        when_matched_update_all: bool = True,
        when_not_matched_insert_all: bool = True,
        case_sensitive: bool = True,
        branch: str | None = MAIN,
        snapshot_properties: Properties = EMPTY_DICT,
    ) -> UpsertResult:
        """Update rows whose keys exist and insert the others; see `Table.upsert`."""
        target = self.target(branch, snapshot_properties)
        return upsert_rows(
            target,
            df,
            join_cols,
            update=when_matched_update_all,
            insert=when_not_matched_insert_all,
            case_sensitive=case_sensitive,
        )

    def target(self, branch: str | None = MAIN, snapshot_properties: Properties = EMPTY_DICT) -> Target:
        """Return the table as the next operation sees it, earlier changes of the transaction included.

        Raises:
            ValidationError: `branch` is a tag.
        """
        return Target(self, branch, snapshot_properties)
