"""The handle of a table in a REST catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from icefloe.catalog.rest.rest_scan import RestScan
from icefloe.exceptions import ValidationError
from icefloe.table import Table
from icefloe.table.row_changes import ALWAYS_TRUE
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from icefloe.catalog.rest.rest_scan import ScanServer
    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.table.commit.committing_table import TableCatalog
    from icefloe.table.inspect import InspectTable
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.typedef import Identifier, Properties


class LoadsAllSnapshots(Protocol):
    """The part of a REST catalog that loads a table with all its snapshots."""

    def load_all_snapshots(self, identifier: Identifier) -> Table:
        """Return the newest version of a table with all its snapshots."""


class RestTable(Table):
    """A table in a REST catalog.

    With `snapshot-loading-mode=refs` the server sends only the snapshots of branches and tags. The others are loaded by the first
    call that needs them: `snapshots()`, `snapshot_by_id()`, `inspect`, `refresh()` or a change.
    """

    def __init__(  # noqa: PLR0913 - the arguments of Table, and whether all snapshots are loaded
        self,
        identifier: Identifier,
        metadata: TableMetadata,
        metadata_location: str,
        io: FileIO,
        catalog: TableCatalog,
        config: dict[str, str],
        *,
        has_all_snapshots: bool,
        loader: LoadsAllSnapshots,
        scans: ScanServer,
    ) -> None:
        super().__init__(identifier, metadata, metadata_location, io, catalog, config)
        self._has_all_snapshots = has_all_snapshots
        self._loader = loader
        self._scans = scans

    def scan(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: tuple[str, ...] = ("*",),
        case_sensitive: bool = True,
        snapshot_id: int | None = None,
        options: Properties = EMPTY_DICT,
        limit: int | None = None,
    ) -> RestScan:
        """Return a scan of one snapshot; see `Table.scan`. The server plans it with `scan-planning-mode=server`."""
        plain = super().scan(row_filter, selected_fields, case_sensitive, snapshot_id, options, limit)
        return RestScan(**vars(plain), server=self._scans)

    def load_all_snapshots(self) -> None:
        """Load the snapshots that the server has not sent."""
        if not self._has_all_snapshots:
            self.refresh()

    def refresh(self) -> Table:
        """Load the newest version, with all snapshots, into this handle, and return it; see `Table.refresh`."""
        # A concurrent commit may have moved a branch past a snapshot of this handle: conflicts are found in the whole history.
        fresh = self._loader.load_all_snapshots(self.name())
        if self.metadata.table_uuid not in (None, fresh.metadata.table_uuid):
            raise ValidationError(
                f"table {self._dotted_name()}: expected uuid {self.metadata.table_uuid}, got {fresh.metadata.table_uuid}; "
                "the table was dropped and created again, load it"
            )
        self.io = fresh.io
        self.show(*fresh.version)
        self._has_all_snapshots = True
        return self

    def snapshots(self) -> list[Snapshot]:
        """Return all snapshots that have not been expired, in the order of their commits."""
        self.load_all_snapshots()
        return super().snapshots()

    def snapshot_by_id(self, snapshot_id: int | None) -> Snapshot | None:
        """Return the snapshot of an id, None if the table has no such snapshot."""
        self.load_all_snapshots()
        return super().snapshot_by_id(snapshot_id)

    def snapshot_as_of_timestamp(self, timestamp_ms: int, inclusive: bool = True) -> Snapshot | None:
        """Return the snapshot that was current at a time; see `Table.snapshot_as_of_timestamp`."""
        self.load_all_snapshots()
        return super().snapshot_as_of_timestamp(timestamp_ms, inclusive)

    @property
    def inspect(self) -> InspectTable:
        """The metadata tables: snapshots, files, manifests, partitions and others."""
        self.load_all_snapshots()
        return super().inspect
