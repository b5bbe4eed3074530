"""Procedures that remove snapshots and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.maintenance.orphan_listing import listed_by_executors
from icefloe.spark.maintenance.procedure import Procedure
from icefloe.spark.maintenance.procedure_warnings import warn, warn_of_failed_deletes
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.expiry.expiry_values import young_snapshot_warnings

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows


def _expire_snapshots(caller: Caller, given: Arguments) -> Rows:
    _check_deletes("expire_snapshots", given)
    table = caller.table(given)
    builder = table.maintenance.expire_snapshots()
    if "older_than" in given:
        builder = builder.older_than(given["older_than"])
    if "retain_last" in given:
        builder = builder.retain_last(given["retain_last"])
    if "snapshot_ids" in given:
        # Java ignores ids without a snapshot: a call that expired its snapshots can be repeated.
        known = table.metadata.snapshots.positions().keys()
        builder = builder.by_ids([one for one in given["snapshot_ids"] if one in known])
    times = {one.snapshot_id: one.timestamp_ms for one in table.metadata.snapshots}
    result = builder.clean_expired_metadata(given.get("clean_expired_metadata", False)).execute()
    now_ms = SYSTEM.now_ms()
    ages = [now_ms - times.get(snapshot_id, now_ms) for snapshot_id in result.snapshot_ids]
    warn(young_snapshot_warnings(result.table_name, ages))
    warn(f"{result.table_name}: {location} could not be read: {reason}" for location, reason in result.unread[:1])
    warn_of_failed_deletes(result.table_name, result.deletion.failures)
    return [
        (
            result.deleted_data_files_count,
            result.deleted_position_delete_files_count,
            result.deleted_equality_delete_files_count,
            result.deleted_manifest_files_count,
            result.deleted_manifest_lists_count,
            result.deleted_statistics_files_count,
        )
    ]


def _remove_orphan_files(caller: Caller, given: Arguments) -> Rows:
    _check_deletes("remove_orphan_files", given)
    table = caller.table(given)
    builder = table.maintenance.remove_orphan_files()
    if "older_than" in given:
        builder = builder.older_than(given["older_than"])
    if "location" in given:
        builder = builder.location(given["location"], allow_outside=True)
    builder = builder.equal_schemes(given.get("equal_schemes", {}))
    builder = builder.equal_authorities(given.get("equal_authorities", {}))
    builder = builder.prefix_mismatch_mode(given.get("prefix_mismatch_mode", "error"))
    if "file_list_view" in given:
        builder = builder.inventory(_view(caller, given["file_list_view"]))
    elif caller.spark is not None:
        builder = builder.inventory(listed_by_executors(caller.spark, table, given.get("location")))
    plan = builder.plan()
    warn(plan.warnings)
    if given.get("dry_run", False):
        orphans = plan.orphans.column("location")
    else:
        result = builder.execute(plan)
        warn_of_failed_deletes(result.table_name, result.deletion.failures)
        orphans = result.orphan_file_locations
    return [(location,) for location in orphans.to_pylist()]


def _check_deletes(name: str, given: Arguments) -> None:
    if given.get("max_concurrent_deletes", 1) < 1:
        raise ValidationError(
            f"{name}: max_concurrent_deletes: expected a whole number, 1 or above, got {given['max_concurrent_deletes']}"
        )


def _view(caller: Caller, name: str) -> pa.Table:
    """Return an inventory report that is a view of the session."""
    if caller.spark is None:
        raise ValidationError("remove_orphan_files: file_list_view: expected a view of a session, got no spark=...")
    view: pa.Table = caller.spark.table(name).toArrow()
    return view


_DELETES: dict[str, Any] = {"max_concurrent_deletes": "int", "stream_results": "boolean"}

REMOVAL = {
    "expire_snapshots": Procedure(
        parameters={
            "table": "string",
            "older_than": "timestamp",
            "retain_last": "int",
            **_DELETES,
            "snapshot_ids": "array<bigint>",
            "clean_expired_metadata": "boolean",
        },
        required=("table",),
        returns="deleted_data_files_count bigint, deleted_position_delete_files_count bigint, "
        "deleted_equality_delete_files_count bigint, deleted_manifest_files_count bigint, "
        "deleted_manifest_lists_count bigint, deleted_statistics_files_count bigint",
        run=_expire_snapshots,
    ),
    "remove_orphan_files": Procedure(
        parameters={
            "table": "string",
            "older_than": "timestamp",
            "location": "string",
            "dry_run": "boolean",
            "max_concurrent_deletes": "int",
            "file_list_view": "string",
            "equal_schemes": "map<string,string>",
            "equal_authorities": "map<string,string>",
            "prefix_mismatch_mode": "string",
            "prefix_listing": "boolean",
            "stream_results": "boolean",
        },
        required=("table",),
        returns="orphan_file_location string NOT NULL",
        run=_remove_orphan_files,
        many_rows=True,
    ),
}
"""Procedures by name."""
