"""The visible state of a table after a history, and its files on storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe import _core
from icefloe.table.read_context import schema_json, specs_json

from tests.simulator.maintaining import ORPHANS
from tests.simulator.model import OTHER_ROWS, State, initial_rows, ordered
from tests.simulator.operations import Row
from tests.simulator.performing import IMPORTED, TAG
from tests.simulator.prepared import NAMESPACE, files_below

if TYPE_CHECKING:
    from icefloe.catalog.memory import InMemoryCatalog
    from icefloe.table import Table

    from tests.simulator.operations import History, Rows
    from tests.simulator.prepared import Prepared

COLUMNS = ("id", "part", "value")


def state_of(table: Table, catalog: InMemoryCatalog, history: History, initial: Prepared) -> State:
    """Return the visible state of a table and of the other tables of its catalog."""
    metadata = table.metadata
    rows: dict[int, Rows] = {initial.head: initial_rows(history)}
    refs = {}
    for name, ref in metadata.refs.items():
        if ref.snapshot_id not in rows:
            rows[ref.snapshot_id] = rows_of(table, ref.snapshot_id)
        refs[name] = rows[ref.snapshot_id]
    sources = {1: "id", 2: "part"}
    statistics = {file.snapshot_id: file.statistics_path.rpartition("/")[2] for file in metadata.statistics}
    return State(
        refs=refs,
        spec=next((sources[field.source_id] for field in table.spec().fields), "flat"),
        columns=frozenset(field.name for field in table.schema().fields) - set(COLUMNS),
        properties={key: value for key, value in metadata.properties.items() if key.startswith("k")},
        statistics=statistics.get(initial.head),
        tables=_other_tables(catalog, initial),
    )


def _other_tables(catalog: InMemoryCatalog, initial: Prepared) -> dict[str, Rows]:
    found = {}
    for *_, name in catalog.list_tables(NAMESPACE):
        if name == "t":
            continue
        table = catalog.load_table(f"{NAMESPACE}.{name}")
        if table.metadata_location in initial.pointers.values():
            found[name] = OTHER_ROWS
        else:
            found[name] = rows_of(table, table.current_snapshot().snapshot_id)
    return found


def rows_of(table: Table, snapshot_id: int) -> Rows:
    """Return the rows of a snapshot in the order of the model."""
    found = table.scan(selected_fields=COLUMNS, snapshot_id=snapshot_id).to_arrow()
    return ordered(map(Row, *(found.column(name).to_pylist() for name in COLUMNS)))


class Files:
    """The files of a table on storage and those that its snapshots refer to.

    Attributes:
        missing: Files that a snapshot references and that do not exist.
        orphans: Files that no snapshot references.
        stamps: Errors in the sequence numbers of snapshots and of the manifests that they added.
        tags: The tag of each snapshot that a client added.
    """

    def __init__(self, table: Table, initial: Prepared, *, is_maintained: bool = False) -> None:
        self._table = table
        self._found = files_below(initial.directory)
        self._known = {entry.metadata_file for entry in table.metadata.metadata_log}
        self._read: set[str] = set()
        # Maintenance may delete initial files that no snapshot refers to any more.
        own = (
            {path for path in initial.files if path.startswith(f"{initial.directory}/")} if not is_maintained else set()
        )
        self.missing = own - self._found
        self.stamps: list[str] = []
        self.tags: list[str] = []
        earlier = 0
        for snapshot in table.snapshots():
            if snapshot.sequence_number <= earlier:
                self.stamps.append(f"snapshot {snapshot.snapshot_id} has {snapshot.sequence_number} after {earlier}")
            earlier = snapshot.sequence_number
            if is_maintained or snapshot.snapshot_id not in initial.snapshots:
                self._read_snapshot(snapshot)
        self.missing = frozenset(self.missing | (self._known - self._found))
        unknown = self._found - self._known - (frozenset() if is_maintained else initial.files)
        self.orphans = frozenset(
            path for path in unknown if not path.endswith((".metadata.json", *ORPHANS)) and f"/{IMPORTED}/" not in path
        )

    def _read_snapshot(self, snapshot: object) -> None:
        summary = snapshot.summary.additional_properties
        if TAG in summary:
            self.tags.append(summary[TAG])
        self._known.add(snapshot.manifest_list)
        if snapshot.manifest_list not in self._found:
            return
        rows = snapshot.manifest_rows(self._table.io)
        manifests = rows.column("manifest_path").to_pylist()
        self._known.update(manifests)
        numbers = zip(
            rows.column("added_snapshot_id").to_pylist(), rows.column("sequence_number").to_pylist(), strict=True
        )
        own = {number for added, number in numbers if added == snapshot.snapshot_id}
        if own - {snapshot.sequence_number}:
            self.stamps.append(
                f"manifests of snapshot {snapshot.snapshot_id} have {own}, expected {snapshot.sequence_number}"
            )
        unread = [path in self._found and path not in self._read for path in manifests]
        if any(unread):
            self._read.update(manifests)
            live = _core.read_manifest(
                self._table.io.core,
                rows.filter(unread),
                schema=schema_json(self._table.metadata.schema()),
                specs=specs_json(self._table.metadata),
                keep="live",
            )
            self._known.update(live.column("file_path").to_pylist())
