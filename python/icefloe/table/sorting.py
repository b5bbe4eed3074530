"""Sort orders of the rows within a file. Spec: Sorting."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import StrictInt, field_validator, model_validator

from icefloe.exceptions import ValidationError
from icefloe.transforms import IdentityTransform, Transform
from icefloe.transforms.parsing import TransformField
from icefloe.typedef import JsonModel

if TYPE_CHECKING:
    from icefloe.schema import Schema

UNSORTED_SORT_ORDER_ID = 0
INITIAL_SORT_ORDER_ID = 1


class SortDirection(Enum):
    """The direction of a sort key."""

    ASC = "asc"
    DESC = "desc"

    def __repr__(self) -> str:
        return f"SortDirection.{self.name}"

    def __str__(self) -> str:
        return self.name


class NullOrder(Enum):
    """The position of nulls among the values of a sort key."""

    NULLS_FIRST = "nulls-first"
    NULLS_LAST = "nulls-last"

    def __repr__(self) -> str:
        return f"NullOrder.{self.name}"

    def __str__(self) -> str:
        return self.name.replace("_", " ")


class SortField(JsonModel):
    """A key of a sort order. Without ``null_order``, nulls sort as the smallest values.

    >>> str(SortField(2, direction=SortDirection.DESC))
    '2 DESC NULLS LAST'
    """

    source_id: StrictInt
    transform: TransformField
    direction: SortDirection
    null_order: NullOrder

    def __init__(
        self,
        source_id: int | None = None,
        transform: Transform | str | None = None,
        direction: SortDirection | None = None,
        null_order: NullOrder | None = None,
        **data: Any,
    ) -> None:
        given = {"source-id": source_id, "transform": transform, "direction": direction, "null-order": null_order}
        super().__init__(**{key: value for key, value in given.items() if value is not None}, **data)

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        data.setdefault("transform", IdentityTransform())
        ids = data.get("source-ids")
        if "source-id" not in data and isinstance(ids, list) and len(ids) == 1:
            data["source-id"] = ids[0]
        data.setdefault("direction", SortDirection.ASC)
        if "null-order" not in data and "null_order" not in data:
            descending = data["direction"] in {SortDirection.DESC, "desc"}
            data["null-order"] = NullOrder.NULLS_LAST if descending else NullOrder.NULLS_FIRST
        return data

    @field_validator("direction", "null_order", mode="before")
    @classmethod
    def _lower_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    def __str__(self) -> str:
        key = (
            str(self.source_id)
            if isinstance(self.transform, IdentityTransform)
            else f"{self.transform}({self.source_id})"
        )
        return f"{key} {self.direction} {self.null_order}"


class SortOrder(JsonModel):
    """The keys of a sort order, most significant first. Order 0 has no keys.

    >>> SortOrder(SortField(2)).is_unsorted
    False
    """

    order_id: StrictInt = INITIAL_SORT_ORDER_ID
    fields: tuple[SortField, ...] = ()

    def __init__(self, *fields: SortField, **data: Any) -> None:
        if fields:
            data["fields"] = fields
            for field in fields:
                if not isinstance(field, SortField):
                    raise ValidationError(f"SortOrder: expected sort fields, got {field!r}")
        super().__init__(**data)

    @property
    def is_unsorted(self) -> bool:
        """Whether the order has no keys."""
        return not self.fields

    def satisfies(self, other: SortOrder) -> bool:
        """Return whether rows sorted by this order are sorted by the other order too."""
        if len(other.fields) > len(self.fields):
            return False
        return all(
            mine.source_id == theirs.source_id
            and mine.transform.satisfies_order_of(theirs.transform)
            and (mine.direction, mine.null_order) == (theirs.direction, theirs.null_order)
            for mine, theirs in zip(self.fields, other.fields, strict=False)
        )

    def check_compatible(self, schema: Schema) -> None:
        """Check that every key is a primitive column that its transform applies to.

        Raises:
            ValidationError: A key's column does not exist, or its transform does not apply to the column's type.
        """
        for field in self.fields:
            if field.source_id not in schema.field_ids:
                raise _unknown_source(field, schema)
            source = schema.find_field(field.source_id)
            if not source.field_type.is_primitive or not field.transform.can_transform(source.field_type):
                raise ValidationError(
                    f"sort field {field}: {field.transform} does not apply to {source.name} of type {source.field_type}; "
                    "choose another transform"
                )

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"SortOrder({''.join(f'{field!r}, ' for field in self.fields)}order_id={self.order_id})"

    def __str__(self) -> str:
        return f"[{''.join(f'{chr(10)}  {field}' for field in self.fields)}{chr(10) if self.fields else ''}]"


UNSORTED_SORT_ORDER = SortOrder(order_id=UNSORTED_SORT_ORDER_ID)


def assign_fresh_sort_order_ids(
    sort_order: SortOrder, old_schema: Schema, fresh_schema: Schema, sort_order_id: int = INITIAL_SORT_ORDER_ID
) -> SortOrder:
    """Return a sort order for a schema with new field ids; source columns are matched by name."""
    if not isinstance(sort_order, SortOrder):
        raise ValidationError(f"sort order: expected a SortOrder, got {sort_order!r}")
    if sort_order.is_unsorted:
        return UNSORTED_SORT_ORDER
    fields = []
    for field in sort_order.fields:
        name = old_schema.find_column_name(field.source_id)
        if name is None:
            raise _unknown_source(field, old_schema)
        fields.append(
            SortField(fresh_schema.find_field(name).field_id, field.transform, field.direction, field.null_order)
        )
    return SortOrder(*fields, order_id=sort_order_id)


def _unknown_source(field: SortField, schema: Schema) -> ValidationError:
    return ValidationError(
        f"sort field {field}: no column has field id {field.source_id}; expected one of {sorted(schema.field_ids)}"
    )
