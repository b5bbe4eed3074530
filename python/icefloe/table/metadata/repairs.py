"""Deviations among the parts of table metadata that lose nothing: repaired where a commit would go wrong, and read with a warning.

Each function adds one sentence for each deviation to `notes`. Metadata that follows the specification is returned unchanged.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from icefloe.table.environment import SYSTEM
from icefloe.table.sorting import UNSORTED_SORT_ORDER, UNSORTED_SORT_ORDER_ID
from icefloe.transforms import VoidTransform

if TYPE_CHECKING:
    from icefloe.table.metadata.table_metadata import TableMetadata

# The difference between the clocks of writers that the Java reference tolerates.
CLOCK_TOLERANCE_MS = 60_000
REQUIRED = ("last_column_id", "last_partition_id", "default_sort_order_id")
"""Repaired attributes that requirements of commits name."""


def with_safe_counters(metadata: TableMetadata, notes: list[str]) -> TableMetadata:
    """Return the metadata with counters that no later commit repeats, and without a sort order that cannot be applied."""
    changes = {
        **_safe_column_id(metadata, notes),
        **_safe_partition_id(metadata, notes),
        **_safe_time(metadata, notes),
        **_usable_sort_order(metadata, notes),
    }
    if not changes:
        return metadata
    stated = {name: getattr(metadata, name) for name in REQUIRED if name in changes}
    return metadata.with_(**changes).with_repaired(stated)


def _safe_column_id(metadata: TableMetadata, notes: list[str]) -> dict[str, Any]:
    highest = max(schema.highest_field_id for schema in metadata.schemas)
    if metadata.last_column_id >= highest:
        return {}
    notes.append(
        f"`last-column-id` is {metadata.last_column_id}, but `schemas` has field id {highest}, which is read so that no id is used twice"
    )
    return {"last_column_id": highest}


def _safe_partition_id(metadata: TableMetadata, notes: list[str]) -> dict[str, Any]:
    highest = max(spec.last_assigned_field_id for spec in metadata.partition_specs)
    if metadata.last_partition_id >= highest:
        return {}
    # DuckDB writes 0 for a table without partition fields; the counter is raised all the same, so that ids start at 1000.
    if any(len(spec) > 0 for spec in metadata.partition_specs):
        notes.append(
            f"`last-partition-id` is {metadata.last_partition_id}, but `partition-specs` has field id {highest}, which is read so that "
            "no id is used twice"
        )
    return {"last_partition_id": highest}


def _safe_time(metadata: TableMetadata, notes: list[str]) -> dict[str, Any]:
    times = [*metadata.snapshot_log.column("timestamp-ms")[-1:], *metadata.metadata_log.column("timestamp-ms")[-1:]]
    if not times or metadata.last_updated_ms >= max(times) - CLOCK_TOLERANCE_MS:
        return {}
    notes.append(
        f"`last-updated-ms` {metadata.last_updated_ms} is before the last entry of `snapshot-log` or `metadata-log`, {max(times)}"
    )
    return {"last_updated_ms": max(times)}


def _usable_sort_order(metadata: TableMetadata, notes: list[str]) -> dict[str, Any]:
    missing = _missing_sort_column(metadata)
    if missing is None:
        return {}
    notes.append(
        f"sort order {metadata.default_sort_order_id} has `source-id` {missing}, which is no column of the current schema; the table is "
        "taken to be unsorted"
    )
    changes: dict[str, Any] = {"default_sort_order_id": UNSORTED_SORT_ORDER_ID}
    if metadata.sort_order_by_id(UNSORTED_SORT_ORDER_ID) is None:
        changes["sort_orders"] = (UNSORTED_SORT_ORDER, *metadata.sort_orders)
    return changes


def _missing_sort_column(metadata: TableMetadata) -> int | None:
    """Return a source column of the default sort order that was dropped, which PyIceberg allows; None if there is none."""
    columns = metadata.schema().field_ids
    return next((key.source_id for key in metadata.sort_order().fields if key.source_id not in columns), None)


def note_harmless(metadata: TableMetadata, notes: list[str]) -> None:
    """Add a sentence for each deviation that changes nothing in what is read."""
    _note_logs(metadata, notes)
    _note_snapshots(metadata, notes)
    columns = metadata.schema().field_ids
    notes += [
        f"partition field {field.name!r} of `default-spec-id` {metadata.default_spec_id} has `source-id` {field.source_id}, which is no "
        "column of the current schema; rows can be read, and written after update_spec().remove_field()"
        for field in metadata.spec().fields
        if field.source_id not in columns and not isinstance(field.transform, VoidTransform)
    ]
    now = SYSTEM.now_ms()
    if metadata.last_updated_ms > now + CLOCK_TOLERANCE_MS:
        notes.append(
            f"`last-updated-ms` {metadata.last_updated_ms} is in the future (now {now}); expected milliseconds since 1970-01-01 UTC. "
            "Check the clocks of all writers"
        )


def _note_logs(metadata: TableMetadata, notes: list[str]) -> None:
    for key, log in (("snapshot-log", metadata.snapshot_log), ("metadata-log", metadata.metadata_log)):
        times = log.column("timestamp-ms")
        if any(later < earlier - CLOCK_TOLERANCE_MS for earlier, later in pairwise(times)):
            notes.append(
                f"`{key}` is not ordered by `timestamp-ms`, as clocks that differ leave it; time travel uses its order"
            )
    heads = metadata.snapshot_log.column("snapshot-id")
    if heads and metadata.current_snapshot_id is not None and heads[-1] != metadata.current_snapshot_id:
        notes.append(
            f"`snapshot-log` ends with snapshot {heads[-1]}, but `current-snapshot-id` is {metadata.current_snapshot_id}, which is read"
        )


def _note_snapshots(metadata: TableMetadata, notes: list[str]) -> None:
    snapshots = metadata.snapshots
    schema_ids = {schema.schema_id for schema in metadata.schemas}
    unknown = set(snapshots.column("schema-id")) - schema_ids - {None}
    if unknown:
        notes.append(
            f"`snapshots` has `schema-id` {min(unknown)}, which is not in `schemas`; time travel to such a snapshot uses the current schema"
        )
    numbers = dict(zip(snapshots.column("snapshot-id"), snapshots.column("sequence-number", 0), strict=True))
    for snapshot_id, parent in zip(numbers, snapshots.column("parent-snapshot-id"), strict=True):
        number = numbers[snapshot_id]
        if number > 0 and number <= numbers.get(parent, -1):
            notes.append(
                f"snapshot {snapshot_id} has `sequence-number` {number}, not above its parent's {numbers[parent]}; equality deletes may not "
                "apply to rows that they were meant for"
            )
            break
