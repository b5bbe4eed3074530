"""Read-only accessors over the version of a table that a handle has: schemas, specs, snapshots, branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.arguments import checked_flag, checked_snapshot_id, checked_text, checked_time_ms
from icefloe.table.locations import load_location_provider

if TYPE_CHECKING:
    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.table.locations import LocationProvider
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.name_mapping import NameMapping
    from icefloe.table.refs import SnapshotRef
    from icefloe.table.snapshots import Snapshot, SnapshotLogEntry
    from icefloe.table.sorting import SortOrder
    from icefloe.typedef import Identifier


class TableVersion:
    """A table's metadata and the location of its file, which move together.

    Args:
        identifier: Namespace levels and name.
        metadata: The table's metadata.
        metadata_location: The file of the metadata.
    """

    def __init__(self, identifier: Identifier, metadata: TableMetadata, metadata_location: str) -> None:
        self._identifier = identifier
        self._version = (metadata, metadata_location)

    @property
    def version(self) -> tuple[TableMetadata, str]:
        """The metadata and the location of its file, read in one step: another thread may move the handle."""
        return self._version

    @property
    def metadata(self) -> TableMetadata:
        """The table's metadata."""
        return self._version[0]

    @metadata.setter
    def metadata(self, metadata: TableMetadata) -> None:
        self._version = (metadata, self._version[1])

    @property
    def metadata_location(self) -> str:
        """The location of the metadata file."""
        return self._version[1]

    def show(self, metadata: TableMetadata, metadata_location: str) -> None:
        """Move the handle to a version of the table, in one step."""
        self._version = (metadata, metadata_location)

    def name(self) -> Identifier:
        """Return namespace levels and name."""
        return self._identifier

    @property
    def format_version(self) -> int:
        """The format version: 1, 2 or 3."""
        return self.metadata.format_version

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties."""
        return dict(self.metadata.properties)

    @property
    def last_sequence_number(self) -> int:
        """The highest sequence number of a snapshot, 0 in format version 1."""
        return self.metadata.last_sequence_number

    def last_partition_id(self) -> int:
        """Return the highest id of a partition field, 999 without partition fields."""
        return self.metadata.last_partition_id

    def schema(self) -> Schema:
        """Return the current schema."""
        return self.metadata.schema()

    def schemas(self) -> dict[int, Schema]:
        """Return all schemas by id."""
        return {schema.schema_id: schema for schema in self.metadata.schemas}

    def spec(self) -> PartitionSpec:
        """Return the partition spec of new files."""
        return self.metadata.spec()

    def specs(self) -> dict[int, PartitionSpec]:
        """Return all partition specs by id."""
        return self.metadata.specs()

    def sort_order(self) -> SortOrder:
        """Return the sort order of new files."""
        return self.metadata.sort_order()

    def sort_orders(self) -> dict[int, SortOrder]:
        """Return all sort orders by id."""
        return {order.order_id: order for order in self.metadata.sort_orders}

    def location(self) -> str:
        """Return the table's location."""
        return self.metadata.location

    def location_provider(self) -> LocationProvider:
        """Return the provider of locations of new files."""
        return load_location_provider(self.metadata.location, self.metadata.properties)

    def current_snapshot(self) -> Snapshot | None:
        """Return the current snapshot, None for a table without snapshots."""
        return self.metadata.current_snapshot()

    def snapshots(self) -> list[Snapshot]:
        """Return all snapshots that have not been expired, in the order of their commits."""
        return list(self.metadata.snapshots)

    def snapshot_by_id(self, snapshot_id: int | None) -> Snapshot | None:
        """Return the snapshot of an id, None if the table has no such snapshot."""
        # The parent of a first snapshot is None, and so is its snapshot.
        return None if snapshot_id is None else self.metadata.snapshot_by_id(checked_snapshot_id(snapshot_id))

    def snapshot_by_name(self, name: str) -> Snapshot | None:
        """Return the snapshot of a branch or tag, None if the table has no such branch or tag."""
        return self.metadata.snapshot_by_name(checked_text("name of a branch or tag", name))

    def snapshot_as_of_timestamp(self, timestamp_ms: int, inclusive: bool = True) -> Snapshot | None:
        """Return the snapshot that was current at a time, None if none was.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.
            inclusive: Whether a snapshot that became current exactly then counts.
        """
        moment = checked_time_ms("timestamp_ms", timestamp_ms)
        inclusive = checked_flag("inclusive", inclusive)
        snapshot_id = self.metadata.snapshot_log.snapshot_id_at(moment, inclusive=inclusive)
        return None if snapshot_id is None else self.metadata.snapshot_by_id(snapshot_id)

    def history(self) -> list[SnapshotLogEntry]:
        """Return the snapshots that were current and the times at which they became so, oldest first."""
        return list(self.metadata.snapshot_log)

    def refs(self) -> dict[str, SnapshotRef]:
        """Return branches and tags by name."""
        return dict(self.metadata.refs)

    def name_mapping(self) -> NameMapping | None:
        """Return the mapping of column names to field ids for files without field ids, None if the table has none."""
        return self.metadata.name_mapping()

    def _dotted_name(self) -> str:
        return ".".join(self._identifier)
