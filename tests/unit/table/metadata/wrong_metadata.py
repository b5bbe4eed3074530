"""Metadata that is valid JSON and breaks a rule: one case for each rule, with what icefloe and the Java reference do."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

BASE: dict[str, Any] = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "file:/t",
    "last-sequence-number": 2,
    "last-updated-ms": 1_700_000_000_002,
    "last-column-id": 4,
    "current-schema-id": 0,
    "schemas": [
        {
            "type": "struct",
            "schema-id": 0,
            "fields": [
                {"id": 1, "name": "id", "required": True, "type": "long"},
                {"id": 2, "name": "day", "required": False, "type": "date"},
                {
                    "id": 3,
                    "name": "tags",
                    "required": False,
                    "type": {"type": "list", "element-id": 4, "element": "string", "element-required": False},
                },
            ],
        }
    ],
    "default-spec-id": 0,
    "partition-specs": [
        {"spec-id": 0, "fields": [{"source-id": 2, "field-id": 1000, "name": "day", "transform": "identity"}]}
    ],
    "last-partition-id": 1000,
    "default-sort-order-id": 1,
    "sort-orders": [
        {
            "order-id": 1,
            "fields": [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}],
        }
    ],
    "properties": {"owner": "me"},
    "current-snapshot-id": 1002,
    "refs": {"main": {"snapshot-id": 1002, "type": "branch"}, "old": {"snapshot-id": 1001, "type": "tag"}},
    "snapshots": [
        {
            "snapshot-id": 1001,
            "sequence-number": 1,
            "timestamp-ms": 1_700_000_000_001,
            "manifest-list": "file:/t/metadata/snap-1.avro",
            "summary": {"operation": "append"},
            "schema-id": 0,
        },
        {
            "snapshot-id": 1002,
            "parent-snapshot-id": 1001,
            "sequence-number": 2,
            "timestamp-ms": 1_700_000_000_002,
            "manifest-list": "file:/t/metadata/snap-2.avro",
            "summary": {"operation": "append"},
            "schema-id": 0,
        },
    ],
    "statistics": [],
    "partition-statistics": [],
    "snapshot-log": [
        {"snapshot-id": 1001, "timestamp-ms": 1_700_000_000_001},
        {"snapshot-id": 1002, "timestamp-ms": 1_700_000_000_002},
    ],
    "metadata-log": [{"metadata-file": "file:/t/metadata/v1.metadata.json", "timestamp-ms": 1_700_000_000_001}],
}
ABSENT = object()
SCHEMA = BASE["schemas"][0]
SPEC_FIELD = BASE["partition-specs"][0]["fields"][0]
SORT_KEY = BASE["sort-orders"][0]["fields"][0]
STATISTICS = {
    "snapshot-id": 77,
    "statistics-path": "file:/t/metadata/77.stats",
    "file-size-in-bytes": 9,
    "file-footer-size-in-bytes": 4,
    "blob-metadata": [],
}


@dataclass(frozen=True)
class Case:
    """One change of the base, and its consequences.

    Attributes:
        says: Parts of the error or of the warning; none for metadata that is read silently.
        java: Whether the Java reference reads the metadata.
        keys: Top-level keys and their new values.
        snapshot: Keys of the second snapshot and their new values.
    """

    name: str
    says: tuple[str, ...] = ()
    java: bool = False
    keys: dict[str, Any] = field(default_factory=dict)
    snapshot: dict[str, Any] = field(default_factory=dict)

    def value(self) -> dict[str, Any]:
        """Return the JSON object of the case."""
        value = copy.deepcopy(BASE)
        _change(value, self.keys)
        if self.snapshot:
            _change(value["snapshots"][1], self.snapshot)
        return value


def _change(target: dict[str, Any], changes: dict[str, Any]) -> None:
    for key, value in changes.items():
        if value is ABSENT:
            target.pop(key, None)
        else:
            target[key] = value


def schema(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**SCHEMA, "fields": [*SCHEMA["fields"], *fields], **more}


def column(field_id: int, name: str) -> dict[str, Any]:
    return {"id": field_id, "name": name, "required": False, "type": "int"}


def spec(spec_id: int, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"spec-id": spec_id, "fields": list(fields)}
