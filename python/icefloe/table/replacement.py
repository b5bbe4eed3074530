"""The updates that replace a table's schema, partition spec, sort order and rows, and keep its UUID and its snapshots."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.partitioning import PartitionField, PartitionSpec, assign_fresh_partition_spec_ids
from icefloe.schema import assign_fresh_schema_ids
from icefloe.table.properties import RESERVED_PROPERTIES, TableProperties, properties_as_text
from icefloe.table.properties.definitions import FORMAT_VERSION
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.sorting import assign_fresh_sort_order_ids
from icefloe.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AddSortOrderUpdate,
    AssertCurrentSchemaId,
    AssertDefaultSortOrderId,
    AssertDefaultSpecId,
    AssertLastAssignedFieldId,
    AssertLastAssignedPartitionId,
    AssertRefSnapshotId,
    AssertTableUUID,
    RemoveSnapshotRefUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
    SetDefaultSpecUpdate,
    SetLocationUpdate,
    SetPropertiesUpdate,
    format_upgrade,
)
from icefloe.transforms import VoidTransform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.sorting import SortOrder
    from icefloe.table.update import TableRequirement, TableUpdate


@dataclass(frozen=True)
class Replacement:
    """The definition of a table that replaces another.

    Attributes:
        schema: The columns. A column keeps the id of the current column of the same full name; other ids are new.
        partition_spec: The partition spec, with source ids of `schema`.
        sort_order: The sort order, with source ids of `schema`.
        location: The location of new files, or None for the table's location.
        properties: Table properties to set; the table's other properties are kept.
    """

    schema: Schema
    partition_spec: PartitionSpec
    sort_order: SortOrder
    location: str | None
    properties: Mapping[str, object]

    def updates(self, current: TableMetadata) -> tuple[TableUpdate, ...]:
        """Return the updates that replace a table.

        Raises:
            ValidationError: The spec, the sort order or a property does not fit the schema.
        """
        texts = properties_as_text(self.properties)
        given = {TableProperties.PARQUET_COMPRESSION: TableProperties.PARQUET_COMPRESSION_DEFAULT, **texts}
        schema = _with_ids_of(self.schema, current)
        spec = assign_fresh_partition_spec_ids(self.partition_spec, self.schema, schema)
        order = assign_fresh_sort_order_ids(self.sort_order, self.schema, schema)
        updates: list[TableUpdate] = []
        if FORMAT_VERSION.name in texts:
            updates += format_upgrade(current, int(FORMAT_VERSION.of(texts)))
        updates += [
            RemoveSnapshotRefUpdate(ref_name=MAIN_BRANCH),
            *_schema_updates(schema, current),
            *_spec_updates(_with_field_ids_of(spec, current), current),
            *_order_updates(order, current),
            SetPropertiesUpdate(
                updates={name: value for name, value in given.items() if name not in RESERVED_PROPERTIES}
            ),
        ]
        if self.location is not None and self.location.rstrip("/") != current.location.rstrip("/"):
            updates.append(SetLocationUpdate(location=self.location.rstrip("/")))
        return tuple(updates)


def requirements_of_replacement(current: TableMetadata) -> tuple[TableRequirement, ...]:
    """Return the facts of a table on which the ids and the updates of a replacement rest."""
    main = current.refs.get(MAIN_BRANCH)
    found: list[TableRequirement] = [
        AssertRefSnapshotId(ref=MAIN_BRANCH, snapshot_id=main.snapshot_id if main is not None else None),
        AssertLastAssignedFieldId(last_assigned_field_id=current.stated("last_column_id")),
        AssertCurrentSchemaId(current_schema_id=current.current_schema_id),
        AssertLastAssignedPartitionId(last_assigned_partition_id=current.stated("last_partition_id")),
        AssertDefaultSpecId(default_spec_id=current.default_spec_id),
        AssertDefaultSortOrderId(default_sort_order_id=current.stated("default_sort_order_id")),
    ]
    return (*([AssertTableUUID(uuid=current.table_uuid)] if current.table_uuid is not None else []), *found)


# A server of the Java reference refuses "the schema added last" if the table has an equal schema already, so ids of the table are used then.


def _schema_updates(schema: Schema, current: TableMetadata) -> tuple[TableUpdate, ...]:
    same = next((each for each in current.schemas if each == schema), None)
    if same is not None:
        return (SetCurrentSchemaUpdate(schema_id=same.schema_id),)
    last_column_id = max(current.last_column_id, schema.highest_field_id)
    return (AddSchemaUpdate(schema_=schema, last_column_id=last_column_id), SetCurrentSchemaUpdate())


def _spec_updates(spec: PartitionSpec, current: TableMetadata) -> tuple[TableUpdate, ...]:
    same = next((each for each in current.partition_specs if each.compatible_with(spec)), None)
    if same is not None:
        return (SetDefaultSpecUpdate(spec_id=same.spec_id),)
    return (AddPartitionSpecUpdate(spec=spec), SetDefaultSpecUpdate())


def _order_updates(order: SortOrder, current: TableMetadata) -> tuple[TableUpdate, ...]:
    same = next((each for each in current.sort_orders if each.fields == order.fields), None)
    if same is not None:
        return (SetDefaultSortOrderUpdate(sort_order_id=same.order_id),)
    return (AddSortOrderUpdate(sort_order=order), SetDefaultSortOrderUpdate())


def _with_ids_of(schema: Schema, current: TableMetadata) -> Schema:
    """Return a schema with the ids of the current columns of the same full names, and new ids for all others."""
    fresh = assign_fresh_schema_ids(schema)
    known, new_ids = current.schema(), itertools.count(current.last_column_id + 1)
    known_ids = {known.find_column_name(field_id): field_id for field_id in known.field_ids}
    names = (fresh.find_column_name(field_id) for field_id in range(1, fresh.highest_field_id + 1))
    ids = (known_ids[name] if name in known_ids else next(new_ids) for name in names)
    return assign_fresh_schema_ids(fresh, ids.__next__)


def _with_field_ids_of(spec: PartitionSpec, current: TableMetadata) -> PartitionSpec:
    """Return a spec whose partition fields keep the ids of equal fields of the table. Spec: Partition Evolution.

    A spec of format version 1 keeps all fields of the current spec in their places: fields that the new spec lacks become void.
    """
    new_ids = itertools.count(current.last_partition_id + 1)
    if current.format_version > 1:
        ids: dict[tuple[int, str], int] = {}
        for field in (field for each in current.partition_specs for field in each.fields):
            key = _source(field)
            ids[key] = max(field.field_id, ids.get(key, 0))
        return PartitionSpec(
            *(
                _renumbered(field, ids[_source(field)] if _source(field) in ids else next(new_ids))
                for field in spec.fields
            )
        )
    remaining = {_source(field): field for field in spec.fields}
    names = {field.name for field in spec.fields}
    fields: list[PartitionField] = []
    for field in current.spec().fields:
        same = remaining.pop(_source(field), None)
        if same is not None:
            fields.append(_renumbered(same, field.field_id))
        else:
            name = f"{field.name}_{field.field_id}" if field.name in names else field.name
            fields.append(PartitionField(field.source_id, field.field_id, VoidTransform(), name))
    fields += [_renumbered(field, next(new_ids)) for field in remaining.values()]
    return PartitionSpec(*fields)


def _source(field: PartitionField) -> tuple[int, str]:
    return field.source_id, str(field.transform)


def _renumbered(field: PartitionField, field_id: int) -> PartitionField:
    return PartitionField(field.source_id, field_id, field.transform, field.name)
