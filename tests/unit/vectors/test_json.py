"""Documents: schemas, specs, sort orders, name mappings and table metadata, read and written as the reference does."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from icefloe.exceptions import FeatureUnsupportedError, IcebergError, MetadataWarning
from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadataUtil, new_table_metadata
from icefloe.table.name_mapping import parse_mapping_from_json
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.table.update.spec import UpdateSpec
from icefloe.types import NestedField

from tests.unit.table.update.recorder import Recorder
from tests.unit.vectors.vector_cases import cases


def ids(case: dict[str, Any]) -> str:
    return str(case["note"])


def check(case: dict[str, Any], write: Any) -> None:
    """Hold what is read and written to a case; `read` says where icefloe differs from the reference on purpose."""
    try:
        written = write(json.dumps(case["json"]))
    except (IcebergError, ValueError):
        assert case["read"] in {False, "either"} or (case["read"] is None and case["written"] is None), case
        return
    if case["read"] is None:
        assert written == case["written"], case
    else:
        assert case["read"], case


@pytest.mark.parametrize("case", cases("schema_json"), ids=ids)
def test_schemas_are_read_and_written_as_in_the_vectors(case: dict[str, Any]) -> None:
    check(case, lambda text: json.loads(Schema.model_validate_json(text).model_dump_json()))


@pytest.mark.parametrize("case", cases("partition_spec_json"), ids=ids)
def test_partition_specs_are_read_and_written_as_in_the_vectors(case: dict[str, Any]) -> None:
    check(case, lambda text: json.loads(PartitionSpec.model_validate_json(text).model_dump_json()))


@pytest.mark.parametrize("case", cases("sort_order_json"), ids=ids)
def test_sort_orders_are_read_and_written_as_in_the_vectors(case: dict[str, Any]) -> None:
    check(case, lambda text: json.loads(SortOrder.model_validate_json(text).model_dump_json()))


@pytest.mark.parametrize("case", cases("name_mapping_json"), ids=ids)
def test_name_mappings_are_read_and_written_as_in_the_vectors(case: dict[str, Any]) -> None:
    check(case, lambda text: json.loads(parse_mapping_from_json(text).model_dump_json()))


def document(case: dict[str, Any], key: str) -> Any:
    """Return a whole document from its difference to one of the three that are written whole."""
    part = case[key]
    if part is None or "base" not in case:
        return part
    if "whole" in part:
        return part["whole"]
    base = next(other for other in cases("metadata_json") if other["note"] == case["base"])[key]
    return {name: value for name, value in {**base, **part["set"]}.items() if name not in part["remove"]}


# The reference refuses it; other readers, and this one, take the snapshots' word.
LAGGING = "snapshot beyond the last sequence number"


@pytest.mark.parametrize("case", [case for case in cases("metadata_json") if case["note"] != LAGGING], ids=ids)
def test_metadata_is_read_and_written_as_in_the_vectors(case: dict[str, Any]) -> None:
    whole = {**case, "json": document(case, "json"), "written": document(case, "written")}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            metadata = TableMetadataUtil.parse_raw(json.dumps(whole["json"]))
        except IcebergError:
            metadata = None
    if metadata is not None and whole["written"] is None and whole["read"] is None:
        # The reference refuses what is read here as a deviation that loses nothing.
        assert any(issubclass(each.category, MetadataWarning) for each in caught)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetadataWarning)
        check(whole, lambda text: json.loads(TableMetadataUtil.parse_raw(text).model_dump_json()))


def test_last_sequence_number_that_lags_is_that_of_the_newest_snapshot() -> None:
    (case,) = (case for case in cases("metadata_json") if case["note"] == LAGGING)
    metadata = TableMetadataUtil.parse_raw(json.dumps(document(case, "json")))
    assert metadata.last_sequence_number == max(snapshot.sequence_number for snapshot in metadata.snapshots)
    assert metadata.next_sequence_number() > metadata.last_sequence_number


@pytest.mark.parametrize("case", cases("schema_invalid"), ids=lambda case: case["message"])
def test_malformed_schemas_are_refused(case: dict[str, Any]) -> None:
    if case["message"] == "fields":
        assert Schema.model_validate(case["schema"]).fields == ()  # in Python no columns may be left out
        return
    # A name that no format version up to the third has is taken for a type of a later one.
    unknown = case["message"] in ("integer", "set")
    refusal = (FeatureUnsupportedError, f"type '{case['message']}'") if unknown else (ValueError, "Schema")
    with pytest.raises(refusal[0], match=refusal[1]):
        Schema.model_validate_json(json.dumps(case["schema"]))


@pytest.mark.parametrize("case", cases("partition_spec"), ids=lambda case: str(case["field_ids"]))
def test_fields_without_ids_are_numbered_from_1000(case: dict[str, Any]) -> None:
    spec = PartitionSpec.model_validate_json(json.dumps({"spec-id": 0, "fields": case["fields"]}))
    assert [field.field_id for field in spec.fields] == case["field_ids"]


@pytest.mark.parametrize("case", cases("partition_id"), ids=lambda case: str(case["last_partition_id"]))
def test_partition_ids_of_a_table_follow_each_other(case: dict[str, Any]) -> None:
    schema = Schema(NestedField(1, "id", "long"), NestedField(2, "at", "timestamp"))
    spec = PartitionSpec.model_validate_json(json.dumps({"spec-id": 0, "fields": case["fields"]}))
    table = Recorder(new_table_metadata(schema, spec, UNSORTED_SORT_ORDER, "/t", {}))
    assert [field.field_id for field in table.table_metadata.spec().fields] == case["field_ids"]
    assert table.table_metadata.last_partition_id == case["last_partition_id"]
    with UpdateSpec(table) as update:
        update.add_field(case["added"]["column"], case["added"]["transform"], "added")
    assert table.table_metadata.spec().fields[-1].field_id == case["added_id"]
