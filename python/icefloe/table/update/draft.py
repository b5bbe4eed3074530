"""Metadata that a sequence of updates is building from a base, which is not modified.

The result shares unchanged parts with the base, so the cost of a commit does not depend on the number of snapshots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.table.environment import SYSTEM
from icefloe.table.metadata import CLOCK_TOLERANCE_MS, TableMetadata, TableMetadataV2
from icefloe.table.properties.definitions import PREVIOUS_VERSIONS
from icefloe.table.snapshots import MetadataLogEntry

if TYPE_CHECKING:
    from icefloe.table.metadata import SnapshotLog


@dataclass(slots=True)
class Draft:
    """The changes of one commit so far.

    Attributes:
        base: The metadata that the updates are applied to.
        now_ms: The time of the commit, milliseconds since 1970-01-01 UTC; at least that of the base's last change.
        changes: Changed attributes of the metadata.
        format_version: The format version after the updates so far.
        added_schema_id: The id of the schema added last.
        added_spec_id: The id of the partition spec added last.
        added_sort_order_id: The id of the sort order added last.
        added_snapshot_ids: The ids of all added snapshots.
        updated_ms: The time of the last added snapshot or move of main.
    """

    base: TableMetadata
    now_ms: int = field(default_factory=SYSTEM.now_ms)
    changes: dict[str, Any] = field(default_factory=dict)
    format_version: int = 0
    added_schema_id: int | None = None
    added_spec_id: int | None = None
    added_sort_order_id: int | None = None
    added_snapshot_ids: set[int] = field(default_factory=set)
    updated_ms: int | None = None

    def __post_init__(self) -> None:
        self.format_version = self.base.format_version
        self.now_ms = max(self.now_ms, self.base.last_updated_ms)

    def get(self, name: str) -> Any:
        """Return an attribute with the changes so far."""
        return self.changes[name] if name in self.changes else getattr(self.base, name)

    def set(self, **values: Any) -> None:
        """Change attributes; an attribute set to the same object is unchanged."""
        for name, value in values.items():
            if value is not self.get(name):
                self.changes[name] = value

    def view(self) -> TableMetadata:
        """Return the metadata with the changes so far, without validation."""
        if self.format_version == self.base.format_version:
            return self.base.with_(**self.changes)
        values = {name: getattr(self.base, name) for name in TableMetadataV2.model_fields if name != "format_version"}
        upgraded = TableMetadataV2.model_construct(format_version=2, **values)
        return upgraded.with_repaired(self.base.repaired).with_(**self.changes)

    def build(self, previous_location: str | None) -> TableMetadata:
        """Return the new metadata; the base itself if nothing changed.

        Args:
            previous_location: The base's metadata file, which is added to the metadata log.
        """
        if not self.changes and self.format_version == self.base.format_version:
            return self.base
        self.set(snapshot_log=self._final_log())
        last = self.get("snapshot_log")
        floor = last[-1].timestamp_ms - CLOCK_TOLERANCE_MS if last else 0
        updated_ms = self.now_ms if self.updated_ms is None else self.updated_ms
        # Readers refuse metadata older than its metadata log, which a slow clock, or a snapshot staged before the last commit, would make.
        self.set(last_updated_ms=max(updated_ms, floor, self.base.last_updated_ms))
        if previous_location is not None:
            self._log_previous(previous_location)
        return self.view()

    def _final_log(self) -> SnapshotLog:
        """Return the snapshot log without snapshots that were main's head between two updates of this commit only."""
        log: SnapshotLog = self.get("snapshot_log")
        intermediate = self.added_snapshot_ids - {self.get("current_snapshot_id")}
        return log.without_heads(intermediate) if intermediate else log

    def _log_previous(self, location: str) -> None:
        entry = MetadataLogEntry(metadata_file=location, timestamp_ms=self.base.last_updated_ms)
        limit = max(1, PREVIOUS_VERSIONS.of(self.get("properties")))
        self.set(metadata_log=self.base.metadata_log.appended(entry).last(limit))
