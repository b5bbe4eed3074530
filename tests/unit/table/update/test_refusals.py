"""Refusals of the rules of schemas, specs, sort orders and updates: each raises, and its message names the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from icefloe.exceptions import CommitFailedException, FeatureUnsupportedError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadata, new_table_metadata
from icefloe.table.name_mapping import parse_mapping_from_json
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortField, SortOrder
from icefloe.table.statistics import StatisticsFile
from icefloe.table.update import actions, update_table_metadata
from icefloe.table.update.requirements import AssertRefSnapshotId, requirement_from_json
from icefloe.table.update.schema import UpdateSchema
from icefloe.table.update.spec import UpdateSpec
from icefloe.types import ListType, NestedField, StructType, field_from_json, type_from_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.update import TableRequirement, TableUpdate

SCHEMA = Schema(
    NestedField(1, "id", "long", required=True),
    NestedField(2, "day", "date"),
    NestedField(3, "key", StructType(NestedField(4, "part", "int", required=True)), required=True),
    identifier_field_ids=[4],
)
STATISTICS = StatisticsFile(
    snapshot_id=1, statistics_path="/s", file_size_in_bytes=1, file_footer_size_in_bytes=1, blob_metadata=[]
)


class Draft:
    """A transaction over metadata alone."""

    def __init__(self, version: int = 2) -> None:
        spec = PartitionSpec(PartitionField(1, 1000, "bucket[4]", "id_bucket"))
        self.table_metadata: TableMetadata = new_table_metadata(
            SCHEMA, spec, UNSORTED_SORT_ORDER, "/t", {"format-version": version}
        )

    def apply_updates(self, updates: tuple[TableUpdate, ...], requirements: tuple[TableRequirement, ...] = ()) -> None:
        self.table_metadata = update_table_metadata(self.table_metadata, updates)


def two_fields(version: int = 2) -> UpdateSpec:
    """Changes of a spec with the fields `id_bucket` and `x`."""
    draft = Draft(version)
    UpdateSpec(draft).add_field("id", "truncate[4]", "x").commit()
    return UpdateSpec(draft)


def schema_after_removed_field() -> None:
    draft = Draft()
    UpdateSpec(draft).remove_field("id_bucket").commit()
    UpdateSchema(draft).add_column("id_bucket", "int").commit()


def unknown_transform() -> UpdateSpec:
    draft = Draft()
    field = PartitionField(1, 1000, "round[4]", "id_bucket")
    draft.table_metadata = draft.table_metadata.model_copy(update={"partition_specs": (PartitionSpec(field),)})
    return UpdateSpec(draft)


def applied(update: TableUpdate) -> TableMetadata:
    return update_table_metadata(Draft().table_metadata, [update])


def created(spec: PartitionSpec | None = None, order: SortOrder = UNSORTED_SORT_ORDER) -> TableMetadata:
    return new_table_metadata(SCHEMA, PartitionSpec() if spec is None else spec, order, "/t")


REFUSALS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "partition_name_empty": (
        lambda: created(PartitionSpec(PartitionField(1, 1000, "identity", ""))),
        ValidationError,
        "partition field name: expected text, got ''",
    ),
    "partition_source_unknown": (
        lambda: created(PartitionSpec(PartitionField(9, 1000, "identity", "x"))),
        ValidationError,
        "partition field x: no column has the id 9",
    ),
    "partition_field_unknown": (
        lambda: two_fields().remove_field("y"),
        ValidationError,
        "no partition field is named 'y'; expected one of id_bucket, x",
    ),
    "added_partition_field_removed": (
        lambda: two_fields().add_field("id", "identity", "y").remove_field("y"),
        ValidationError,
        "cannot remove partition field 'y': the same changes add it",
    ),
    "added_partition_field_renamed": (
        lambda: two_fields().add_field("id", "identity", "y").rename_field("y", "z"),
        ValidationError,
        "cannot rename partition field 'y': the same changes add it",
    ),
    "renamed_partition_field_removed": (
        lambda: two_fields().rename_field("x", "y").remove_field("x"),
        ValidationError,
        "cannot remove partition field 'x': the same changes rename it to 'y'",
    ),
    "removed_partition_field_renamed": (
        lambda: two_fields().remove_field("x").rename_field("x", "y"),
        ValidationError,
        "cannot rename partition field 'x': the same changes remove it",
    ),
    "partition_field_named_as_a_renamed_one": (
        lambda: two_fields().rename_field("x", "y").add_field("id", "identity", "x"),
        ValidationError,
        "partition field name 'x' is used twice",
    ),
    "partition_field_named_as_a_void_one": (
        lambda: two_fields(version=1).remove_field("x").rename_field("id_bucket", "x").commit(),
        ValidationError,
        "partition field name 'x' is used twice",
    ),
    "partition_field_named_as_a_nested_column": (
        lambda: two_fields().rename_field("x", "key.part").commit(),
        ValidationError,
        "partition field name 'key.part' is a column's name",
    ),
    "partition_field_named_as_another_column": (
        lambda: two_fields().add_field("id", "identity", "key").commit(),
        ValidationError,
        "partition field name 'key' is a column's name",
    ),
    "partition_spec_with_an_unknown_transform": (
        unknown_transform,
        ValidationError,
        r"field 'id_bucket' has the transform round\[4\]",
    ),
    "column_named_as_a_partition_field_of_an_older_spec": (
        schema_after_removed_field,
        ValidationError,
        "partition field name 'id_bucket' is a column's name",
    ),
    "sort_source_unknown": (
        lambda: created(order=SortOrder(SortField(9))),
        ValidationError,
        r"sort field 9 ASC NULLS FIRST: no column has field id 9; expected one of \[1, 2",
    ),
    "sort_source_not_in_schema": (
        lambda: SortOrder(SortField(9)).check_compatible(SCHEMA),
        ValidationError,
        "no column has field id 9",
    ),
    "identifier_in_optional_struct": (
        lambda: Schema(
            NestedField(1, "s", StructType(NestedField(2, "x", "int", required=True))), identifier_field_ids=[2]
        ),
        ValidationError,
        "nested in an optional field 's'; it must be required",
    ),
    "column_around_an_identifier_dropped": (
        lambda: UpdateSchema(Draft()).delete_column("key"),
        ValidationError,
        "cannot drop column 'key': it contains an identifier field",
    ),
    "default_value_set": (
        lambda: UpdateSchema(Draft()).set_default_value("id", 5),
        FeatureUnsupportedError,
        "cannot set default value 5 of column 'id': default values need format version 3",
    ),
    "union_of_a_struct_and_a_list": (
        lambda: UpdateSchema(Draft()).union_by_name(Schema(NestedField(1, "key", ListType(2, "int")))),
        ValidationError,
        "Cannot change column type: key: struct<.*> -> list<int>",
    ),
    "union_of_a_struct_and_a_primitive": (
        lambda: UpdateSchema(Draft()).union_by_name(Schema(NestedField(1, "key", "int"))),
        ValidationError,
        "Cannot change column type: key",
    ),
    "statistics_of_another_snapshot": (
        lambda: applied(actions.SetStatisticsUpdate(statistics=STATISTICS, snapshot_id=2)),
        ValidationError,
        "cannot set statistics: the file is of snapshot 1, the update of snapshot 2",
    ),
    "unknown_schema_removed": (
        lambda: applied(actions.RemoveSchemasUpdate(schema_ids=[7])),
        ValidationError,
        r"cannot remove schema 7: expected one of \[0\]",
    ),
    "required_branch_missing": (
        lambda: AssertRefSnapshotId(ref="b", snapshot_id=5).validate(Draft().table_metadata),
        CommitFailedException,
        "branch or tag b is missing, expected 5",
    ),
    "requirement_unknown": (
        lambda: requirement_from_json({"type": "assert-weather"}),
        ValidationError,
        "table requirement is not valid",
    ),
    "name_mapping_of_wrong_types": (
        lambda: parse_mapping_from_json('[{"field-id": "one", "names": ["id"]}]'),
        ValidationError,
        "name mapping is not valid",
    ),
    "element_id_as_text": (
        lambda: ListType("1", "int"),  # type: ignore[arg-type]
        ValidationError,
        "type: `element_id` must be an integer, got '1'",
    ),
    "element_missing": (
        lambda: ListType(1),
        ValidationError,
        "list with element id 1: the element type is missing",
    ),
    "field_id_beyond_32_bits": (
        lambda: field_from_json({"id": 2**31, "name": "x", "required": True, "type": "int"}),
        ValidationError,
        "must be a 32-bit integer",
    ),
    "field_property_unknown": (
        lambda: NestedField(1, "x", "int", colour="red"),
        ValidationError,
        "unknown properties of a field: colour",
    ),
    "field_name_as_number": (
        lambda: NestedField(1, 5, "int"),  # type: ignore[arg-type]
        ValidationError,
        "field 1: the name must be text, got 5",
    ),
    "field_as_text": (lambda: field_from_json("id"), ValidationError, "field JSON: expected an object, got 'id'"),
    "doc_as_number": (
        lambda: field_from_json({"id": 1, "name": "x", "required": True, "type": "int", "doc": 5}),
        ValidationError,
        "`doc` of field 'x' must be text, got 5",
    ),
    "type_of_another_class": (
        lambda: StructType.model_validate("string"),
        ValidationError,
        "expected a StructType, got StringType",
    ),
    "type_of_a_later_version": (
        lambda: type_from_json("frob"),
        FeatureUnsupportedError,
        "type 'frob' is not supported",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_rule_is_refused_by_name(name: str) -> None:
    act, error, message = REFUSALS[name]
    with pytest.raises(error, match=message):
        act()


def test_update_of_a_later_protocol_is_unsupported() -> None:
    class Later(actions.RemoveSchemasUpdate):
        """An update that this version has no rule for."""

    with pytest.raises(FeatureUnsupportedError, match="'remove-schemas' is not supported"):
        applied(Later(schema_ids=[1]))
