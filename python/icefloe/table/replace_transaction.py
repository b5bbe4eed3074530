"""Transactions that replace a table: one commit replaces its definition and its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationException
from icefloe.table.replacement import requirements_of_replacement
from icefloe.table.update import update_table_metadata
from icefloe.table.write_transaction import WriteTransaction

if TYPE_CHECKING:
    from icefloe.table.commit.committing_table import CommitTableResponse
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.replacement import Replacement
    from icefloe.table.table import Table


class ReplaceTableTransaction(WriteTransaction):
    """Changes of a table whose definition and rows are replaced; the commit replaces the table with them.

    The table keeps its UUID, its snapshots and its tags, so that time travel finds the rows of before. Rows that others commit before
    the replacement are replaced as well, and stay in the history. If the commit fails, nothing has changed.

    Args:
        table: The table's handle; a commit moves it to the new version.
        replacement: The new definition.

    Examples:
        >>> schema = pa.schema([("id", pa.int64()), ("total", pa.float64())])
        >>> catalog.create_table("examples.replaced", schema).append(pa.table({"id": [1], "total": [0.5]}))
        >>> with catalog.replace_table_transaction("examples.replaced", pa.schema([("id", pa.int64())])) as transaction:
        ...     transaction.append(pa.table({"id": [7]}))
        >>> catalog.load_table("examples.replaced").scan().to_arrow().to_pydict()
        {'id': [7]}
    """

    _replaced = False

    def __init__(self, table: Table, replacement: Replacement) -> None:
        self._replacement = replacement
        super().__init__(table, autocommit=False)

    def _rebase(self, newest: TableMetadata) -> None:
        super()._rebase(newest)
        if self._replaced:
            return
        self._updates = self._replacement.updates(newest)
        # Requirements of later changes are about the replaced table; the commit requires facts of the table that it replaces.
        self._requirements = requirements_of_replacement(newest)
        replaced = update_table_metadata(newest, self._updates, now_ms=self.environment.now_ms())
        self._working = replaced
        self._definition = (
            (replaced.current_schema_id, replaced.schema()),
            (replaced.default_spec_id, replaced.spec()),
            (replaced.default_sort_order_id, replaced.sort_order()),
        )

    def _stage_again(self, newest: TableMetadata, attempt: int) -> None:
        written = self._definition
        self._rebase(newest)
        if self._changes and self._definition != written:
            raise ValidationException(
                f"table {'.'.join(self._table.name())}: cannot replace it, since another commit changed its columns, partition fields or "
                "sort orders after this transaction began; repeat the transaction"
            )
        super()._stage_again(newest, attempt)

    def _commit(self) -> CommitTableResponse:
        response = super()._commit()
        self._replaced = True
        return response
