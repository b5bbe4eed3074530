"""JSON documents are written as they were read, by Python and by Rust."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe import _core
from icefloe.exceptions import IcebergError
from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadataUtil
from icefloe.table.name_mapping import create_mapping_from_schema, parse_mapping_from_json
from icefloe.table.sorting import SortOrder

from tests.property.documents import metadata, name_mappings, schemas, sort_orders, specs

bounded = settings(max_examples=100)


@bounded
@given(schemas())
def test_schema_is_written_as_it_was_read(document: dict[str, Any]) -> None:
    schema = Schema.model_validate_json(json.dumps(document))
    assert json.loads(schema.model_dump_json()) == document
    assert Schema.model_validate_json(schema.model_dump_json()) == schema


@bounded
@given(schemas())
def test_core_finds_the_columns_that_python_finds(document: dict[str, Any]) -> None:
    """A filter on each column is bound by its name in the core, whatever is in the name."""
    schema = Schema.model_validate_json(json.dumps(document))
    context = json.dumps({"schema": document})
    for column in schema.fields:
        if column.field_type.is_primitive and not column.required:
            predicate = {"type": "is-null", "term": column.name}
            assert json.loads(_core.validate_filter(context, json.dumps(predicate))) == predicate


@bounded
@given(schemas().flatmap(lambda schema: st.tuples(st.just(schema), specs(schema))))
def test_partition_spec_is_written_as_it_was_read(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, document = case
    spec = PartitionSpec.model_validate_json(json.dumps(document))
    assert json.loads(spec.model_dump_json()) == document
    assert PartitionSpec.model_validate_json(spec.model_dump_json()) == spec
    nulls = [None] * len(document["fields"])
    path = _core.partition_path(json.dumps(document), json.dumps(schema), json.dumps(nulls))
    void = all(field["transform"] == "void" for field in document["fields"])
    assert path == ("" if void else "/".join(f"p{number}=null" for number in range(len(nulls))))


@bounded
@given(schemas().flatmap(sort_orders))
def test_sort_order_is_written_as_it_was_read(document: dict[str, Any]) -> None:
    order = SortOrder.model_validate_json(json.dumps(document))
    assert json.loads(order.model_dump_json()) == document
    assert SortOrder.model_validate_json(order.model_dump_json()) == order


@bounded
@given(name_mappings())
def test_name_mapping_is_written_as_it_was_read(document: list[dict[str, Any]]) -> None:
    mapping = parse_mapping_from_json(json.dumps(document))
    assert json.loads(mapping.model_dump_json()) == document


@bounded
@given(schemas())
def test_mapping_of_a_schema_finds_every_column(document: dict[str, Any]) -> None:
    schema = Schema.model_validate_json(json.dumps(document))
    mapping = create_mapping_from_schema(schema)
    assert parse_mapping_from_json(mapping.model_dump_json()) == mapping
    assert [mapping.find(column.name).field_id for column in schema.fields] == [c.field_id for c in schema.fields]


@bounded
@given(metadata())
def test_metadata_is_written_as_it_was_read(document: dict[str, Any]) -> None:
    read = TableMetadataUtil.parse_raw(json.dumps(document))
    written = json.loads(read.model_dump_json())
    assert written == document
    assert TableMetadataUtil.parse_raw(read.model_dump_json()) == read


@settings(max_examples=100)
@given(metadata(), st.data())
def test_metadata_with_any_value_in_any_place_is_read_or_refused(document: dict[str, Any], data: st.DataObject) -> None:
    anything = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just([]), st.just({}))
    target: Any = document
    for _ in range(data.draw(st.integers(1, 4))):
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(target[key], (dict, list)) or not target[key]:
            break
        target, last = target[key], (target, key)
    else:
        target, key = last
    target[key] = data.draw(anything)
    try:
        read = TableMetadataUtil.parse_raw(json.dumps(document))
    except IcebergError:
        return
    assert TableMetadataUtil.parse_raw(read.model_dump_json()) == read
