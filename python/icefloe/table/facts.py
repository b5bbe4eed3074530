"""What a table is: the facts that its metadata holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.inspect import InspectTable
from icefloe.table.locations import load_location_provider

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.table.locations import LocationProvider
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.name_mapping import NameMapping
    from icefloe.table.refs import SnapshotRef
    from icefloe.table.snapshots import Snapshot, SnapshotLogEntry
    from icefloe.table.sorting import SortOrder
    from icefloe.typedef import Identifier


class TableFacts:
    """One version of a table, to look at.

    Args:
        identifier: Namespace levels and name.
        metadata: The table's metadata.
        metadata_location: The file it came from.
        io: Storage.
    """

    def __init__(self, identifier: Identifier, metadata: TableMetadata, metadata_location: str, io: FileIO) -> None:
        self._identifier = identifier
        self._version = (metadata, metadata_location)
        self.io = io

    @property
    def version(self) -> tuple[TableMetadata, str]:
        """The table's metadata and the location of its file, which belong together even while another thread moves the handle."""
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
        """The file that the metadata came from."""
        return self._version[1]

    def name(self) -> Identifier:
        """Return the table's identifier: namespace levels and name."""
        return self._identifier

    @property
    def format_version(self) -> int:
        """Version of the table format, 1 or 2."""
        return self.metadata.format_version

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties."""
        return dict(self.metadata.properties)

    @property
    def last_sequence_number(self) -> int:
        """The highest sequence number assigned so far."""
        return self.metadata.last_sequence_number

    def last_partition_id(self) -> int:
        """Return the highest partition field id assigned so far."""
        return self.metadata.last_partition_id if self.metadata.last_partition_id is not None else 999

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
        return {spec.spec_id: spec for spec in self.metadata.partition_specs}

    def sort_order(self) -> SortOrder:
        """Return the sort order of new files."""
        return self.metadata.sort_order()

    def sort_orders(self) -> dict[int, SortOrder]:
        """Return all sort orders by id."""
        return {order.order_id: order for order in self.metadata.sort_orders}

    def location_provider(self) -> LocationProvider:
        """Return the provider of locations for the table's new files."""
        return load_location_provider(self.metadata.location, self.metadata.properties)

    def location(self) -> str:
        """Return where the table lives."""
        return self.metadata.location

    def current_snapshot(self) -> Snapshot | None:
        """Return the current snapshot, None while there is none."""
        return self.metadata.current_snapshot()

    def snapshots(self) -> list[Snapshot]:
        """Return all snapshots that the table still has, in the order they were added."""
        return list(self.metadata.snapshots)

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot | None:
        """Return a snapshot, None when the table does not have it."""
        return self.metadata.snapshot_by_id(snapshot_id)

    def snapshot_by_name(self, name: str) -> Snapshot | None:
        """Return the snapshot of a branch or tag, None when there is no such name."""
        ref = self.metadata.refs.get(name)
        return self.metadata.snapshot_by_id(ref.snapshot_id) if ref is not None else None

    def snapshot_as_of_timestamp(self, timestamp_ms: int, inclusive: bool = True) -> Snapshot | None:
        """Return the snapshot that was current at a time (milliseconds since 1970-01-01 UTC), None when there was none."""
        earlier = [
            entry.snapshot_id
            for entry in self.metadata.snapshot_log
            if entry.timestamp_ms < timestamp_ms or (inclusive and entry.timestamp_ms == timestamp_ms)
        ]
        return self.metadata.snapshot_by_id(earlier[-1]) if earlier else None

    def history(self) -> list[SnapshotLogEntry]:
        """Return which snapshots were current, and since when."""
        return list(self.metadata.snapshot_log)

    def refs(self) -> dict[str, SnapshotRef]:
        """Return branches and tags by name."""
        return dict(self.metadata.refs)

    def name_mapping(self) -> NameMapping | None:
        """Return the mapping of column names to ids for files that have no ids, None when there is none."""
        return self.metadata.name_mapping()

    @property
    def inspect(self) -> InspectTable:
        """The metadata tables: snapshots, files, manifests, partitions, ... ."""
        return InspectTable(self.metadata, self.io)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TableFacts)
            and self._identifier == other._identifier
            and self.metadata_location == other.metadata_location
        )

    def __hash__(self) -> int:
        return hash((self._identifier, self.metadata_location))

    def __repr__(self) -> str:
        columns = "\n".join(f"  {field}" for field in self.schema().fields)
        snapshot = self.current_snapshot()
        return (
            f"{'.'.join(self._identifier)}(\n{columns}\n),\npartition by: {self.spec()},\nsort order: {self.sort_order()},\n"
            f"snapshot: {snapshot if snapshot is not None else 'none yet'}"
        )
