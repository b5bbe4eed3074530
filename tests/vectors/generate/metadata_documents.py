"""Table metadata for the reference to parse."""

from __future__ import annotations

import copy
from typing import Any

COLUMN = {"id": 1, "name": "a", "required": False, "type": "int"}
SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [COLUMN, {"id": 2, "name": "at", "required": True, "type": "timestamptz"}],
}
SPEC = {"spec-id": 0, "fields": [{"name": "at_day", "transform": "day", "source-id": 2, "field-id": 1000}]}
ORDER = {
    "order-id": 1,
    "fields": [{"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}],
}
SNAPSHOT = {
    "sequence-number": 1,
    "snapshot-id": 10,
    "timestamp-ms": 1600000000000,
    "summary": {"operation": "append", "added-data-files": "1"},
    "manifest-list": "s3://b/t/metadata/snap-10.avro",
    "schema-id": 0,
}
SECOND = SNAPSHOT | {
    "sequence-number": 2,
    "snapshot-id": 11,
    "parent-snapshot-id": 10,
    "timestamp-ms": 1600000001000,
    "manifest-list": "s3://b/t/metadata/snap-11.avro",
}
LOG = [{"timestamp-ms": 1600000000000, "snapshot-id": 10}, {"timestamp-ms": 1600000001000, "snapshot-id": 11}]
STATISTICS = {
    "snapshot-id": 11,
    "statistics-path": "s3://b/t/metadata/s.puffin",
    "file-size-in-bytes": 413,
    "file-footer-size-in-bytes": 42,
    "blob-metadata": [
        {
            "type": "apache-datasketches-theta-v1",
            "snapshot-id": 11,
            "sequence-number": 2,
            "fields": [1],
            "properties": {"ndv": "7"},
        }
    ],
}
SHARED = {
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://b/t",
    "last-updated-ms": 1600000001000,
    "last-column-id": 2,
}
V2 = {
    "format-version": 2,
    **SHARED,
    "last-sequence-number": 2,
    "current-schema-id": 0,
    "schemas": [SCHEMA],
    "default-spec-id": 0,
    "partition-specs": [SPEC],
    "last-partition-id": 1000,
    "default-sort-order-id": 1,
    "sort-orders": [{"order-id": 0, "fields": []}, ORDER],
    "properties": {"owner": "x"},
    "current-snapshot-id": 11,
    "refs": {"main": {"snapshot-id": 11, "type": "branch"}},
    "snapshots": [SNAPSHOT, SECOND],
    "snapshot-log": LOG,
    "metadata-log": [{"metadata-file": "s3://b/t/metadata/00000-x.metadata.json", "timestamp-ms": 1600000000000}],
}
V1_SNAPSHOT = {key: value for key, value in SNAPSHOT.items() if key != "sequence-number"}
V1 = {
    "format-version": 1,
    **SHARED,
    "schema": SCHEMA,
    "partition-spec": SPEC["fields"],
    "properties": {},
    "current-snapshot-id": 10,
    "snapshots": [V1_SNAPSHOT],
    "snapshot-log": LOG[:1],
}
# Version 1 as writers of version 2 write it: with the lists that version 1 may leave out.
V1_IN_FULL = {
    **V1,
    "schemas": [SCHEMA],
    "current-schema-id": 0,
    "partition-specs": [SPEC],
    "default-spec-id": 0,
    "last-partition-id": 1000,
    "sort-orders": V2["sort-orders"],
    "default-sort-order-id": 1,
    "refs": {"main": {"snapshot-id": 10, "type": "branch"}},
    "statistics": [],
    "partition-statistics": [],
    "metadata-log": [],
}
OPTIONAL_TOGETHER = (
    ("schemas", "current-schema-id"),
    ("partition-specs", "default-spec-id"),
    ("partition-specs", "default-spec-id", "last-partition-id"),
    ("sort-orders", "default-sort-order-id"),
    ("refs", "snapshot-log", "metadata-log"),
    ("snapshots", "current-snapshot-id", "snapshot-log", "refs"),
)
V3 = {**V2, "format-version": 3, "next-row-id": 5}


def without(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return a copy that lacks some keys."""
    return {key: value for key, value in document.items() if key not in keys}


def inside(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with the value at a path of keys and positions replaced; ``...`` removes it."""
    changed: Any = copy.deepcopy(document)
    at, *keys = [int(part) if part.isdigit() else part for part in path.split("/")][::-1]
    target = changed
    for key in reversed(keys):
        target = target[key]
    if value is ...:
        del target[at]
    else:
        target[at] = value
    return changed


def metadata() -> dict[str, Any]:
    """Return table metadata by what is special about it."""
    cases: dict[str, Any] = {"v1": V1, "v2": V2, "v3": V3}
    for version, document in {"v1": V1, "v2": V2, "v3": V3}.items():
        cases |= {f"{version} without {key}": without(document, key) for key in document}
        nulls = ("current-snapshot-id", "refs", "snapshots", "snapshot-log", "metadata-log", "properties", "table-uuid")
        cases |= {f"{version} with {key} null": {**document, key: None} for key in nulls}
    cases |= {f"v2 snapshot without {key}": inside(V2, f"snapshots/1/{key}", ...) for key in SECOND}
    cases |= {f"v2 snapshot with {key} null": inside(V2, f"snapshots/1/{key}", None) for key in SECOND}
    cases |= {f"v1 in full without {key}": without(V1_IN_FULL, key) for key in V1_IN_FULL if key != "format-version"}
    cases |= {f"v1 in full without {', '.join(keys)}": without(V1_IN_FULL, *keys) for keys in OPTIONAL_TOGETHER}
    lists = ("schemas", "partition-specs", "sort-orders", "snapshots")
    cases |= {f"v1 in full with {key} empty": {**V1_IN_FULL, key: []} for key in lists}
    tag = {"snapshot-id": 10, "type": "tag", "max-ref-age-ms": 5}
    branch = {
        "snapshot-id": 10,
        "type": "branch",
        "min-snapshots-to-keep": 2,
        "max-snapshot-age-ms": 3,
        "max-ref-age-ms": 4,
    }
    return cases | {
        "v1 in full": V1_IN_FULL,
        "v1 schema without an id": inside(V1, "schema/schema-id", ...),
        "v1 schema with an id": inside(V1, "schema/schema-id", 3),
        "v1 never written to": without(V1, "snapshots", "snapshot-log", "current-snapshot-id", "properties"),
        "v1 unpartitioned": {**V1, "partition-spec": []},
        "v1 with schemas": {**V1, "schemas": [SCHEMA], "current-schema-id": 0},
        "v1 with schemas alone": {**without(V1, "schema"), "schemas": [SCHEMA], "current-schema-id": 0},
        "v1 with specs": {**V1, "partition-specs": [SPEC], "default-spec-id": 0, "last-partition-id": 1000},
        "v1 with inline manifests": inside(
            inside(V1, "snapshots/0/manifests", ["s3://b/t/m0.avro"]), "snapshots/0/manifest-list", ...
        ),
        "v1 without summary": inside(V1, "snapshots/0/summary", ...),
        "v1 fields without ids": inside(V1, "partition-spec/0/field-id", ...),
        "no snapshot": {**V2, "current-snapshot-id": -1, "refs": {}, "snapshots": [], "snapshot-log": []},
        "current snapshot absent and refs absent": without({**V2, "current-snapshot-id": -1}, "refs"),
        "refs disagree with the current snapshot": {**V2, "refs": {"main": {"snapshot-id": 10, "type": "branch"}}},
        "a ref to nowhere": {**V2, "refs": {**V2["refs"], "x": {"snapshot-id": 99, "type": "tag"}}},
        "tags and branches": {**V2, "refs": {**V2["refs"], "t": tag, "b": branch}},
        "type in capitals": {**V2, "refs": {**V2["refs"], "t": {**tag, "type": "TAG"}}},
        "a tag with branch keys": {**V2, "refs": {**V2["refs"], "t": {**branch, "type": "tag"}}},
        "retention 0": {**V2, "refs": {**V2["refs"], "t": {**tag, "max-ref-age-ms": 0}}},
        "unknown current snapshot": {**without(V2, "refs"), "current-snapshot-id": 99},
        "unknown current schema": {**V2, "current-schema-id": 9},
        "unknown default spec": {**V2, "default-spec-id": 9},
        "unknown default order": {**V2, "default-sort-order-id": 9},
        "snapshot beyond the last sequence number": {**V2, "last-sequence-number": 1},
        "v1 with a sequence number": {**V1, "last-sequence-number": 1},
        "log out of order": {**V2, "snapshot-log": [{**LOG[0], "timestamp-ms": 1600000090000}, LOG[1]]},
        "log out of order within a minute": {**V2, "snapshot-log": [{**LOG[0], "timestamp-ms": 1600000011000}, LOG[1]]},
        "last update before the log": {**V2, "last-updated-ms": 1599999000000},
        "location with a slash": {**V2, "location": "s3://b/t/"},
        "number as property": {**V2, "properties": {"a": 1}},
        "number as summary value": inside(V2, "snapshots/0/summary/added-data-files", 1),
        "summary without operation": inside(V2, "snapshots/0/summary", {"added-data-files": "1"}),
        "fractional number": {**V2, "last-column-id": 2.0},
        "text number": {**V2, "last-column-id": "2"},
        "format version 0": {**V2, "format-version": 0},
        "format version 9": {**V2, "format-version": 9},
        "text version": {**V2, "format-version": "2"},
        "unknown key": {**V2, "colour": "red"},
        "statistics": {**V2, "statistics": [STATISTICS]},
        "statistics of no snapshot": {**V2, "statistics": [{**STATISTICS, "snapshot-id": 99}]},
        "partition statistics": {
            **V2,
            "partition-statistics": [
                {"snapshot-id": 11, "statistics-path": "s3://b/t/p.parquet", "file-size-in-bytes": 9}
            ],
        },
        "v2 with the fields of v1": {**V2, "schema": SCHEMA, "partition-spec": SPEC["fields"]},
        "old spec over a dropped column": {
            **V2,
            "partition-specs": [
                SPEC,
                {"spec-id": 1, "fields": [{"name": "x", "transform": "identity", "source-id": 99, "field-id": 1001}]},
            ],
            "last-partition-id": 1001,
        },
        "default spec over a dropped column": inside(V2, "partition-specs/0/fields/0/source-id", 99),
        "old order over a dropped column": {
            **V2,
            "sort-orders": [
                *V2["sort-orders"],
                {**ORDER, "order-id": 2, "fields": [{**ORDER["fields"][0], "source-id": 99}]},
            ],
        },
        "unknown transform": inside(V2, "partition-specs/0/fields/0/transform", "zorder"),
        "duplicate snapshots": {**V2, "snapshots": [SNAPSHOT, SECOND, SECOND]},
        "metadata is a list": [],
    }
