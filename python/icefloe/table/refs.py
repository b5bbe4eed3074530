"""Branches and tags: names of snapshots. Spec: Snapshot References."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from icefloe.exceptions import ValidationError
from icefloe.typedef import JsonInt, JsonLong, JsonModel

MAIN_BRANCH = "main"


class SnapshotRefType(str, Enum):
    """The type of a snapshot reference: commits move a branch and never a tag."""

    BRANCH = "branch"
    TAG = "tag"

    def __repr__(self) -> str:
        return f"SnapshotRefType.{self.name}"

    def __str__(self) -> str:
        return self.value


class SnapshotRef(JsonModel):
    """A branch or tag: its snapshot, and the retention of its history.

    Args:
        snapshot_id: The snapshot.
        snapshot_ref_type: Branch or tag.
        min_snapshots_to_keep: Of a branch: how many snapshots expiry leaves, whatever their age.
        max_snapshot_age_ms: Of a branch: how old snapshots may become, in milliseconds.
        max_ref_age_ms: How old the name itself may become, in milliseconds.
    """

    snapshot_id: JsonLong
    snapshot_ref_type: SnapshotRefType = Field(validation_alias="type", serialization_alias="type")
    min_snapshots_to_keep: Annotated[JsonInt, Field(gt=0)] | None = None
    max_snapshot_age_ms: Annotated[JsonLong, Field(gt=0)] | None = None
    max_ref_age_ms: Annotated[JsonLong, Field(gt=0)] | None = None

    @field_validator("snapshot_ref_type", mode="before")
    @classmethod
    def _case_does_not_count(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) and not isinstance(value, SnapshotRefType) else value

    @model_validator(mode="after")
    def _tags_keep_one_snapshot(self) -> SnapshotRef:
        if self.snapshot_ref_type is SnapshotRefType.TAG and (
            self.min_snapshots_to_keep is not None or self.max_snapshot_age_ms is not None
        ):
            raise ValidationError(
                "tag: `min-snapshots-to-keep` and `max-snapshot-age-ms` are settings of branches; remove them"
            )
        return self
