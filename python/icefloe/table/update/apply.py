"""What each change does to metadata. Pure: bases are never touched, and untouched parts are shared."""

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
    """Return the metadata after some changes, applied in order.

    Args:
        base_metadata: What to start from; stays as it is.
        updates: The changes.
        enforce_validation: Check the result as if it had been read from a file.
        metadata_location: The base's metadata file, to be remembered in the metadata log.
        now_ms: The time to record, milliseconds from the epoch; None takes the clock's.

    Raises:
        ValidationError: A change does not apply.
    """
    draft = Draft(base_metadata) if now_ms is None else Draft(base_metadata, now_ms=now_ms)
    for update in updates:
        apply = _APPLY.get(type(update))
        if apply is None:
            raise FeatureUnsupportedError(f"table update {update.action}")
        apply(draft, update)
    _check_bindings(draft)
    result = draft.build(metadata_location)
    if enforce_validation:
        return type(result)(**result.model_dump())
    return result


def _assign_uuid(draft: Draft, update: actions.AssignUUIDUpdate) -> None:
    known = draft.get("table_uuid")
    if known is not None and known != update.uuid:
        raise ValidationError(f"the table's uuid is {known}, it cannot become {update.uuid}")
    draft.set(table_uuid=update.uuid)


def _upgrade(draft: Draft, update: actions.UpgradeFormatVersionUpdate) -> None:
    if update.format_version < draft.format_version:
        raise ValidationError(f"format version {draft.format_version} cannot be lowered to {update.format_version}")
    if update.format_version > draft.format_version and update.format_version > 2:
        raise FeatureUnsupportedError(f"upgrading to format version {update.format_version}")
    draft.format_version = update.format_version


def _add_schema(draft: Draft, update: actions.AddSchemaUpdate) -> None:
    schema, schemas = update.schema_, draft.get("schemas")
    last_column_id = max(schema.highest_field_id, update.last_column_id or 0, draft.get("last_column_id"))
    schema.check_format_version_compatibility(draft.format_version)
    same = next((known for known in schemas if known == schema), None)
    if same is not None:
        draft.added_schema_id = same.schema_id
    else:
        new_id = max((known.schema_id for known in schemas), default=-1) + 1
        renumbered = schema if schema.schema_id == new_id else schema.model_copy(update={"schema_id": new_id})
        draft.set(schemas=(*schemas, renumbered))
        draft.added_schema_id = new_id
    draft.set(last_column_id=last_column_id)


def _set_current_schema(draft: Draft, update: actions.SetCurrentSchemaUpdate) -> None:
    schema_id = _resolve(update.schema_id, draft.added_schema_id, "schema")
    if all(schema.schema_id != schema_id for schema in draft.get("schemas")):
        raise ValidationError(f"no schema has the id {schema_id}")
    if schema_id != draft.get("current_schema_id"):
        draft.set(current_schema_id=schema_id)


def _add_spec(draft: Draft, update: actions.AddPartitionSpecUpdate) -> None:
    specs = draft.get("partition_specs")
    same = next((known for known in specs if known.compatible_with(update.spec)), None)
    if same is not None:
        draft.added_spec_id = same.spec_id
        return
    new_id = max((known.spec_id for known in specs), default=-1) + 1
    draft.set(partition_specs=(*specs, PartitionSpec(*update.spec.fields, spec_id=new_id)))
    draft.set(last_partition_id=max(draft.get("last_partition_id"), update.spec.last_assigned_field_id))
    draft.added_spec_id = new_id


def _set_default_spec(draft: Draft, update: actions.SetDefaultSpecUpdate) -> None:
    spec_id = _resolve(update.spec_id, draft.added_spec_id, "partition spec")
    if all(spec.spec_id != spec_id for spec in draft.get("partition_specs")):
        raise ValidationError(f"no partition spec has the id {spec_id}")
    if spec_id != draft.get("default_spec_id"):
        draft.set(default_spec_id=spec_id)


def _add_sort_order(draft: Draft, update: actions.AddSortOrderUpdate) -> None:
    orders, order = draft.get("sort_orders"), update.sort_order
    same = next((known for known in orders if known.fields == order.fields), None)
    if same is not None:
        draft.added_sort_order_id = same.order_id
        return
    if order.is_unsorted:
        new_id = UNSORTED_SORT_ORDER_ID
        draft.set(sort_orders=(*orders, UNSORTED_SORT_ORDER))
    else:
        new_id = max((known.order_id for known in orders), default=UNSORTED_SORT_ORDER_ID) + 1
        draft.set(sort_orders=(*orders, SortOrder(*order.fields, order_id=new_id)))
    draft.added_sort_order_id = new_id


