"""Metadata that breaks a rule and is read, with a warning or without: one case for each rule, with what the Java reference does."""

from __future__ import annotations

from tests.unit.table.metadata.wrong_metadata import (
    ABSENT,
    BASE,
    SORT_KEY,
    SPEC_FIELD,
    STATISTICS,
    Case,
    spec,
)

WARNED = [
    Case("property_as_number", ("`properties.a` is 1", "read as text"), keys={"properties": {"a": 1}}),
    Case("property_as_boolean", ("`properties.a` is true",), keys={"properties": {"a": True, "b": "x"}}),
    Case("properties_as_numbers", ("`properties.a` is 0.5", "1 more"), keys={"properties": {"a": 0.5, "b": -1}}),
    Case(
        "current_snapshot_missing", ("`current-snapshot-id` is missing", "1002"), keys={"current-snapshot-id": ABSENT}
    ),
    Case(
        "main_missing",
        ("`refs` has no branch main",),
        True,
        keys={"refs": {"old": {"snapshot-id": 1001, "type": "tag"}}},
    ),
    Case("parent_minus_one", ("`parent-snapshot-id` -1",), True, snapshot={"parent-snapshot-id": -1}),
    Case("last_column_id_too_small", ("`last-column-id` is 2", "4"), True, keys={"last-column-id": 2}),
    Case("last_partition_id_too_small", ("`last-partition-id` is 999", "1000"), True, keys={"last-partition-id": 999}),
    Case("last_partition_id_missing", ("`last-partition-id` is missing", "1000"), keys={"last-partition-id": ABSENT}),
    Case("last_sequence_number_too_small", ("`last-sequence-number` is 1", "2"), keys={"last-sequence-number": 1}),
    Case(
        "last_sequence_number_missing",
        ("`last-sequence-number` is missing", "2"),
        keys={"last-sequence-number": ABSENT},
    ),
    Case(
        "sequence_number_not_above_parent",
        ("snapshot 1002", "not above its parent's 1"),
        True,
        snapshot={"sequence-number": 1},
    ),
    Case(
        "sort_orders_missing",
        ("`sort-orders` is missing",),
        keys={"sort-orders": ABSENT, "default-sort-order-id": ABSENT},
    ),
    Case(
        "unsorted_order_1",
        ("`sort-orders` has order 1 without keys",),
        keys={"sort-orders": [{"order-id": 1, "fields": []}]},
    ),
    Case(
        "sort_column_missing",
        ("sort order 1", "`source-id` 9", "unsorted"),
        keys={"sort-orders": [{"order-id": 1, "fields": [{**SORT_KEY, "source-id": 9}]}]},
    ),
    Case(
        "partition_column_missing",
        ("partition field 'gone'", "`source-id` 9"),
        keys={"partition-specs": [spec(0, {**SPEC_FIELD, "source-id": 9, "name": "gone"})]},
    ),
    Case("schema_of_snapshot_unknown", ("`schema-id` 9",), True, snapshot={"schema-id": 9}),
    Case("last_updated_before_log", ("`last-updated-ms` 5 is before",), keys={"last-updated-ms": 5}),
    Case("last_updated_in_future", ("in the future",), True, keys={"last-updated-ms": 9_999_999_999_999}),
    Case(
        "snapshot_log_unordered",
        ("`snapshot-log` is not ordered",),
        keys={
            "snapshot-log": [
                {"snapshot-id": 1001, "timestamp-ms": 1_700_000_000_000},
                {"snapshot-id": 1002, "timestamp-ms": 1_600_000_000_000},
            ]
        },
    ),
    Case(
        "snapshot_log_ends_elsewhere",
        ("`snapshot-log` ends with snapshot 1001",),
        True,
        keys={"snapshot-log": [{"snapshot-id": 1001, "timestamp-ms": 1_700_000_000_001}]},
    ),
    Case(
        "metadata_log_unordered",
        ("`metadata-log` is not ordered",),
        keys={
            "metadata-log": [
                {"metadata-file": "file:/t/metadata/v1.metadata.json", "timestamp-ms": 1_700_000_000_000},
                {"metadata-file": "file:/t/metadata/v2.metadata.json", "timestamp-ms": 1_600_000_000_000},
            ]
        },
    ),
]

READ = [
    Case("base", java=True),
    Case("unknown_key", java=True, keys={"of-the-future": {"a": 1}}),
    Case(
        "current_snapshot_of_an_empty_table",
        java=True,
        keys={"current-snapshot-id": -1, "snapshots": [], "refs": {}, "snapshot-log": []},
    ),
    Case("refs_missing", java=True, keys={"refs": ABSENT}),
    Case("logs_missing", java=True, keys={"snapshot-log": ABSENT, "metadata-log": ABSENT}),
    Case("properties_missing", java=True, keys={"properties": ABSENT}),
    Case("statistics_of_a_missing_snapshot", java=True, keys={"statistics": [STATISTICS]}),
    Case("parent_expired", java=True, snapshot={"parent-snapshot-id": 77}),
    Case(
        "log_of_an_expired_snapshot",
        java=True,
        keys={"snapshot-log": [{"snapshot-id": 77, "timestamp-ms": 1}, *BASE["snapshot-log"]]},
    ),
    Case("summary_missing", java=True, snapshot={"summary": ABSENT}),
    Case("operation_missing", java=True, snapshot={"summary": {"added-records": "1"}}),
    Case(
        "snapshot_id_negative",
        java=True,
        keys={"current-snapshot-id": 1001, "refs": ABSENT, "snapshot-log": []},
        snapshot={"snapshot-id": -7},
    ),
    Case("log_within_a_minute", java=True, keys={"last-updated-ms": 1_699_999_960_000}),
    Case(
        "column_of_an_old_spec_missing",
        java=True,
        keys={"partition-specs": [BASE["partition-specs"][0], spec(1, {**SPEC_FIELD, "source-id": 9, "name": "gone"})]},
    ),
    Case(
        "column_of_an_old_sort_order_missing",
        java=True,
        keys={"sort-orders": [*BASE["sort-orders"], {"order-id": 2, "fields": [{**SORT_KEY, "source-id": 9}]}]},
    ),
    Case(
        "transform_unknown",
        java=True,
        keys={"partition-specs": [spec(0, {**SPEC_FIELD, "name": "z", "transform": "zorder"})]},
    ),
    Case("encryption_keys", java=True, keys={"encryption-keys": []}),
]
