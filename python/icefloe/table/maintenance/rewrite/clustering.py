"""The arrangement of rows in rewritten files: as they were, sorted, or along a space-filling curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.rewrite.order_text import OrderText
from icefloe.transforms import IdentityTransform

if TYPE_CHECKING:
    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.sorting import SortOrder

BINPACK, SORT, ZORDER, HILBERT = STRATEGIES = ("binpack", "sort", "zorder", "hilbert")
MOST_CURVE_COLUMNS = 16


@dataclass(frozen=True)
class Clustering:
    """The arrangement of rows.

    Attributes:
        strategy: `binpack`, `sort`, `zorder` or `hilbert`.
        order: The sort order of strategy `sort`; one of the table's has its id, all others have id 0.
        columns: Columns of a curve.
    """

    strategy: str = BINPACK
    order: SortOrder | None = None
    columns: tuple[str, ...] = ()

    @property
    def is_curve(self) -> bool:
        """Whether rows are arranged along a curve."""
        return self.strategy in (ZORDER, HILBERT)

    def check(self, verb: str, metadata: TableMetadata) -> None:
        """Raise if the table has no such columns, or they have no order.

        Raises:
            ValidationError: A column does not exist or is nested, or all columns have one value in each partition.
        """
        schema = metadata.schema()
        if self.order is not None:
            self.order.check_compatible(schema)
        for name in self.columns:
            field = schema.find_field(name)
            if not field.field_type.is_primitive:
                raise ValidationError(
                    f"{verb}: {self.strategy} column {name}: expected a primitive type, got {field.field_type}"
                )
        self.within_partitions(verb, schema, metadata.spec())

    def within_partitions(self, verb: str, schema: Schema, spec: PartitionSpec) -> Clustering:
        """Return the arrangement without the columns of a curve that have one value in each partition.

        Raises:
            ValidationError: No column is left.
        """
        constant = {field.source_id for field in spec.fields if field.transform == IdentityTransform()}
        remaining = tuple(name for name in self.columns if schema.find_field(name).field_id not in constant)
        if self.columns and not remaining:
            raise ValidationError(
                f"{verb}: {self.strategy} column {self.columns[0]}: every partition has one value of it; choose other columns"
            )
        return replace(self, columns=remaining)

    def __str__(self) -> str:
        return f"{self.strategy}({', '.join(self.columns)})" if self.columns else self.strategy


def table_order(metadata: TableMetadata, verb: str) -> Clustering:
    """Return the arrangement by the table's own sort order.

    Raises:
        ValidationError: The table has none.
    """
    order = metadata.sort_order()
    if order.is_unsorted:
        raise ValidationError(f"{verb}: the table has no sort order; pass one, such as sort('id DESC NULLS LAST')")
    return Clustering(SORT, order)


def parsed(text: str, metadata: TableMetadata, verb: str) -> Clustering:
    """Return the arrangement of a text, which `OrderText` describes.

    Raises:
        ValidationError: The text is of another form, or a column does not exist.
    """
    order = OrderText(text, verb)
    curve = order.curve()
    if curve is not None:
        return curve_over(*curve, verb)
    return Clustering(SORT, known_order(order.sort_order(metadata.schema()), metadata))


def known_order(order: SortOrder, metadata: TableMetadata) -> SortOrder:
    """Return the table's sort order of the same keys, else the order with id 0: files of other orders do not record it."""
    for known in metadata.sort_orders:
        if known.fields == order.fields:
            return known
    return order.model_copy(update={"order_id": 0})


def curve_over(strategy: str, columns: list[str] | tuple[str, ...], verb: str) -> Clustering:
    """Return the arrangement along a curve.

    Raises:
        ValidationError: There is no column, one is repeated, or there are more than 16.
    """
    if not 1 <= len(columns) <= MOST_CURVE_COLUMNS or len(set(columns)) < len(columns) or "" in columns:
        raise ValidationError(
            f"{verb}: {strategy}: expected 1 to {MOST_CURVE_COLUMNS} different columns, got {', '.join(columns) or 'none'}"
        )
    return Clustering(strategy, columns=tuple(columns))
