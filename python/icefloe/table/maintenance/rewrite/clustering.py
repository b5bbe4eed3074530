"""The arrangement of rows in rewritten files: as they were, sorted, or along a space-filling curve."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from icefloe.transforms import IdentityTransform, Transform
from icefloe.transforms.parsing import parse_transform

if TYPE_CHECKING:
    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata

BINPACK, SORT, ZORDER, HILBERT = STRATEGIES = ("binpack", "sort", "zorder", "hilbert")
MOST_CURVE_COLUMNS = 16

_CURVE = re.compile(r"\s*(zorder|hilbert)\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
_KEY = re.compile(
    r"\s*(?P<term>.+?)(?:\s+(?P<direction>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?\s*",
    re.IGNORECASE | re.DOTALL,
)
_TRANSFORM = re.compile(r"(?P<name>\w+)\s*\((?P<arguments>[^()]*)\)")
_COMMA = re.compile(r",(?![^()]*\))")


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
            ValidationError: A column does not exist, is nested, or has one value in each partition.
        """
        schema = metadata.schema()
        if self.order is not None:
            self.order.check_compatible(schema)
        constant = {field.source_id for field in metadata.spec().fields if field.transform == IdentityTransform()}
        for name in self.columns:
            field = schema.find_field(name)
            if not field.field_type.is_primitive:
                raise ValidationError(
                    f"{verb}: {self.strategy} column {name}: expected a primitive type, got {field.field_type}"
                )
            if field.field_id in constant:
                raise ValidationError(
                    f"{verb}: {self.strategy} column {name}: every partition has one value of it; leave it out"
                )

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
    """Return the arrangement of a text: `a DESC NULLS LAST, bucket(4, b)`, `zorder(a, b)` or `hilbert(a, b)`.

    Raises:
        ValidationError: The text is of another form, or a column does not exist.
    """
    curve = _CURVE.fullmatch(text)
    if curve is not None:
        return curve_over(curve[1].lower(), [name.strip() for name in curve[2].split(",")], verb)
    keys = [_sort_field(key, metadata.schema(), verb) for key in _COMMA.split(text)]
    return Clustering(SORT, known_order(SortOrder(*keys, order_id=0), metadata))


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


def _sort_field(text: str, schema: Schema, verb: str) -> SortField:
    key = _KEY.fullmatch(text)
    if key is None:
        raise ValidationError(f"{verb}: sort order: expected keys such as 'a DESC NULLS LAST, b', got {text!r}")
    name = key["term"].strip()
    transform: Transform = IdentityTransform()
    call = _TRANSFORM.fullmatch(name)
    if call is not None:
        *numbers, name = [part.strip() for part in call["arguments"].split(",")]
        kind = call["name"].lower().rstrip("s")
        transform = parse_transform(f"{kind}[{numbers[0]}]" if numbers else kind)
    descending = (key["direction"] or "asc").lower() == "desc"
    nulls = (key["nulls"] or ("last" if descending else "first")).lower()
    return SortField(
        schema.find_field(name).field_id,
        transform,
        SortDirection.DESC if descending else SortDirection.ASC,
        NullOrder.NULLS_FIRST if nulls == "first" else NullOrder.NULLS_LAST,
    )