def _set_default_sort_order(draft: Draft, update: actions.SetDefaultSortOrderUpdate) -> None:
    order_id = _resolve(update.sort_order_id, draft.added_sort_order_id, "sort order")
    if order_id != UNSORTED_SORT_ORDER_ID and all(order.order_id != order_id for order in draft.get("sort_orders")):
        raise ValidationError(f"no sort order has the id {order_id}")
    if order_id != draft.get("default_sort_order_id"):
        draft.set(default_sort_order_id=order_id)


def _set_location(draft: Draft, update: actions.SetLocationUpdate) -> None:
    location = update.location.rstrip("/")
    if location != draft.get("location"):
        draft.set(location=location)


def _set_properties(draft: Draft, update: actions.SetPropertiesUpdate) -> None:
    reserved = sorted(RESERVED_PROPERTIES & update.updates.keys())
    if reserved:
        raise ValidationError(f"properties that are facts of the table cannot be set: {', '.join(reserved)}")
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
            f"statistics of snapshot {update.statistics.snapshot_id} given for snapshot {update.snapshot_id}"
        )
    others = _others(draft.get("statistics"), update.statistics.snapshot_id)
    draft.set(statistics=(*others, update.statistics))


def _remove_statistics(draft: Draft, update: actions.RemoveStatisticsUpdate) -> None:
    draft.set(statistics=_known(draft.get("statistics"), update.snapshot_id, "statistics"))


def _set_partition_statistics(draft: Draft, update: actions.SetPartitionStatisticsUpdate) -> None:
    others = _others(draft.get("partition_statistics"), update.partition_statistics.snapshot_id)
    draft.set(partition_statistics=(*others, update.partition_statistics))


def _remove_partition_statistics(draft: Draft, update: actions.RemovePartitionStatisticsUpdate) -> None:
    draft.set(
        partition_statistics=_known(draft.get("partition_statistics"), update.snapshot_id, "partition statistics")
    )


def _remove_specs(draft: Draft, update: actions.RemovePartitionSpecsUpdate) -> None:
    specs, gone = draft.get("partition_specs"), set(update.spec_ids)
    missing = gone - {spec.spec_id for spec in specs}
    if missing or draft.get("default_spec_id") in gone:
        raise ValidationError(
            f"cannot remove partition specs {sorted(gone)}: unknown {sorted(missing)}, or the default one"
        )
    draft.set(partition_specs=tuple(spec for spec in specs if spec.spec_id not in gone))


def _remove_schemas(draft: Draft, update: actions.RemoveSchemasUpdate) -> None:
    schemas, gone = draft.get("schemas"), set(update.schema_ids)
    missing = gone - {schema.schema_id for schema in schemas}
    if missing or draft.get("current_schema_id") in gone:
        raise ValidationError(f"cannot remove schemas {sorted(gone)}: unknown {sorted(missing)}, or the current one")
    draft.set(schemas=tuple(schema for schema in schemas if schema.schema_id not in gone))


def _check_bindings(draft: Draft) -> None:
    """Refuse a current schema that lacks what the current spec or order needs; historical ones may lack it."""
    if not draft.changes.keys() & {"current_schema_id", "default_spec_id", "default_sort_order_id"}:
        return
    metadata = draft.view()
    schema = metadata.schema()
    metadata.spec().check_compatible(schema)
    metadata.sort_order().check_compatible(schema)


def _resolve(given: int, added: int | None, what: str) -> int:
    if given != LAST_ADDED:
        return given
    if added is None:
        raise ValidationError(f"{what} -1 is the one added last, but none was added")
    return added


def _others(files: tuple[Any, ...], snapshot_id: int) -> tuple[Any, ...]:
    return tuple(file for file in files if file.snapshot_id != snapshot_id)


def _known(files: tuple[Any, ...], snapshot_id: int, what: str) -> tuple[Any, ...]:
    others = _others(files, snapshot_id)
    if len(others) == len(files):
        raise ValidationError(f"there are no {what} of snapshot {snapshot_id}")
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
