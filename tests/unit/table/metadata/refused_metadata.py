"""Metadata that breaks a rule and is refused: one case for each rule, with what the Java reference does."""

from __future__ import annotations

from tests.unit.table.metadata.wrong_metadata import (
    ABSENT,
    BASE,
    SCHEMA,
    SORT_KEY,
    SPEC_FIELD,
    Case,
    column,
    schema,
    spec,
)

REFUSED = [
    # types
    Case("format_version_as_text", ("`format-version`", "'2'"), keys={"format-version": "2"}),
    Case("format_version_as_float", ("`format-version`", "2.5"), keys={"format-version": 2.5}),
    Case("format_version_zero", ("`format-version`", "0"), keys={"format-version": 0}),
    Case("format_version_missing", ("`format-version`",), keys={"format-version": ABSENT}),
    Case("number_as_text", ("`last-column-id`", "'4'"), keys={"last-column-id": "4"}),
    Case("number_as_float", ("`last-column-id`", "4.5"), keys={"last-column-id": 4.5}),
    Case("number_as_boolean", ("`last-column-id`", "True"), keys={"last-column-id": True}),
    Case("number_too_large", ("`last-updated-ms`", str(2**63)), keys={"last-updated-ms": 2**63}),
    Case("uuid_missing", ("missing", "`table-uuid`"), keys={"table-uuid": ABSENT}),
    Case("uuid_malformed", ("`table-uuid`", "'abc'"), True, keys={"table-uuid": "abc"}),
    Case("location_missing", ("missing", "`location`"), keys={"location": ABSENT}),
    Case("location_empty", ("`location` is empty",), keys={"location": ""}),
    Case("location_as_number", ("`location`", "5"), keys={"location": 5}),
    Case("property_as_list", ("`properties.a`", "string", "[1]"), keys={"properties": {"a": [1]}}),
    Case("property_null", ("`properties.a`", "string", "None"), keys={"properties": {"a": None}}),
    Case("properties_as_list", ("`properties`", "[]"), keys={"properties": []}),
    Case("encryption_keys_as_text", ("`encryption-keys`", "'k'"), keys={"encryption-keys": "k"}),
    Case("last_updated_missing", ("missing", "`last-updated-ms`"), keys={"last-updated-ms": ABSENT}),
    Case("last_updated_negative", ("`last-updated-ms`", "-5"), keys={"last-updated-ms": -5}),
    # schemas
    Case("schemas_missing", ("missing", "`schemas`"), keys={"schemas": ABSENT}),
    Case("schemas_empty", ("`current-schema-id` 0 is not in `schemas`",), keys={"schemas": []}),
    Case("current_schema_unknown", ("`current-schema-id` 9 is not in `schemas`", "[0]"), keys={"current-schema-id": 9}),
    Case("schema_id_twice", ("`schemas`", "`schema-id` 0 twice"), keys={"schemas": [SCHEMA, SCHEMA]}),
    Case(
        "schema_id_negative",
        ("`schemas`", "`schema-id`", "-3"),
        True,
        keys={"schemas": [SCHEMA, schema(**{"schema-id": -3})]},
    ),
    Case("field_id_twice", ("1", "id", "again"), keys={"schemas": [schema(column(1, "again"))]}),
    Case("field_name_twice", ("id",), keys={"schemas": [schema(column(5, "id"))]}),
    Case("field_id_negative", ("field id", "-1"), True, keys={"schemas": [schema(column(-1, "n"))]}),
    Case("field_id_reserved", ("field id", "2147483646"), True, keys={"schemas": [schema(column(2147483646, "n"))]}),
    Case("identifier_field_unknown", ("9",), keys={"schemas": [schema(**{"identifier-field-ids": [9]})]}),
    Case("identifier_field_optional", ("required",), keys={"schemas": [schema(**{"identifier-field-ids": [2]})]}),
    Case(
        "type_unknown",
        ("decimal(99, 2)",),
        keys={"schemas": [schema({"id": 5, "name": "x", "required": False, "type": "decimal(99, 2)"})]},
    ),
    # partition specs
    Case("specs_missing", ("missing", "`partition-specs`"), keys={"partition-specs": ABSENT}),
    Case(
        "default_spec_unknown", ("`default-spec-id` 9 is not in `partition-specs`",), True, keys={"default-spec-id": 9}
    ),
    Case(
        "spec_id_twice",
        ("`partition-specs`", "`spec-id` 0 twice"),
        keys={"partition-specs": [BASE["partition-specs"][0], spec(0)]},
    ),
    Case(
        "partition_field_id_twice",
        ("`field-id` 1000 twice",),
        True,
        keys={"partition-specs": [spec(0, SPEC_FIELD, {**SPEC_FIELD, "name": "y", "transform": "year"})]},
    ),
    Case(
        "partition_name_twice",
        ("`name` 'day' twice",),
        keys={
            "partition-specs": [spec(0, SPEC_FIELD, {**SPEC_FIELD, "field-id": 1001, "source-id": 1})],
            "last-partition-id": 1001,
        },
    ),
    Case(
        "partition_source_in_list",
        ("`source-id` 4", "inside a list"),
        keys={"partition-specs": [spec(0, {**SPEC_FIELD, "source-id": 4, "name": "tag"})]},
    ),
    Case(
        "partition_source_as_text",
        ("source-id", "'2'"),
        keys={"partition-specs": [spec(0, {**SPEC_FIELD, "source-id": "2"})]},
    ),
    # sort orders
    Case(
        "default_sort_order_unknown",
        ("`default-sort-order-id` 9 is not in `sort-orders`",),
        True,
        keys={"default-sort-order-id": 9},
    ),
    Case(
        "sort_order_id_twice",
        ("`sort-orders`", "`order-id` 1 twice"),
        keys={"sort-orders": [BASE["sort-orders"][0], BASE["sort-orders"][0]]},
    ),
    Case(
        "sort_order_0_with_keys",
        ("`sort-orders` entry 0 has keys",),
        keys={"sort-orders": [*BASE["sort-orders"], {"order-id": 0, "fields": [SORT_KEY]}]},
    ),
    Case(
        "sort_direction_unknown",
        ("direction", "'up'"),
        keys={"sort-orders": [{"order-id": 1, "fields": [{**SORT_KEY, "direction": "up"}]}]},
    ),
    # snapshots
    Case("snapshots_as_object", ("`snapshots`", "must be a list"), keys={"snapshots": {}}),
    Case("snapshot_id_missing", ("`snapshot-id` of entry 1 is missing",), snapshot={"snapshot-id": ABSENT}),
    Case("snapshot_id_as_text", ("`snapshot-id` of entry 1", "'1002'"), snapshot={"snapshot-id": "1002"}),
    Case(
        "snapshot_id_minus_one",
        ("`snapshot-id` -1",),
        True,
        keys={"current-snapshot-id": 1001, "refs": ABSENT},
        snapshot={"snapshot-id": -1},
    ),
    Case(
        "parent_id_too_large", ("`parent-snapshot-id`", "64 bits", str(2**63)), snapshot={"parent-snapshot-id": 2**63}
    ),
    Case("snapshot_time_too_large", ("`timestamp-ms`", "64 bits", str(2**70)), snapshot={"timestamp-ms": 2**70}),
    Case("snapshot_schema_id_too_large", ("`schema-id`", "32 bits", str(2**31)), snapshot={"schema-id": 2**31}),
    Case(
        "log_time_too_large",
        ("`metadata-log`", "64 bits"),
        keys={"metadata-log": [{"metadata-file": "x", "timestamp-ms": 2**63}]},
    ),
    Case("column_id_too_large", ("`last-column-id`", str(2**31)), keys={"last-column-id": 2**31}),
    Case("snapshot_id_twice", ("`snapshots` contains an id twice", "1001"), snapshot={"snapshot-id": 1001}),
    Case("timestamp_missing", ("`timestamp-ms` of entry 1 is missing",), snapshot={"timestamp-ms": ABSENT}),
    Case("timestamp_negative", ("snapshot 1002", "`timestamp-ms`", "-1"), True, snapshot={"timestamp-ms": -1}),
    Case(
        "sequence_number_negative", ("snapshot 1002", "`sequence-number`", "-1"), True, snapshot={"sequence-number": -1}
    ),
    Case(
        "manifests_unknown",
        ("snapshot 1002", "neither `manifest-list` nor `manifests`"),
        snapshot={"manifest-list": ABSENT},
    ),
    Case("own_parent", ("snapshot 1002 has itself",), True, snapshot={"parent-snapshot-id": 1002}),
    Case("summary_as_text", ("`summary` of entry 1",), snapshot={"summary": "append"}),
    # current snapshot and refs
    Case(
        "current_snapshot_unknown", ("`current-snapshot-id` 9 is not in `snapshots`",), keys={"current-snapshot-id": 9}
    ),
    Case(
        "current_snapshot_without_snapshots",
        ("`current-snapshot-id` 1002 is not in `snapshots`",),
        keys={"snapshots": [], "refs": ABSENT},
    ),
    Case("main_elsewhere", ("main is at snapshot 1002", "1001"), keys={"current-snapshot-id": 1001}),
    Case("main_without_current", ("main is at snapshot 1002", "None"), keys={"current-snapshot-id": -1}),
    Case("main_is_a_tag", ("'main' is a tag",), True, keys={"refs": {"main": {"snapshot-id": 1002, "type": "tag"}}}),
    Case(
        "ref_of_missing_snapshot",
        ("`refs` entry 'b'", "77"),
        keys={"refs": {**BASE["refs"], "b": {"snapshot-id": 77, "type": "branch"}}},
    ),
    Case(
        "ref_type_unknown",
        ("type", "'twig'"),
        keys={"refs": {**BASE["refs"], "b": {"snapshot-id": 1001, "type": "twig"}}},
    ),
    Case("ref_without_snapshot", ("snapshot-id",), keys={"refs": {**BASE["refs"], "b": {"type": "branch"}}}),
    Case("refs_as_list", ("`refs`",), keys={"refs": []}),
    Case(
        "retention_zero",
        ("max-ref-age-ms", "greater than 0"),
        keys={"refs": {**BASE["refs"], "b": {"snapshot-id": 1001, "type": "branch", "max-ref-age-ms": 0}}},
    ),
    Case(
        "retention_of_a_tag",
        ("min-snapshots-to-keep", "branches"),
        keys={"refs": {**BASE["refs"], "b": {"snapshot-id": 1001, "type": "tag", "min-snapshots-to-keep": 1}}},
    ),
    # logs and statistics
    Case(
        "log_entry_without_time",
        ("`snapshot-log`", "`timestamp-ms` of entry 0"),
        keys={"snapshot-log": [{"snapshot-id": 1002}]},
    ),
    Case(
        "log_file_as_number",
        ("`metadata-log`", "`metadata-file` of entry 0"),
        keys={"metadata-log": [{"metadata-file": 1, "timestamp-ms": 1}]},
    ),
    Case(
        "statistics_without_path",
        ("`statistics-path` is missing",),
        keys={"statistics": [{"snapshot-id": 1002}]},
    ),
]
