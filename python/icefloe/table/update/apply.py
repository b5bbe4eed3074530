"""Applying updates to table metadata. The base is never modified, and the result shares its unchanged parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.partitioning import PartitionSpec
from icefloe.table.properties import RESERVED_PROPERTIES
from icefloe.table.sorting import UNSORTED_SORT_ORDER, UNSORTED_SORT_ORDER_ID, SortOrder
from icefloe.table.update import actions
from icefloe.table.update.actions import LAST_ADDED
from icefloe.table.update.apply_snapshots import (
    add_snapshot,
    remove_ref,
    remove_snapshots,
    set_ref,
)
from icefloe.table.update.draft import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update.actions import TableUpdate


def update_table_metadata(
    base_metadata: TableMetadata,
    updates: Iterable[TableUpdate],
    enforce_validation: bool = False,
    metadata_location: str | None = None,
    *,
    now_ms: int | None = None,
) -> TableMetadata:
    """Return the metadata after updates, applied in order.

    Args:
        base_metadata: The metadata to start from, which is not modified.
        updates: The updates.
        enforce_validation: Whether to check the result like metadata that was read from a file.
        metadata_location: The base's metadata file, which is added to the metadata log.
        now_ms: The time of the update, milliseconds since 1970-01-01 UTC; None uses the system clock.

    Raises:
        ValidationError: An update does not apply.
    """
    draft = Draft(base_metadata) if now_ms is None else Draft(base_metadata, now_ms=now_ms)
    for update in updates:
        apply = _APPLY.get(type(update))
        if apply is None:
            raise FeatureUnsupportedError(f"table update {update.action!r} is not supported")
        apply(draft, update)
    _check_bindings(draft)
    result = draft.build(metadata_location)
    if enforce_validation:
        return type(result)(**result.model_dump())
    return result


def _assign_uuid(draft: Draft, update: actions.AssignUUIDUpdate) -> None:
    current = draft.get("table_uuid")
    if current is not None and current != update.uuid:
        raise ValidationError(f"cannot assign table UUID {update.uuid}: the table already has UUID {current}")
    draft.set(table_uuid=update.uuid)


def _upgrade(draft: Draft, update: actions.UpgradeFormatVersionUpdate) -> None:
    if update.format_version < draft.format_version:
        raise ValidationError(
            f"cannot lower the format version: expected at least {draft.format_version}, got {update.format_version}"
        )
    if update.format_version > draft.format_version and update.format_version > 2:
        raise FeatureUnsupportedError(
            f"cannot upgrade to format version {update.format_version}: icefloe writes format versions 1 and 2"
        )
    if update.format_version > 1 and draft.get("table_uuid") is None:
        raise ValidationError(
            "cannot upgrade to format version 2: the table has no UUID, which that version requires; use "
            "transaction().upgrade_table_version(2), which assigns one"
        )
    draft.format_version = update.format_version


def _add_schema(draft: Draft, update: actions.AddSchemaUpdate) -> None:
    schema, schemas = update.schema_, draft.get("schemas")
    last_column_id = max(schema.highest_field_id, update.last_column_id or 0, draft.get("last_column_id"))
    schema.check_format_version_compatibility(draft.format_version)
    same = next((each for each in schemas if each == schema), None)
    if same is not None:
        draft.added_schema_id = same.schema_id
    else:
        new_id = max((each.schema_id for each in schemas), default=-1) + 1
        renumbered = schema if schema.schema_id == new_id else schema.model_copy(update={"schema_id": new_id})
        draft.set(schemas=(*schemas, renumbered))
        draft.added_schema_id = new_id
    draft.set(last_column_id=last_column_id)


def _set_current_schema(draft: Draft, update: actions.SetCurrentSchemaUpdate) -> None:
    chosen = _resolve(update.schema_id, draft.added_schema_id, "schema")
    _choose(draft, "current_schema_id", "current schema", chosen, {one.schema_id for one in draft.get("schemas")})


def _add_spec(draft: Draft, update: actions.AddPartitionSpecUpdate) -> None:
    specs = draft.get("partition_specs")
    same = next((each for each in specs if each.compatible_with(update.spec)), None)
    if same is not None:
        draft.added_spec_id = same.spec_id
        return
    new_id = max((each.spec_id for each in specs), default=-1) + 1
    draft.set(partition_specs=(*specs, PartitionSpec(*update.spec.fields, spec_id=new_id)))
    draft.set(last_partition_id=max(draft.get("last_partition_id"), update.spec.last_assigned_field_id))
    draft.added_spec_id = new_id


def _set_default_spec(draft: Draft, update: actions.SetDefaultSpecUpdate) -> None:
    chosen = _resolve(update.spec_id, draft.added_spec_id, "partition spec")
    known = {spec.spec_id for spec in draft.get("partition_specs")}
    _choose(draft, "default_spec_id", "default partition spec", chosen, known)


def _add_sort_order(draft: Draft, update: actions.AddSortOrderUpdate) -> None:
    orders, order = draft.get("sort_orders"), update.sort_order
    same = next((each for each in orders if each.fields == order.fields), None)
    if same is not None:
        draft.added_sort_order_id = same.order_id
        return
    if order.is_unsorted:
        new_id = UNSORTED_SORT_ORDER_ID
        draft.set(sort_orders=(*orders, UNSORTED_SORT_ORDER))
    else:
        new_id = max((each.order_id for each in orders), default=UNSORTED_SORT_ORDER_ID) + 1
        draft.set(sort_orders=(*orders, SortOrder(*order.fields, order_id=new_id)))
    draft.added_sort_order_id = new_id


def _set_default_sort_order(draft: Draft, update: actions.SetDefaultSortOrderUpdate) -> None:
    chosen = _resolve(update.sort_order_id, draft.added_sort_order_id, "sort order")
    known = {UNSORTED_SORT_ORDER_ID, *(order.order_id for order in draft.get("sort_orders"))}
    _choose(draft, "default_sort_order_id", "default sort order", chosen, known)


def _set_location(draft: Draft, update: actions.SetLocationUpdate) -> None:
    location = update.location.rstrip("/")
    if location == "":
        raise ValidationError(f"location: expected a directory such as 's3://bucket/table', got {update.location!r}")
    if location != draft.get("location"):
        draft.set(location=location)


def _set_properties(draft: Draft, update: actions.SetPropertiesUpdate) -> None:
    reserved = sorted(RESERVED_PROPERTIES & update.updates.keys())
    if reserved:
        raise ValidationError(
            f"cannot set {', '.join(reserved)}: reserved table properties are derived from the metadata; leave them out"
        )
    if update.updates:
        draft.set(properties={**draft.get("properties"), **update.updates})


def _remove_properties(draft: Draft, update: actions.RemovePropertiesUpdate) -> None:
    properties = draft.get("properties")
    removals = properties.keys() & set(update.removals)
    if removals:
        draft.set(properties={name: value for name, value in properties.items() if name not in removals})


def _set_statistics(draft: Draft, update: actions.SetStatisticsUpdate) -> None:
    if update.snapshot_id is not None and update.snapshot_id != update.statistics.snapshot_id:
        raise ValidationError(
            f"cannot set statistics: the file is of snapshot {update.statistics.snapshot_id}, the update of snapshot "
            f"{update.snapshot_id}"
        )
    others = _others(draft.get("statistics"), update.statistics.snapshot_id)
    draft.set(statistics=(*others, update.statistics))


def _remove_statistics(draft: Draft, update: actions.RemoveStatisticsUpdate) -> None:
    draft.set(statistics=_without(draft.get("statistics"), update.snapshot_id, "statistics"))


def _set_partition_statistics(draft: Draft, update: actions.SetPartitionStatisticsUpdate) -> None:
    others = _others(draft.get("partition_statistics"), update.partition_statistics.snapshot_id)
    draft.set(partition_statistics=(*others, update.partition_statistics))


def _remove_partition_statistics(draft: Draft, update: actions.RemovePartitionStatisticsUpdate) -> None:
    draft.set(
        partition_statistics=_without(draft.get("partition_statistics"), update.snapshot_id, "partition statistics")
    )


def _remove_specs(draft: Draft, update: actions.RemovePartitionSpecsUpdate) -> None:
    specs, removed = draft.get("partition_specs"), set(update.spec_ids)
    _check_removable("partition spec", removed, {spec.spec_id for spec in specs}, draft.get("default_spec_id"))
    draft.set(partition_specs=tuple(spec for spec in specs if spec.spec_id not in removed))


def _remove_schemas(draft: Draft, update: actions.RemoveSchemasUpdate) -> None:
    schemas, removed = draft.get("schemas"), set(update.schema_ids)
    _check_removable("schema", removed, {schema.schema_id for schema in schemas}, draft.get("current_schema_id"))
    draft.set(schemas=tuple(schema for schema in schemas if schema.schema_id not in removed))


def _check_removable(what: str, removed: set[int], existing: set[int], current: int) -> None:
    if current in removed:
        raise ValidationError(f"cannot remove {what} {current}: the table uses it for new files")
    missing = sorted(removed - existing)
    if missing:
        raise ValidationError(f"cannot remove {what} {missing[0]}: expected one of {sorted(existing)}")


def _check_bindings(draft: Draft) -> None:
    """Check that the current schema has the source columns of the default spec and sort order, and fits the names of specs.

    The Java reference binds every spec to the current schema when it reads a table, so a column may not have the name of a partition
    field of an older spec either.
    """
    if not draft.changes.keys() & {"current_schema_id", "default_spec_id", "default_sort_order_id"}:
        return
    metadata = draft.view()
    schema = metadata.schema()
    metadata.spec().check_compatible(schema)
    metadata.sort_order().check_compatible(schema)
    for spec in metadata.partition_specs if "current_schema_id" in draft.changes else [metadata.spec()]:
        spec.check_names(schema)


def _resolve(given: int, added: int | None, what: str) -> int:
    if given != LAST_ADDED:
        return given
    if added is None:
        raise ValidationError(f"cannot resolve {what} id -1, the {what} added last: the commit adds none")
    return added


def _choose(draft: Draft, key: str, what: str, chosen: int, known: set[int]) -> None:
    """Set the id of the current or default schema, spec or sort order; raise if the table has no such id."""
    if chosen not in known:
        raise ValidationError(f"cannot set the {what}: expected one of the table's ids {sorted(known)}, got {chosen}")
    if chosen != draft.get(key):
        draft.set(**{key: chosen})


def _others(files: tuple[Any, ...], snapshot_id: int) -> tuple[Any, ...]:
    return tuple(file for file in files if file.snapshot_id != snapshot_id)


def _without(files: tuple[Any, ...], snapshot_id: int, what: str) -> tuple[Any, ...]:
    others = _others(files, snapshot_id)
    if len(others) == len(files):
        raise ValidationError(f"cannot remove {what} of snapshot {snapshot_id}: it has none")
    return others


_APPLY: dict[type, Callable[[Draft, Any], None]] = {
    actions.AssignUUIDUpdate: _assign_uuid,
    actions.UpgradeFormatVersionUpdate: _upgrade,
    actions.AddSchemaUpdate: _add_schema,
    actions.SetCurrentSchemaUpdate: _set_current_schema,
    actions.AddPartitionSpecUpdate: _add_spec,
    actions.SetDefaultSpecUpdate: _set_default_spec,
    actions.AddSortOrderUpdate: _add_sort_order,
    actions.SetDefaultSortOrderUpdate: _set_default_sort_order,
    actions.AddSnapshotUpdate: add_snapshot,
    actions.SetSnapshotRefUpdate: set_ref,
    actions.RemoveSnapshotsUpdate: remove_snapshots,
    actions.RemoveSnapshotRefUpdate: remove_ref,
    actions.SetLocationUpdate: _set_location,
    actions.SetPropertiesUpdate: _set_properties,
    actions.RemovePropertiesUpdate: _remove_properties,
    actions.SetStatisticsUpdate: _set_statistics,
    actions.RemoveStatisticsUpdate: _remove_statistics,
    actions.SetPartitionStatisticsUpdate: _set_partition_statistics,
    actions.RemovePartitionStatisticsUpdate: _remove_partition_statistics,
    actions.RemovePartitionSpecsUpdate: _remove_specs,
    actions.RemoveSchemasUpdate: _remove_schemas,
}
