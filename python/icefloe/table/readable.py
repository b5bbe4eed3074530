"""What a table can be read as: scans of it, and itself as an Arrow stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.expressions import AlwaysTrue
from icefloe.table.facts import TableFacts
from icefloe.table.scan import DataScan, IncrementalAppendScan, IncrementalChangelogScan
from icefloe.table.scan.scan import as_names
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    import polars as pl

    from icefloe.expressions import BooleanExpression
    from icefloe.typedef import Properties

ALWAYS_TRUE = AlwaysTrue()


class ReadableTable(TableFacts):
    """One version of a table, to look at and to read."""

    def scan(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: tuple[str, ...] = ("*",),
        case_sensitive: bool = True,
        snapshot_id: int | None = None,
        options: Properties = EMPTY_DICT,
        limit: int | None = None,
    ) -> DataScan:
        """Return a scan; nothing is read before its rows are asked for.

        Args:
            row_filter: The rows to return, as text or as an expression: those that it is true of. A comparison with a null is
                unknown, and so is its negation.
            selected_fields: Which columns, all by default; nested ones by dotted names; `_file`, `_pos`, `_deleted`,
                `_spec_id`, `_partition` too.
            case_sensitive: Whether names must match exactly.
            snapshot_id: Which snapshot; the current one when None.
            options: `split-size` (bytes of a task), `batch-size` (rows of a batch).
            limit: Most rows to return, None for all.

        Example:
            >>> table.scan("id > 1", selected_fields=("id",)).to_arrow().to_pydict()
            {'id': [2, 3]}
        """
        return DataScan(
            self.metadata,
            self.io,
            row_filter=row_filter,
            selected_fields=as_names(selected_fields),
            case_sensitive=case_sensitive,
            snapshot_id=snapshot_id,
            options=options,
            limit=limit,
            table_name=".".join(self._identifier),
        )

    def incremental_append_scan(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        *,
        from_snapshot_id_exclusive: int | None = None,
        to_snapshot_id_inclusive: int | None = None,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: tuple[str, ...] = ("*",),
        case_sensitive: bool = True,
        options: Properties = EMPTY_DICT,
        limit: int | None = None,
    ) -> IncrementalAppendScan:
        """Return a scan of the rows that `append` snapshots added; what other snapshots did is left out.

        The scan's methods name the range in other ways: by a branch or tag, by time, with the first snapshot included.

        Args:
            from_snapshot_id_exclusive: The last snapshot that is known already; None for the beginning of the history. It may have
                been expired if its successor has not.
            to_snapshot_id_inclusive: The last snapshot to read; None for the current one.
            row_filter: The rows to return, as text or as an expression: those that it is true of. A comparison with a null is
                unknown, and so is its negation.
            selected_fields: Which columns of the current schema, all by default.
            case_sensitive: Whether names must match exactly.
            options: `split-size` (bytes of a task), `batch-size` (rows of a batch).
            limit: Most rows to return, None for all.

        Example:
            >>> seen = table.current_snapshot().snapshot_id
            >>> table.append(pa.table({"id": [4, 5]}))
            >>> table.incremental_append_scan(from_snapshot_id_exclusive=seen).to_arrow().column("id").to_pylist()
            [4, 5]
        """
        return IncrementalAppendScan(
            self.metadata,
            self.io,
            row_filter=row_filter,
            selected_fields=as_names(selected_fields),
            case_sensitive=case_sensitive,
            options=options,
            limit=limit,
            table_name=".".join(self._identifier),
            from_snapshot_id=from_snapshot_id_exclusive,
            to_snapshot_id=to_snapshot_id_inclusive,
        )

    def incremental_changelog_scan(  # noqa: PLR0913 - as for appends, and how changes are told
        self,
        *,
        from_snapshot_id_exclusive: int | None = None,
        to_snapshot_id_inclusive: int | None = None,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: tuple[str, ...] = ("*",),
        case_sensitive: bool = True,
        options: Properties = EMPTY_DICT,
        limit: int | None = None,
        compute_updates: bool = False,
        identifier_columns: tuple[str, ...] | None = None,
        net_changes: bool = False,
    ) -> IncrementalChangelogScan:
        """Return a scan of the rows that snapshots inserted and deleted, by whatever files they did it.

        Args:
            from_snapshot_id_exclusive: The last snapshot that is known already; None for the beginning of the history.
            to_snapshot_id_inclusive: The last snapshot to read; None for the current one.
            row_filter: The rows to return, as text or as an expression: those that it is true of. A comparison with a null is
                unknown, and so is its negation.
            selected_fields: Which columns of the current schema, all by default; those that tell the change come after them.
            case_sensitive: Whether names must match exactly.
            options: `batch-size` (rows of a batch).
            limit: Most rows to return, None for all.
            compute_updates: Whether a deletion and an insertion of the same row in one snapshot are told as an update,
                `UPDATE_BEFORE` and `UPDATE_AFTER`.
            identifier_columns: The columns that tell which row that is; the schema's identifier fields if None. Given, they
                imply `compute_updates`.
            net_changes: Whether changes of different snapshots that undo each other are left out.

        Example:
            >>> seen = table.current_snapshot().snapshot_id
            >>> table.delete("id = 2")
            >>> changes = table.incremental_changelog_scan(from_snapshot_id_exclusive=seen)
            >>> changes.to_arrow().select(["id", "_change_type", "_change_ordinal"]).to_pylist()
            [{'id': 2, '_change_type': 'DELETE', '_change_ordinal': 0}]
        """
        return IncrementalChangelogScan(
            self.metadata,
            self.io,
            row_filter=row_filter,
            selected_fields=as_names(selected_fields),
            case_sensitive=case_sensitive,
            options=options,
            limit=limit,
            table_name=".".join(self._identifier),
            from_snapshot_id=from_snapshot_id_exclusive,
            to_snapshot_id=to_snapshot_id_inclusive,
            compute_updates=compute_updates,
            identifier_columns=identifier_columns,
            net_changes=net_changes,
        )

    def to_polars(self) -> pl.LazyFrame:
        """Return all rows as a lazy Polars frame; they are read now."""
        return self.scan().to_polars().lazy()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.scan().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.scan().__arrow_c_schema__()
