"""Visitors of schemas: order of calls and results."""

from __future__ import annotations

from typing import Any

import pytest
from icefloe.exceptions import ValidationError
from icefloe.schema import (
    PartnerAccessor,
    PreOrderSchemaVisitor,
    PrimitiveWithPartnerVisitor,
    Schema,
    SchemaVisitor,
    SchemaVisitorPerPrimitiveType,
    pre_order_visit,
    prune_columns,
    visit,
    visit_with_partner,
)
from icefloe.types import ListType, MapType, NestedField, StructType

SCHEMA = Schema(
    NestedField(1, "id", "long"),
    NestedField(2, "tags", ListType(3, "string")),
    NestedField(4, "scores", MapType(5, "string", 6, StructType(NestedField(7, "at", "date")))),
)


class Names(SchemaVisitor[str]):
    """A visitor that returns the text of a schema and records the order of calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def before_field(self, field):
        self.calls.append(f"<{field.name}")

    def after_field(self, field):
        self.calls.append(f"{field.name}>")

    def schema(self, schema, struct_result):
        return f"schema({struct_result})"

    def struct(self, struct, field_results):
        return f"struct({', '.join(field_results)})"

    def field(self, field, field_result):
        return f"{field.name} {field_result}"

    def list(self, list_type, element_result):
        return f"list({element_result})"

    def map(self, map_type, key_result, value_result):
        return f"map({key_result}, {value_result})"

    def primitive(self, primitive):
        return str(primitive)


def test_visit_passes_results_from_the_inside_out() -> None:
    visitor = Names()
    text = visit(SCHEMA, visitor)
    assert text == "schema(struct(id long, tags list(string), scores map(string, struct(at date))))"
    assert visitor.calls == [
        *("<id", "id>", "<tags", "<element", "element>", "tags>"),
        *("<scores", "<key", "key>", "<value", "<at", "at>", "value>", "scores>"),
    ]


class FirstColumn(PreOrderSchemaVisitor[Any]):
    """A visitor that visits the first column only."""

    def schema(self, schema, struct_result):
        return struct_result()

    def struct(self, struct, field_results):
        return field_results[0]()

    def field(self, field, field_result):
        return field.name, field_result()

    def list(self, list_type, element_result):
        return [element_result()]

    def map(self, map_type, key_result, value_result):
        return {key_result(): value_result()}

    def primitive(self, primitive):
        return str(primitive)


def test_pre_order_visit_computes_only_the_called_results() -> None:
    assert pre_order_visit(SCHEMA, FirstColumn()) == ("id", "long")
    assert pre_order_visit(SCHEMA.find_type("scores"), FirstColumn()) == {"string": ("at", "date")}


def test_visitor_per_primitive_type_dispatches_on_the_type() -> None:
    methods = {name: lambda self, kind, name=name: name for name in SchemaVisitorPerPrimitiveType.__abstractmethods__}
    visitor = type("Methods", (SchemaVisitorPerPrimitiveType,), methods)()
    names = {
        kind: visit(NestedField(1, "a", kind).field_type, visitor) for kind in ("long", "decimal(9, 2)", "fixed[3]")
    }
    assert names == {"long": "visit_long", "decimal(9, 2)": "visit_decimal", "fixed[3]": "visit_fixed"}


class Values(PartnerAccessor[Any]):
    def schema_partner(self, partner):
        return partner

    def field_partner(self, partner_struct, field_id, field_name):
        return None if partner_struct is None else partner_struct.get(field_name)

    def list_element_partner(self, partner_list):
        return partner_list[0]

    def map_key_partner(self, partner_map):
        return next(iter(partner_map))

    def map_value_partner(self, partner_map):
        return next(iter(partner_map.values()))


def test_visit_with_partner_finds_the_partner_of_each_type() -> None:
    seen: dict[str, Any] = {}

    def record(name: str) -> Any:
        return lambda self, kind, partner, *results: seen.update({name: partner})

    methods = {name: record(name) for name in PrimitiveWithPartnerVisitor.__abstractmethods__}
    visitor = type("Partners", (PrimitiveWithPartnerVisitor,), methods)()
    row = {"id": 5, "tags": ["x"], "scores": {"k": {}}}
    visit_with_partner(SCHEMA, row, visitor, Values())
    assert seen["visit_long"] == 5
    assert seen["visit_string"] == "k"
    assert seen["visit_date"] is None
    assert seen["schema"] is row


@pytest.mark.parametrize("walk", [visit, pre_order_visit])
def test_visit_refuses_other_objects(walk: Any) -> None:
    with pytest.raises(ValidationError, match="Cannot visit non-type: 5"):
        walk(5, Names())


def test_prune_columns_refuses_lists_and_maps_selected_by_their_own_id() -> None:
    with pytest.raises(
        ValidationError, match="Cannot explicitly project List or Map types, 2:tags of type list<string>"
    ):
        prune_columns(SCHEMA, {2}, select_full_types=False)
    assert prune_columns(SCHEMA, {3}, select_full_types=False).column_names == ["tags", "tags.element"]
