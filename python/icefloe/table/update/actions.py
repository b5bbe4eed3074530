"""The updates of a commit, in the JSON form of the REST catalog protocol."""

from __future__ import annotations

import functools
import uuid
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt, StrictStr, TypeAdapter, field_validator
from pydantic import ValidationError as PydanticError

from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema
from icefloe.table.properties import properties_as_text
from icefloe.table.refs import SnapshotRefType
from icefloe.table.snapshots import Snapshot
from icefloe.table.sorting import SortOrder
from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile
from icefloe.typedef import JsonModel, explain

# The id of the schema, spec or sort order that the same commit added last.
LAST_ADDED = -1


class TableUpdate(JsonModel):
    """The base class of updates."""

    action: str


class AssignUUIDUpdate(TableUpdate):
    """Assign the table's UUID."""

    action: Literal["assign-uuid"] = "assign-uuid"
    uuid: uuid.UUID


class UpgradeFormatVersionUpdate(TableUpdate):
    """Raise the format version."""

    action: Literal["upgrade-format-version"] = "upgrade-format-version"
    format_version: StrictInt


class AddSchemaUpdate(TableUpdate):
    """Add a schema."""

    action: Literal["add-schema"] = "add-schema"
    schema_: Schema = Field(validation_alias="schema", serialization_alias="schema")
    last_column_id: StrictInt | None = None


class SetCurrentSchemaUpdate(TableUpdate):
    """Set the current schema; -1 is the schema added last."""

    action: Literal["set-current-schema"] = "set-current-schema"
    schema_id: StrictInt = LAST_ADDED


class AddPartitionSpecUpdate(TableUpdate):
    """Add a partition spec."""

    action: Literal["add-spec"] = "add-spec"
    spec: PartitionSpec


class SetDefaultSpecUpdate(TableUpdate):
    """Set the default partition spec; -1 is the spec added last."""

    action: Literal["set-default-spec"] = "set-default-spec"
    spec_id: StrictInt = LAST_ADDED


class AddSortOrderUpdate(TableUpdate):
    """Add a sort order."""

    action: Literal["add-sort-order"] = "add-sort-order"
    sort_order: SortOrder


class SetDefaultSortOrderUpdate(TableUpdate):
    """Set the default sort order; -1 is the order added last."""

    action: Literal["set-default-sort-order"] = "set-default-sort-order"
    sort_order_id: StrictInt = LAST_ADDED


class AddSnapshotUpdate(TableUpdate):
    """Add a snapshot; no branch or tag refers to it yet."""

    action: Literal["add-snapshot"] = "add-snapshot"
    snapshot: Snapshot


class SetSnapshotRefUpdate(TableUpdate):
    """Create a branch or tag, or move it."""

    action: Literal["set-snapshot-ref"] = "set-snapshot-ref"
    ref_name: StrictStr
    type: SnapshotRefType
    snapshot_id: StrictInt
    max_ref_age_ms: StrictInt | None = None
    max_snapshot_age_ms: StrictInt | None = None
    min_snapshots_to_keep: StrictInt | None = None


class RemoveSnapshotsUpdate(TableUpdate):
    """Remove snapshots, the branches and tags that refer to them and their statistics."""

    action: Literal["remove-snapshots"] = "remove-snapshots"
    snapshot_ids: list[StrictInt]


class RemoveSnapshotRefUpdate(TableUpdate):
    """Remove a branch or tag."""

    action: Literal["remove-snapshot-ref"] = "remove-snapshot-ref"
    ref_name: StrictStr


class SetLocationUpdate(TableUpdate):
    """Set the table's location, below which new files are written."""

    action: Literal["set-location"] = "set-location"
    location: StrictStr


class SetPropertiesUpdate(TableUpdate):
    """Set table properties."""

    action: Literal["set-properties"] = "set-properties"
    updates: dict[str, str]

    @field_validator("updates", mode="before")
    @classmethod
    def _values_are_text(cls, value: Any) -> Any:
        """Convert numbers and booleans to text; raise ValidationError for None."""
        return properties_as_text(value) if isinstance(value, dict) else value


class RemovePropertiesUpdate(TableUpdate):
    """Unset table properties."""

    action: Literal["remove-properties"] = "remove-properties"
    removals: list[StrictStr]


class SetStatisticsUpdate(TableUpdate):
    """Set the statistics file of a snapshot."""

    action: Literal["set-statistics"] = "set-statistics"
    statistics: StatisticsFile
    snapshot_id: StrictInt | None = None


class RemoveStatisticsUpdate(TableUpdate):
    """Remove the statistics file of a snapshot."""

    action: Literal["remove-statistics"] = "remove-statistics"
    snapshot_id: StrictInt


class SetPartitionStatisticsUpdate(TableUpdate):
    """Set the partition statistics file of a snapshot."""

    action: Literal["set-partition-statistics"] = "set-partition-statistics"
    partition_statistics: PartitionStatisticsFile


class RemovePartitionStatisticsUpdate(TableUpdate):
    """Remove the partition statistics file of a snapshot."""

    action: Literal["remove-partition-statistics"] = "remove-partition-statistics"
    snapshot_id: StrictInt


class RemovePartitionSpecsUpdate(TableUpdate):
    """Remove partition specs that no file was written with."""

    action: Literal["remove-partition-specs"] = "remove-partition-specs"
    spec_ids: list[StrictInt]


class RemoveSchemasUpdate(TableUpdate):
    """Remove schemas that no snapshot refers to."""

    action: Literal["remove-schemas"] = "remove-schemas"
    schema_ids: list[StrictInt]


@functools.cache
def _adapter() -> TypeAdapter[TableUpdate]:
    """Return the reader of every update; building it takes a tenth of the time of an import."""
    return TypeAdapter(
        Annotated[
            AssignUUIDUpdate
            | UpgradeFormatVersionUpdate
            | AddSchemaUpdate
            | SetCurrentSchemaUpdate
            | AddPartitionSpecUpdate
            | SetDefaultSpecUpdate
            | AddSortOrderUpdate
            | SetDefaultSortOrderUpdate
            | AddSnapshotUpdate
            | SetSnapshotRefUpdate
            | RemoveSnapshotsUpdate
            | RemoveSnapshotRefUpdate
            | SetLocationUpdate
            | SetPropertiesUpdate
            | RemovePropertiesUpdate
            | SetStatisticsUpdate
            | RemoveStatisticsUpdate
            | SetPartitionStatisticsUpdate
            | RemovePartitionStatisticsUpdate
            | RemovePartitionSpecsUpdate
            | RemoveSchemasUpdate,
            Field(discriminator="action"),
        ]
    )


def update_from_json(value: dict[str, Any]) -> TableUpdate:
    """Return the update of a JSON object of the REST protocol."""
    try:
        return _adapter().validate_python(value)
    except PydanticError as error:
        raise ValidationError(explain("table update", error)) from error
