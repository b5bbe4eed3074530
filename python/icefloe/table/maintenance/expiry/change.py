"""The change of table metadata that removes expired snapshots, computed afresh for every attempt of its commit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationException
from icefloe.table.commit.derived_requirements import requirements_of
from icefloe.table.maintenance.snapshot_files import unused_schemas, unused_specs
from icefloe.table.update import (
    AssertOnlyRefs,
    AssertRefSnapshotId,
    RemovePartitionSpecsUpdate,
    RemoveSchemasUpdate,
    RemoveSnapshotRefUpdate,
    RemoveSnapshotsUpdate,
    TableRequirement,
    TableUpdate,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.io import FileIO
    from icefloe.table.commit.change import Staged, Versions
    from icefloe.table.maintenance.expiry.retention import Retention
    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True)
class Expiry:
    """The snapshots, refs, schemas and specs that an expiry removes from one version of a table.

    Attributes:
        retention: The snapshots, branches and tags that stay and expire.
        schema_ids: Schemas to remove.
        spec_ids: Partition specs to remove.
    """

    retention: Retention
    schema_ids: tuple[int, ...] = ()
    spec_ids: tuple[int, ...] = ()

    def updates(self) -> tuple[TableUpdate, ...]:
        """Return the updates of the expiry."""
        updates: list[TableUpdate] = [RemoveSnapshotRefUpdate(ref_name=name) for name in self.retention.expired_refs]
        if self.retention.expired_ids:
            updates.append(RemoveSnapshotsUpdate(snapshot_ids=list(self.retention.expired_ids)))
        if self.schema_ids:
            updates.append(RemoveSchemasUpdate(schema_ids=list(self.schema_ids)))
        if self.spec_ids:
            updates.append(RemovePartitionSpecsUpdate(spec_ids=list(self.spec_ids)))
        return tuple(updates)


@dataclass
class ExpireChange:
    """A change of a transaction that expires snapshots.

    Args:
        compute: Returns what expires of a version of the table.
    """

    compute: Callable[[TableMetadata], Expiry]
    base: TableMetadata | None = field(default=None, init=False)
    expiry: Expiry | None = field(default=None, init=False)

    def validate(self, versions: Versions) -> None:
        """Do nothing: `stage` computes the expiry from the version that it is given."""

    def stage(self, base: TableMetadata, attempt: int) -> Staged:
        """Return the updates for a version of the table. All branches and tags must be unchanged when they are applied."""
        del attempt
        self.base, self.expiry = base, self.compute(base)
        updates = self.expiry.updates()
        refs: tuple[TableRequirement, ...] = tuple(
            AssertRefSnapshotId(ref=name, snapshot_id=ref.snapshot_id) for name, ref in sorted(base.refs.items())
        )
        uuid = requirements_of(base, ())
        return updates, (*uuid, *refs, AssertOnlyRefs(refs=sorted(base.refs)))

    def committed(self, table: TableMetadata) -> None:
        """Do nothing: files are deleted by the caller."""

    def abandoned(self) -> None:
        """Do nothing: no file was written."""


def planned_expiry(planned: Expiry, base: TableMetadata, io: FileIO) -> Expiry:
    """Return the expiry of a plan for a version of the table.

    Raises:
        ValidationException: A snapshot of the plan is gone or has become the head of a branch or tag, a ref of the plan has moved, or a
            remaining snapshot uses a schema or spec of the plan.
        IcebergError: The plan removes schemas or specs, and a manifest list or manifest could not be read.
    """
    for fate in planned.retention.refs:
        if fate.expires and (fate.name not in base.refs or base.refs[fate.name].snapshot_id != fate.snapshot_id):
            raise ValidationException(
                f"plan of expire_snapshots: {fate.type} {fate.name!r} was moved or removed; make a new plan"
            )
    expired = set(planned.retention.expired_ids)
    gone = expired - base.snapshots.positions().keys()
    if gone:
        raise ValidationException(f"plan of expire_snapshots: snapshot {min(gone)} is gone already; make a new plan")
    for name, ref in sorted(base.refs.items()):
        if ref.snapshot_id in expired and name not in planned.retention.expired_refs:
            raise ValidationException(
                f"plan of expire_snapshots: snapshot {ref.snapshot_id} has become the head of {ref.snapshot_ref_type} {name!r}; make "
                "a new plan"
            )
    remaining = base.snapshots.positions().keys() - expired
    _check_unused("schema", planned.schema_ids, unused_schemas(io, base, remaining) if planned.schema_ids else ())
    _check_unused("partition spec", planned.spec_ids, unused_specs(io, base, remaining) if planned.spec_ids else ())
    return planned


def _check_unused(kind: str, planned: tuple[int, ...], unused: tuple[int, ...]) -> None:
    used = set(planned) - set(unused)
    if used:
        raise ValidationException(
            f"plan of expire_snapshots: {kind} {min(used)} is in use or gone since the plan; make a new plan"
        )
