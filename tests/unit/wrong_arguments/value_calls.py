"""Right arguments of the values that users build: types, schemas, specs, orders, expressions, literals, names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icefloe.catalog import Catalog, load_catalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.expressions import (
    And,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNaN,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    NotEqualTo,
    NotIn,
    NotNaN,
    NotNull,
    NotStartsWith,
    Or,
    Reference,
    StartsWith,
)
from icefloe.expressions.literals import literal
from icefloe.expressions.parser import parse
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.name_mapping import create_mapping_from_schema, parse_mapping_from_json
from icefloe.table.sorting import SortField, SortOrder
from icefloe.transforms import BucketTransform, TruncateTransform, parse_transform
from icefloe.types import DecimalType, FixedType, ListType, MapType, NestedField, StructType

from tests.unit.wrong_arguments.walk import Call

FIELD = NestedField(1, "id", "long")
SCHEMA = Schema(FIELD, NestedField(2, "name", "string"))
# Properties of a catalog are texts; other values than collections and bytes become text.
AS_TEXT = ("True", "7", "-1", "nan", "{}", "object()", "a datetime")
LEFT, RIGHT = EqualTo("id", 1), IsNull("name")


def value(
    function: Callable[..., Any], *args: Any, admitted: dict[str, tuple[str, ...]] | None = None, **kwargs: Any
) -> Call:
    """Return a call of a function that needs no subject; the result is shown and compared."""
    return Call(lambda _: function, args, kwargs, admitted or {}, lambda result: (repr(result), result == result))  # noqa: PLR0124


TYPES = {
    "NestedField": value(NestedField, 1, "id", "long", True, "doc"),
    "DecimalType": value(DecimalType, 9, 2),
    "FixedType": value(FixedType, 4),
    "ListType": value(ListType, 1, "long", True),
    "MapType": value(MapType, 1, "long", 2, "string", True),
    "StructType": value(StructType, FIELD),
    "Schema": value(
        Schema,
        FIELD,
        schema_id=1,
        identifier_field_ids=[],
        admitted={"schema_id": ("7", "-1"), "identifier_field_ids": ("None", "[]")},
    ),
    "Schema.find_field": value(SCHEMA.find_field, "id", True),
    "Schema.find_type": value(SCHEMA.find_type, "id", True),
    "Schema.find_column_name": value(SCHEMA.find_column_name, 1),
    "Schema.select": value(SCHEMA.select, "id", case_sensitive=True),
    "create_mapping_from_schema": value(create_mapping_from_schema, SCHEMA),
    "parse_mapping_from_json": value(parse_mapping_from_json, '[{"field-id": 1, "names": ["id"]}]'),
}

SPECS = {
    "PartitionField": value(PartitionField, 1, 1000, "identity", "id"),
    "PartitionSpec": value(
        PartitionSpec, PartitionField(1, 1000, "identity", "id"), spec_id=1, admitted={"spec_id": ("7", "-1")}
    ),
    "SortField": value(SortField, 1, "identity", "asc", "nulls-first"),
    "SortOrder": value(SortOrder, SortField(1), order_id=1, admitted={"order_id": ("7", "-1")}),
    "BucketTransform": value(BucketTransform, 4),
    "TruncateTransform": value(TruncateTransform, 4),
    "parse_transform": value(parse_transform, "bucket[4]"),
}

COMPARISONS = (EqualTo, NotEqualTo, LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual)
EXPRESSIONS = (
    {kind.__name__: value(kind, "id", 5) for kind in COMPARISONS}
    | {kind.__name__: value(kind, "id", (5, 6), admitted={"literals": ("[7]",)}) for kind in (In, NotIn)}
    | {kind.__name__: value(kind, "id") for kind in (IsNull, NotNull, IsNaN, NotNaN)}
    | {kind.__name__: value(kind, "name", "a") for kind in (StartsWith, NotStartsWith)}
    | {
        "And": value(And, LEFT, RIGHT),
        "Or": value(Or, LEFT, RIGHT),
        "Not": value(Not, LEFT),
        "Reference": value(Reference, "id"),
        "literal": value(literal, 5),
        "parse": value(parse, "id = 5"),
    }
)

NAMES = {
    "load_catalog": value(load_catalog, "scratch", type="memory"),
    "load_catalog by warehouse": value(
        load_catalog, "scratch", type="memory", warehouse="/none", admitted={"warehouse": AS_TEXT}
    ),
    "InMemoryCatalog": value(InMemoryCatalog, "scratch", "/none"),
    "Catalog.identifier_to_tuple": value(Catalog.identifier_to_tuple, "db.t"),
    "Catalog.table_name_from": value(Catalog.table_name_from, "db.t"),
    "Catalog.namespace_from": value(Catalog.namespace_from, "db.t"),
}
