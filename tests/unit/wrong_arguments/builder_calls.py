"""Right arguments of the builders of a table's metadata, of a transaction, and of the maintenance verbs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
from icefloe.table.sorting import NullOrder

from tests.unit.wrong_arguments.table_calls import HEAD, head, method, partition_statistics, statistics
from tests.unit.wrong_arguments.walk import FromSubject


def schema_update(table: Any) -> Any:
    return table.update_schema(allow_incompatible_changes=True)


def spec_update(table: Any) -> Any:
    return table.update_spec()


def order_update(table: Any) -> Any:
    return table.update_sort_order()


def parent(table: Any) -> int:
    return int(table.current_snapshot().parent_snapshot_id)


PARENT = FromSubject(parent)


def with_branch(table: Any) -> Any:
    return table.manage_snapshots().create_branch(head(table), "b").create_tag(head(table), "t")


SCHEMA_UPDATES = {
    "UpdateSchema.add_column": method(
        "add_column", "c", "int", doc="x", required=False, of=schema_update, then=lambda b: b
    ),
    "UpdateSchema.add_required_column": method("add_column", ("c",), "int", required=True, of=schema_update),
    "UpdateSchema.case_sensitive": method("case_sensitive", True, of=schema_update),
    "UpdateSchema.delete_column": method("delete_column", "name", of=schema_update),
    "UpdateSchema.make_column_optional": method("make_column_optional", "id", of=schema_update),
    "UpdateSchema.move_after": method("move_after", "id", "name", of=schema_update),
    "UpdateSchema.move_before": method("move_before", "name", "id", of=schema_update),
    "UpdateSchema.move_first": method("move_first", "name", of=schema_update),
    "UpdateSchema.rename_column": method("rename_column", "name", "title", of=schema_update),
    "UpdateSchema.set_identifier_fields": method("set_identifier_fields", "id", of=schema_update),
    "UpdateSchema.union_by_name": method("union_by_name", pa.schema([("c", pa.int32())]), of=schema_update),
    "UpdateSchema.update_column": method(
        "update_column", "name", field_type="string", required=False, doc="x", of=schema_update
    ),
}

SPEC_UPDATES = {
    "UpdateSpec.add_field": method("add_field", "id", "bucket[8]", "b", of=spec_update),
    "UpdateSpec.add_identity": method("add_identity", "id", of=spec_update),
    "UpdateSpec.remove_field": method("remove_field", "part", of=spec_update),
    "UpdateSpec.rename_field": method("rename_field", "part", "key", of=spec_update),
    "UpdateSortOrder.asc": method("asc", "id", "bucket[4]", NullOrder.NULLS_FIRST, of=order_update),
    "UpdateSortOrder.desc": method("desc", "id", None, NullOrder.NULLS_LAST, of=order_update),
}

SNAPSHOT_UPDATES = {
    f"ManageSnapshots.{name}": method(name, *args, of=with_branch, **kwargs)
    for name, args, kwargs in (
        ("create_tag", (HEAD, "new", 5), {}),
        ("create_branch", (HEAD, "new", 5, 6, 7), {}),
        ("remove_tag", ("t",), {}),
        ("remove_branch", ("b",), {}),
        ("rollback_to_snapshot", (HEAD,), {}),
        ("rollback_to_timestamp", (2**50,), {}),
        ("replace_branch", ("b", HEAD), {}),
        ("replace_tag", ("t", HEAD), {}),
        ("rename_branch", ("b", "c"), {}),
        ("fast_forward", ("b", "main"), {}),
        ("set_min_snapshots_to_keep", ("b", 5), {}),
        ("set_max_snapshot_age_ms", ("b", 5), {}),
        ("set_max_ref_age_ms", ("t", 5), {}),
    )
} | {
    "ManageSnapshots.set_current_snapshot": method(
        "set_current_snapshot", snapshot_id=HEAD, of=with_branch, then=lambda b: b
    ),
    "ManageSnapshots.set_current_ref": method("set_current_snapshot", ref_name="b", of=with_branch, then=lambda b: b),
}

STATISTICS = FromSubject(statistics)
PARTITION_STATISTICS = FromSubject(partition_statistics)
STATISTICS_UPDATES = {
    "UpdateStatistics.set_statistics": method("set_statistics", STATISTICS, of=lambda t: t.update_statistics()),
    "UpdateStatistics.set_partition_statistics": method(
        "set_partition_statistics", PARTITION_STATISTICS, of=lambda t: t.update_statistics()
    ),
    "UpdateStatistics.remove_statistics": method("remove_statistics", HEAD, of=lambda t: t.update_statistics()),
    "UpdateStatistics.remove_partition_statistics": method(
        "remove_partition_statistics", HEAD, of=lambda t: t.update_statistics()
    ),
}


def committed(builder: Any) -> object:
    return builder.commit_transaction()


TRANSACTION = {
    "Transaction.set_properties": method("set_properties", {"a": "b"}, of=lambda t: t.transaction(), then=committed),
    "Transaction.set_properties_by_keyword": method(
        "set_properties", a="b", of=lambda t: t.transaction(), then=committed
    ),
    "Transaction.remove_properties": method("remove_properties", "a", of=lambda t: t.transaction(), then=committed),
    "Transaction.update_location": method(
        "update_location", FromSubject(lambda t: t.location()), of=lambda t: t.transaction(), then=lambda b: b
    ),
    "Transaction.upgrade_table_version": method(
        "upgrade_table_version", 2, of=lambda t: t.transaction(), then=committed
    ),
    "Transaction.update_snapshot": method(
        "update_snapshot",
        snapshot_properties={"a": "b"},
        branch="main",
        of=lambda t: t.transaction(),
        then=lambda b: b.fast_append(),
    ),
    "Transaction.apply_updates": method("apply_updates", (), (), of=lambda t: t.transaction(), then=committed),
}


def expiry(table: Any) -> Any:
    return table.maintenance.expire_snapshots()


def orphans(table: Any) -> Any:
    return table.maintenance.remove_orphan_files()


def rewrite(table: Any) -> Any:
    return table.maintenance.rewrite_data_files()


MAINTENANCE = {
    "maintenance.rewrite_table_path": method(
        "rewrite_table_path",
        FromSubject(lambda t: t.location()),
        "/elsewhere",
        staging_location=FromSubject(lambda t: f"{t.location()}/staging"),
        start_version=None,
        end_version=None,
        of=lambda t: t.maintenance,
    ),
    "maintenance.execute": method("execute", FromSubject(lambda t: expiry(t).plan()), of=lambda t: t.maintenance),
    "ExpireSnapshots.allow_outside": method("allow_outside", True, of=expiry),
    "ExpireSnapshots.by_id": method("by_id", PARENT, of=expiry, then=lambda b: b),
    "ExpireSnapshots.by_ids": method("by_ids", FromSubject(lambda t: [parent(t)]), of=expiry, then=lambda b: b),
    "ExpireSnapshots.clean_expired_metadata": method("clean_expired_metadata", True, of=expiry),
    "ExpireSnapshots.delete_files": method("delete_files", True, of=expiry),
    "ExpireSnapshots.execute": method("execute", FromSubject(lambda t: expiry(t).plan()), of=expiry),
    "ExpireSnapshots.max_ref_age": method("max_ref_age", "7d", of=expiry),
    "ExpireSnapshots.older_than": method("older_than", "7d", of=expiry),
    "ExpireSnapshots.on_progress": method("on_progress", lambda done, total: None, of=expiry),
    "ExpireSnapshots.retain_last": method("retain_last", 1, of=expiry),
    "RemoveOrphanFiles.check_neighbours": method("check_neighbours", True, of=orphans),
    "RemoveOrphanFiles.equal_authorities": method("equal_authorities", {"a": "b"}, of=orphans),
    "RemoveOrphanFiles.equal_schemes": method("equal_schemes", {"s3a": "s3"}, of=orphans),
    "RemoveOrphanFiles.execute": method("execute", FromSubject(lambda t: orphans(t).plan()), of=orphans),
    "RemoveOrphanFiles.force": method("force", True, of=orphans),
    "RemoveOrphanFiles.inventory": method(
        "inventory",
        FromSubject(
            lambda t: pa.table(
                {"location": [], "last_modified": [], "size": []},
                schema=pa.schema(
                    [("location", pa.string()), ("last_modified", pa.timestamp("us", "UTC")), ("size", pa.int64())]
                ),
            )
        ),
        of=orphans,
        then=lambda b: b,
    ),
    "RemoveOrphanFiles.location": method(
        "location", FromSubject(lambda t: t.location()), allow_outside=True, of=orphans
    ),
    "RemoveOrphanFiles.older_than": method("older_than", datetime(2020, 1, 1), of=orphans),
    "RemoveOrphanFiles.on_progress": method("on_progress", lambda done, total: None, of=orphans),
    "RemoveOrphanFiles.prefix_mismatch_mode": method("prefix_mismatch_mode", "error", of=orphans),
    "RewriteDataFiles.branch": method("branch", "main", of=rewrite),
    "RewriteDataFiles.execute": method("execute", FromSubject(lambda t: rewrite(t).plan()), of=rewrite),
    "RewriteDataFiles.filter": method("filter", "id > 0", of=rewrite),
    "RewriteDataFiles.hilbert": method("hilbert", "id", of=rewrite),
    "RewriteDataFiles.options": method("options", min_input_files=5, of=rewrite),
    "RewriteDataFiles.sort": method("sort", "id", of=rewrite),
    "RewriteDataFiles.zorder": method("zorder", "id", of=rewrite),
    "RemoveDanglingDeletes.branch": method("branch", "main", of=lambda t: t.maintenance.remove_dangling_deletes()),
    "RemoveDanglingDeletes.execute": method(
        "execute",
        FromSubject(lambda t: t.maintenance.remove_dangling_deletes().plan()),
        of=lambda t: t.maintenance.remove_dangling_deletes(),
    ),
    "RewritePositionDeletes.branch": method("branch", "main", of=lambda t: t.maintenance.rewrite_position_deletes()),
    "RewritePositionDeletes.filter": method("filter", "id > 0", of=lambda t: t.maintenance.rewrite_position_deletes()),
    "RewritePositionDeletes.options": method(
        "options", min_input_files=5, of=lambda t: t.maintenance.rewrite_position_deletes()
    ),
    "ConvertEqualityDeletes.branch": method("branch", "main", of=lambda t: t.maintenance.convert_equality_deletes()),
    "RewriteManifests.branch": method("branch", "main", of=lambda t: t.maintenance.rewrite_manifests()),
    "RewriteManifests.execute": method(
        "execute",
        FromSubject(lambda t: t.maintenance.rewrite_manifests().plan()),
        of=lambda t: t.maintenance.rewrite_manifests(),
    ),
    "RewriteManifests.rewrite_if": method(
        "rewrite_if", lambda manifest: True, of=lambda t: t.maintenance.rewrite_manifests()
    ),
    "RewriteManifests.sort_by": method(
        "sort_by", "part", of=lambda t: t.maintenance.rewrite_manifests(), then=lambda b: b
    ),
    "RewriteManifests.spec_id": method("spec_id", 0, of=lambda t: t.maintenance.rewrite_manifests()),
    "ComputeStatistics.columns": method("columns", "id", of=lambda t: t.maintenance.compute_statistics()),
    "ComputeStatistics.snapshot": method("snapshot", HEAD, of=lambda t: t.maintenance.compute_statistics()),
    "ComputePartitionStatistics.snapshot": method(
        "snapshot", HEAD, of=lambda t: t.maintenance.compute_partition_statistics(), then=lambda b: b
    ),
    "MaintenancePolicy.execute": method(
        "execute", FromSubject(lambda t: t.maintenance.policy().plan()), of=lambda t: t.maintenance.policy()
    ),
}
