"""Replacing a table's sort order for new files; existing files keep their order. Spec: Sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.arguments import checked_flag
from icefloe.table.sorting import UNSORTED_SORT_ORDER_ID, NullOrder, SortDirection, SortField, SortOrder
from icefloe.table.update.actions import AddSortOrderUpdate, SetDefaultSortOrderUpdate, TableUpdate
from icefloe.table.update.builder import UpdatableTable, UpdateBuilder, UpdatesAndRequirements
from icefloe.table.update.requirements import AssertDefaultSortOrderId
from icefloe.transforms import IdentityTransform, Transform, parse_transform

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata


class UpdateSortOrder(UpdateBuilder):
    """The keys of a table's new sort order, most significant first. Without a key, the table becomes unsorted.

    Args:
        transaction: The transaction that commits them.
        case_sensitive: Whether column names must match in case.
    """

    opener = "update_sort_order()"

    def __init__(self, transaction: UpdatableTable, case_sensitive: bool = True) -> None:
        super().__init__(transaction)
        self._metadata = transaction.table_metadata
        self._case_sensitive = checked_flag("case_sensitive", case_sensitive)
        self._fields: list[SortField] = []

    def asc(
        self,
        source_column_name: str,
        transform: str | Transform | None = None,
        null_order: NullOrder | None = NullOrder.NULLS_LAST,
    ) -> Self:
        """Add an ascending key of a column's values, or of their transform; None places nulls first."""
        return self._add(source_column_name, transform, SortDirection.ASC, null_order)

    def desc(
        self,
        source_column_name: str,
        transform: str | Transform | None = None,
        null_order: NullOrder | None = NullOrder.NULLS_LAST,
    ) -> Self:
        """Add a descending key of a column's values, or of their transform; None places nulls last."""
        return self._add(source_column_name, transform, SortDirection.DESC, null_order)

    def _add(
        self,
        source_column_name: str,
        transform: str | Transform | None,
        direction: SortDirection,
        null_order: NullOrder | None,
    ) -> Self:
        source = self._metadata.schema().find_field(source_column_name, self._case_sensitive)
        key = IdentityTransform() if transform is None else parse_transform(transform)
        self._fields.append(SortField(source.field_id, key, direction, null_order))
        return self

    def _facts(self, metadata: TableMetadata) -> object:
        return metadata.default_sort_order_id

    def _changes(self) -> UpdatesAndRequirements:
        base = self._metadata.sort_order()
        if tuple(self._fields) == base.fields:
            return (), ()
        last_id = max((each.order_id for each in self._metadata.sort_orders), default=UNSORTED_SORT_ORDER_ID)
        order = SortOrder(*self._fields, order_id=last_id + 1)
        order.check_compatible(self._metadata.schema())
        # A server of the Java reference refuses "the sort order added last" if the table has an equal order already.
        same = next((each for each in self._metadata.sort_orders if each.fields == order.fields), None)
        updates: tuple[TableUpdate, ...]
        if same is not None:
            updates = (SetDefaultSortOrderUpdate(sort_order_id=same.order_id),)
        else:
            added = SortOrder(order_id=UNSORTED_SORT_ORDER_ID) if order.is_unsorted else order
            updates = (AddSortOrderUpdate(sort_order=added), SetDefaultSortOrderUpdate(sort_order_id=-1))
        return updates, (
            AssertDefaultSortOrderId(default_sort_order_id=self._metadata.stated("default_sort_order_id")),
        )
