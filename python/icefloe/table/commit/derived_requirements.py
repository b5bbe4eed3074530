"""The requirements that follow from metadata updates: facts of their base version that must still hold when they are applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AssertCurrentSchemaId,
    AssertDefaultSortOrderId,
    AssertDefaultSpecId,
    AssertLastAssignedFieldId,
    AssertLastAssignedPartitionId,
    AssertPartitionSpecExists,
    AssertRefSnapshotId,
    AssertSnapshotExists,
    AssertTableUUID,
    RemoveSnapshotRefUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
    SetDefaultSpecUpdate,
    SetSnapshotRefUpdate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


def requirements_of(base: TableMetadata, updates: Iterable[TableUpdate]) -> tuple[TableRequirement, ...]:
    """Return the requirements of updates that were computed from `base`, each once, the table's identity first."""
    found: dict[tuple[str, str], TableRequirement] = {}
    if base.table_uuid is not None:
        found[("uuid", "")] = AssertTableUUID(uuid=base.table_uuid)
    for update in updates:
        requirement = _requirement(base, update)
        if requirement is not None:
            found.setdefault(requirement[0], requirement[1])
    return tuple(found.values())


def first_of_each(*groups: tuple[TableRequirement, ...]) -> tuple[TableRequirement, ...]:
    """Merge the requirements of successive changes. The first requirement on a fact was made from the base, and replaces later ones."""
    merged: dict[tuple[str, str], TableRequirement] = {}
    for group in groups:
        for requirement in group:
            merged.setdefault((requirement.type, _subject(requirement)), requirement)
    return tuple(merged.values())


def _subject(requirement: TableRequirement) -> str:
    """Return the ref, snapshot id or spec id that a requirement is about, as text; `None` as text if it is about none."""
    if isinstance(requirement, AssertSnapshotExists):
        return str(requirement.snapshot_id)
    if isinstance(requirement, AssertPartitionSpecExists):
        return str(requirement.spec.spec_id)
    return str(getattr(requirement, "ref", None))


def _requirement(base: TableMetadata, update: TableUpdate) -> tuple[tuple[str, str], TableRequirement] | None:
    if isinstance(update, SetSnapshotRefUpdate | RemoveSnapshotRefUpdate):
        ref = base.refs.get(update.ref_name)
        snapshot_id = ref.snapshot_id if ref is not None else None
        return ("ref", update.ref_name), AssertRefSnapshotId(ref=update.ref_name, snapshot_id=snapshot_id)
    if isinstance(update, AddSchemaUpdate):
        return ("field", ""), AssertLastAssignedFieldId(last_assigned_field_id=base.stated("last_column_id"))
    if isinstance(update, SetCurrentSchemaUpdate):
        return ("schema", ""), AssertCurrentSchemaId(current_schema_id=base.current_schema_id)
    if isinstance(update, AddPartitionSpecUpdate):
        return ("partition", ""), AssertLastAssignedPartitionId(
            last_assigned_partition_id=base.stated("last_partition_id")
        )
    if isinstance(update, SetDefaultSpecUpdate):
        return ("spec", ""), AssertDefaultSpecId(default_spec_id=base.default_spec_id)
    if isinstance(update, SetDefaultSortOrderUpdate):
        return ("order", ""), AssertDefaultSortOrderId(default_sort_order_id=base.stated("default_sort_order_id"))
    return None
